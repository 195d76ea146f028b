package annotate_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/annotate"
	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/record"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func tasks(n int) []annotate.Task {
	list := make([]annotate.Task, n)
	for i := range list {
		list[i] = annotate.Task{
			Answer: record.AnswerID{
				Setting: record.Setting{Model: "m", Dataset: "d"}, Item: fmt.Sprintf("q%03d", i),
				Origin: record.Origin{Source: record.Generated, Prompt: "confidence"},
			},
			Question: "?", References: []string{"yes"}, Text: "no",
		}
	}
	return list
}

func open(t *testing.T, path string) *annotate.Log {
	t.Helper()
	l, err := annotate.OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func add(t *testing.T, l *annotate.Log, who string, task annotate.Task, label annotate.Label, note string) {
	t.Helper()
	if err := l.Add(annotate.Entry{Annotator: who, Answer: task.Answer, Label: label, Note: note, At: noon}); err != nil {
		t.Fatal(err)
	}
}

func TestOverlapIsLabelledByAllAndTheRestByOne(t *testing.T) {
	t.Parallel()
	all := tasks(101)
	d := annotate.Design{Annotators: []string{"ann", "ben", "cem"}, Overlap: 11, Seed: 1}
	count := map[string]int{}
	for _, name := range d.Annotators {
		mine := d.Tasks(all, name)
		if len(mine) != 11+30 {
			t.Errorf("%s has %d tasks, want 11 shared and 30 of 90", name, len(mine))
		}
		for _, task := range mine {
			count[task.Answer.Item]++
		}
		turned := slices.Clone(all)
		slices.Reverse(turned)
		again := d.Tasks(turned, name)
		if !slices.EqualFunc(mine, again, func(a, b annotate.Task) bool { return a.Answer == b.Answer }) {
			t.Errorf("%s sees another order when the tasks come in another", name)
		}
	}
	shared := 0
	for _, n := range count {
		if n == 3 {
			shared++
		} else if n != 1 {
			t.Errorf("an answer is labelled %d times", n)
		}
	}
	if shared != 11 || len(count) != 101 {
		t.Errorf("%d shared of %d", shared, len(count))
	}
	first, second := d.Tasks(all, "ann"), d.Tasks(all, "ben")
	if first[0].Answer == second[0].Answer && first[1].Answer == second[1].Answer {
		t.Error("two people see one order")
	}
}

func TestAPersonAloneLabelsEverything(t *testing.T) {
	t.Parallel()
	if n := len(annotate.Design{Annotators: []string{"ann"}}.Tasks(tasks(7), "ann")); n != 7 {
		t.Errorf("%d of 7 tasks", n)
	}
}

func TestBrokenDesigns(t *testing.T) {
	t.Parallel()
	for _, d := range []annotate.Design{{}, {Annotators: []string{"a", "a"}}, {Annotators: []string{"a"}, Overlap: -1}, {Annotators: []string{" a"}}, {Annotators: []string{"a\n"}}} {
		if d.Check() == nil {
			t.Errorf("%+v is accepted", d)
		}
	}
}

func TestLabelsLastAndCorrectionsKeepTheirHistory(t *testing.T) {
	t.Parallel()
	path, all := filepath.Join(t.TempDir(), "labels.jsonl"), tasks(3)
	l := open(t, path)
	add(t, l, "ann", all[0], annotate.Correct, "")
	add(t, l, "ann", all[1], annotate.Incorrect, "says | nothing\nat all")
	add(t, l, "ann", all[0], annotate.Unsure, "on second thought")
	add(t, l, "ben", all[0], annotate.Incorrect, "")
	if err := l.Undo("ann", all[1].Answer, noon); err != nil {
		t.Fatal(err)
	}
	check := func(l *annotate.Log) {
		t.Helper()
		mine := l.Current("ann")
		if len(mine) != 1 || mine[all[0].Answer].Label != annotate.Unsure || mine[all[0].Answer].Note != "on second thought" {
			t.Errorf("ann's labels %v", mine)
		}
		if ben := l.Current("ben"); ben[all[0].Answer].Label != annotate.Incorrect {
			t.Errorf("ben's labels %v", ben)
		}
		if last, ok := l.Latest("ann"); !ok || last.Answer != all[0].Answer {
			t.Errorf("latest %v %v", last, ok)
		}
	}
	check(l)
	check(open(t, path))
	// The label before a correction stands again when the correction is undone.
	if err := l.Undo("ann", all[0].Answer, noon); err != nil {
		t.Fatal(err)
	}
	if got := l.Current("ann")[all[0].Answer].Label; got != annotate.Correct {
		t.Errorf("after undo %q", got)
	}
	if err := l.Undo("ann", all[1].Answer, noon); err == nil {
		t.Error("an undo of nothing is accepted")
	}
	if data, _ := os.ReadFile(path); bytes.Count(data, []byte("\n")) != 6 {
		t.Errorf("the file does not keep every line:\n%s", data)
	}
}

// TestATornLineIsCutOff at every byte of the last line: what was confirmed before stays, and the file can be
// written on.
func TestATornLineIsCutOff(t *testing.T) {
	t.Parallel()
	path, all := filepath.Join(t.TempDir(), "labels.jsonl"), tasks(2)
	l := open(t, path)
	add(t, l, "ann", all[0], annotate.Correct, "")
	whole, _ := os.ReadFile(path)
	add(t, l, "ann", all[1], annotate.Incorrect, "é")
	both, _ := os.ReadFile(path)
	for n := len(whole); n < len(both); n++ {
		torn := filepath.Join(t.TempDir(), "labels.jsonl")
		if err := os.WriteFile(torn, both[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		l := open(t, torn)
		if got := l.Current("ann"); len(got) != 1 || (l.Mended != "") != (n > len(whole)) {
			t.Fatalf("cut at %d: %d labels, mended %q", n, len(got), l.Mended)
		}
		add(t, l, "ann", all[1], annotate.Unsure, "")
		if got := open(t, torn).Current("ann"); len(got) != 2 {
			t.Fatalf("cut at %d: %d labels after one more", n, len(got))
		}
	}
}

func TestAFileThatIsNoLogIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"hello\n":                              ":1: no label",
		"{\"schema\":2}\n":                     ":1: schema 2",
		"{\"schema\":1,\"annotator\":\"a\"}\n": "without annotator or item",
		"\n{\"schema\":1,\"annotator\":\"a\",\"item\":\"q\",\"label\":\"maybe\"}\n": `:2: unknown label "maybe"`,
	} {
		path := filepath.Join(t.TempDir(), "labels.jsonl")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := annotate.OpenLog(path)
		var e *annotate.FileError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
		if data, _ := os.ReadFile(path); string(data) != content {
			t.Errorf("%q was changed to %q", content, data)
		}
	}
}

// TestAgreementByHand: ann and ben label four answers together, cem labels two of them.
//
//	     q0 q1 q2 q3
//	ann  C  C  I  U
//	ben  C  I  I  I      agree on 2 of 4; kappa = (.5 - .3125)/(1 - .3125)
//	cem  C  –  I  –
//
// Margins: ann 2 C, 1 I, 1 U; ben 1 C, 3 I: chance .5·.25 + .25·.75 = .3125.
func TestAgreementByHand(t *testing.T) {
	t.Parallel()
	l, all := open(t, filepath.Join(t.TempDir(), "l")), tasks(5)
	for who, labels := range map[string]string{"ann": "CCIU", "ben": "CIII", "cem": "C I "} {
		for i, c := range labels {
			if label, ok := map[rune]annotate.Label{'C': annotate.Correct, 'I': annotate.Incorrect, 'U': annotate.Unsure}[c]; ok {
				add(t, l, who, all[i], label, "")
			}
		}
	}
	got, err := annotate.TableOf(l).Agree(metric.AgreementInterval{Level: .95, Resamples: 100, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range got.Pairs {
		if (p.A == "ann" && p.B == "ben") || (p.A == "ben" && p.B == "ann") {
			kappa, _ := p.Kappa.Coefficient.Get()
			if want := (.5 - .3125) / (1 - .3125); p.Both != 4 || kappa < want-1e-12 || kappa > want+1e-12 {
				t.Errorf("kappa %v over %d, want %v over 4", kappa, p.Both, want)
			}
			if len(p.Disagreements) != 2 || p.Disagreements[0].Item != "q001" || p.Disagreements[1].Item != "q003" {
				t.Errorf("disagreements %v", p.Disagreements)
			}
		} else if p.Both != 2 || len(p.Disagreements) != 0 {
			t.Errorf("%s and %s: %d together, %d disagreements", p.A, p.B, p.Both, len(p.Disagreements))
		}
	}
	if len(got.Pairs) != 3 || got.Alpha.Coefficient.N == 0 {
		t.Errorf("%d pairs, alpha %+v", len(got.Pairs), got.Alpha.Coefficient)
	}
}

func TestUnsureCountsAsTheRuleSays(t *testing.T) {
	t.Parallel()
	for rule, want := range map[annotate.UnsureRule]string{annotate.UnsureIncorrect: "0 true", annotate.UnsureMissing: "0 false", annotate.UnsureHalf: "0.5 true"} {
		if q, ok := rule.Quality(annotate.Unsure); fmt.Sprint(q, " ", ok) != want {
			t.Errorf("%s: %v %v", rule, q, ok)
		}
		if q, ok := rule.Quality(annotate.Correct); q != 1 || !ok {
			t.Errorf("%s: correct is %v %v", rule, q, ok)
		}
		if _, ok := rule.Quality(""); ok {
			t.Errorf("%s: no label has a quality", rule)
		}
	}
}

func TestExportedLabelsComeBack(t *testing.T) {
	t.Parallel()
	l, all := open(t, filepath.Join(t.TempDir(), "l")), tasks(3)
	add(t, l, "ann", all[0], annotate.Correct, "=1+1")
	add(t, l, "ben", all[1], annotate.Unsure, "line\nend, \"quoted\"")
	var out bytes.Buffer
	if err := annotate.TableOf(l).WriteCSV(&out, l); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "'=1+1") {
		t.Errorf("a note that a spreadsheet would run:\n%s", out.String())
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"l.csv":   func(b *bytes.Buffer) error { return annotate.TableOf(l).WriteCSV(b, l) },
		"l.jsonl": func(b *bytes.Buffer) error { return annotate.TableOf(l).WriteJSONL(b, l) },
	} {
		var data bytes.Buffer
		if err := write(&data); err != nil {
			t.Fatal(err)
		}
		r, err := table.New(&data, name, table.Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		back, err := annotate.Import(r, all, "", noon)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range back {
			got = append(got, fmt.Sprint(e.Annotator, " ", e.Answer.Item, " ", e.Label))
		}
		if diff := cmp.Diff([]string{"ann q000 correct", "ben q001 unsure"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestImportNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	two := append(tasks(1), tasks(1)...)
	two[1].Answer.Setting.Model = "other"
	for content, want := range map[string]string{
		"item,verdict\nq000,correct\n":               "label",
		"item,label\nq000,maybe\n":                   `l.csv:2:6: unknown label "maybe"`,
		"item,label\nq999,correct\n":                 `no answer to item "q999"`,
		"item,label\nq000,correct\n":                 "2 answers to item",
		"item,label,model\nq000,correct,nobody\n":    "no answer to item",
		"item,label,annotator\nq000,correct,\" \"\n": "cannot name an annotator",
	} {
		r, err := table.New(strings.NewReader(content), "l.csv", table.Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		who := "ann"
		if strings.Contains(content, "annotator") {
			who = ""
		}
		if _, err := annotate.Import(r, two, who, noon); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
	r, err := table.New(strings.NewReader("item,label,model\nq000,Correct,other\nq000,,m\n"), "l.csv", table.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := annotate.Import(r, two, "ann", noon)
	if err != nil || len(got) != 1 || got[0].Answer.Setting.Model != "other" || got[0].Annotator != "ann" {
		t.Errorf("%+v, %v", got, err)
	}
}
