package report_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/report"
)

var update = flag.Bool("update", false, "write golden files")

// compare plants one setting: the stated score ranks with a lead of stated standard deviations, the
// token score with bare and guess.
func compare(t *testing.T, n int, stated, bare, guess float64) *protocol.Comparison {
	t.Helper()
	setting := record.Setting{Model: "qwen2.5-coder-0.5b-instruct", Dataset: "facts"}
	choice := protocol.Choice{Contexts: []string{"bare", "guess-slot"}, Aggregation: "geometric-mean", Elicitation: "confidence", Judge: "containment.ascii"}
	rng := rand.New(rand.NewPCG(1, 2))
	score := func(correct bool, lead float64) record.Number {
		x := rng.NormFloat64()
		if correct {
			x += lead
		}
		return record.Known(1 / (1 + math.Exp(-x)))
	}
	var answers []record.Answer
	var readings []record.Reading
	var judgements []record.Judgement
	for i := range n {
		correct := i%2 == 0
		id := record.AnswerID{Setting: setting, Item: fmt.Sprint(i), Origin: record.Origin{Source: record.Generated, Prompt: "confidence"}}
		answers = append(answers, record.Answer{ID: id, Text: "x"})
		readings = append(readings,
			record.Reading{Answer: id, Signal: record.VerbalisedSignal, Protocol: record.Protocol{Elicitation: "confidence"}, Value: score(correct, stated)},
			record.Reading{Answer: id, Signal: record.TokenSignal, Protocol: record.Protocol{Context: "bare", Aggregation: "geometric-mean"}, Value: score(correct, bare)},
			record.Reading{Answer: id, Signal: record.TokenSignal, Protocol: record.Protocol{Context: "guess-slot", Aggregation: "geometric-mean"}, Value: score(correct, guess)})
		verdict := record.Incorrect
		if correct {
			verdict = record.Correct
		}
		judgements = append(judgements, record.Judgement{Answer: id, Judge: choice.Judge, Verdict: verdict})
	}
	aligned, err := protocol.Align(setting, answers, readings, judgements, choice)
	if err != nil {
		t.Fatal(err)
	}
	c, err := protocol.Compare(context.Background(), aligned, protocol.Options{Seed: 1, Resamples: 1000, Level: .95})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestComparisonsReadAsTheyDid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*protocol.Comparison{
		"flip":    compare(t, 400, 1, 0, 2),
		"few":     compare(t, 12, 1, .5, 1),
		"nothing": compare(t, 0, 1, 0, 1),
		"right":   compare(t, 1, 1, 0, 1),
	} {
		var b bytes.Buffer
		if err := report.WriteSetting(&b, report.DefaultWidth, []*protocol.Comparison{c, c}); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(b.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > 80 {
				t.Errorf("%s: line %d has %d columns: %s", name, i+1, n, line)
			}
		}
		golden(t, name, b.Bytes())
	}
}

// TestARunEndsAsItDid holds all that a run prints, on a wide and on a narrow terminal.
func TestARunEndsAsItDid(t *testing.T) {
	t.Parallel()
	c := compare(t, 400, 1, 0, 2)
	for name, width := range map[string]int{"run-80": 80, "run-40": 40} {
		var b bytes.Buffer
		for _, err := range []error{
			report.WriteSetting(&b, width, []*protocol.Comparison{c, c}),
			report.WriteHeadlines(&b, width, []*protocol.Comparison{c}),
			report.WriteEnd(&b, width, report.End{
				Made: 1600, Reused: 400, Took: 83 * time.Second, Folder: "runs/mine", Tables: true,
				Next: "credence card diff runs/mine OTHER", Why: "see whether two protocols agree",
			}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for i, line := range strings.Split(b.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%s: line %d has %d columns: %s", name, i+1, n, line)
			}
		}
		golden(t, name, b.Bytes())
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update to write it", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestWordsSayWhoIsBetterOnlyWhenItIs(t *testing.T) {
	t.Parallel()
	all := strings.Join(report.Words(compare(t, 600, 1, 0, 2)), "\n")
	for _, want := range []string{"the token score is better in the guess-slot context; the stated score is better in the bare context; the verdict flips between bare and guess-slot, both sides resolved", "50 % of the answers are right", "Caution"} {
		if !strings.Contains(all, want) {
			t.Errorf("missing %q in:\n%s", want, all)
		}
	}
	if few := strings.Join(report.Words(compare(t, 12, 0, 0, 0)), "\n"); strings.Contains(few, "both sides resolved") {
		t.Errorf("12 items of noise resolve a flip:\n%s", few)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{report.Number(-.001), "0.00"},
		{report.Signed(-.004), "0.00"},
		{report.Signed(.126), "+0.13"},
		{report.Percent(.999), ">99 %"},
		{report.Percent(.001), "<1 %"},
		{report.Percent(1), "100 %"},
		{report.Estimate(measure.Undefined("auroc", measure.OneClass, 3)), "– (one class)"},
		{report.Estimate(measure.Of("x", .5, 3).With(measure.Interval{Lower: .25, Upper: .75})), "0.50 [0.25,0.75]"},
		{report.LeftOut(nil), "none"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	got := report.Wrap("one two three verylongword x", 9, "  ")
	want := []string{"one two", "  three", "  verylongword", "  x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnotherRuleIsReadWhereItDiffers(t *testing.T) {
	t.Parallel()
	flips, noise := compare(t, 600, 1, 0, 2), compare(t, 600, 0, 0, 0)
	if same := report.Differences(flips, flips); len(same) != 0 {
		t.Errorf("a comparison differs from itself: %q", same)
	}
	var b bytes.Buffer
	if err := report.WriteSetting(&b, report.DefaultWidth, []*protocol.Comparison{flips, noise}); err != nil {
		t.Fatal(err)
	}
	_, second, _ := strings.Cut(b.String(), "\ngraded by ")
	if !strings.Contains(second, "told apart beyond chance") || strings.Contains(second, "the same") {
		t.Errorf("what the second rule says is not told:\n%s", second)
	}
}
