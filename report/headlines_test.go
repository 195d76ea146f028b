package report_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/report"
)

func says(cs ...*protocol.Comparison) []string {
	var list []string
	for _, h := range report.Headlines(cs) {
		list = append(list, h.Says)
	}
	return list
}

func TestHeadlinesSayWhoWinsWhereItTurnsAndWhyToDoubt(t *testing.T) {
	t.Parallel()
	flip := says(compare(t, 400, 1, 0, 2))
	for i, want := range []string{
		"It depends on the context: the stated score in bare, the token score in guess-slot. Furthest apart: AUROC 0.75 stated, 0.54 token in bare (.5 is a coin toss, 1 perfect); gap +0.20 [+0.13,+0.28].",
		"Yes, the verdict turns: by AUROC the stated score is better in bare (gap +0.20 [+0.13,+0.28]), the token score in guess-slot (-0.19 [-0.25,-0.14]), both beyond chance.",
		"On 400 items a gap may be off by ±0.07; the rule containment.ascii said what is right, and no person checked it; it is one model on one set of questions.",
	} {
		if !strings.HasPrefix(flip[i], want) {
			t.Errorf("%d: %s\nwant %s", i, flip[i], want)
		}
	}
	few := says(compare(t, 12, 1, .5, 1))
	if !strings.HasPrefix(few[0], "Neither, beyond chance: AUROC 0.81 stated, 0.92 token in bare (.5 is a coin toss, 1 perfect); gap -0.11") {
		t.Errorf("few items: %s", few[0])
	}
	if strings.HasPrefix(few[1], "Yes") || !strings.Contains(few[2], "±0.43") {
		t.Errorf("few items: %q", few[1:])
	}
	one := says(compare(t, 1, 1, 0, 1))
	if !strings.Contains(one[0], "all 1 answers are right") {
		t.Errorf("one class: %s", one[0])
	}
	if none := report.Headlines([]*protocol.Comparison{compare(t, 0, 1, 0, 1)}); none != nil {
		t.Errorf("of nothing: %v", none)
	}
}

// Each weakness is named, the most serious first.
func TestLimitsAreNamed(t *testing.T) {
	t.Parallel()
	c := *compare(t, 400, 1, 0, 2)
	c.ParseRate = measure.Of("parse-rate", .7, 571)
	c.Asked, c.LeftOut = 571, []measure.Excluded{{Reason: string(record.NoAnswer), N: 171}}
	c.Verbalised.Distinct = 3
	text := says(&c)[2]
	at := -1
	for _, want := range []string{"only 70 % of the replies", "171 of 571 items are left out", "±0.07", "3 different probabilities", "no person checked"} {
		i := strings.Index(strings.ToLower(text), strings.ToLower(want))
		if i <= at {
			t.Errorf("%q is missing or out of order in %s", want, text)
		}
		at = i
	}
}

func TestHeadlinesOfManySettingsCountThem(t *testing.T) {
	t.Parallel()
	list := says(compare(t, 400, 1, 0, 2), compare(t, 12, 1, .5, 1), compare(t, 0, 1, 0, 1))
	for i, want := range []string{
		"the stated score, beyond chance, in 1 of 2 settings; the token score in 0; neither in 1. They are furthest apart on qwen2.5-coder-0.5b-instruct/facts",
		"by AUROC in 1 beyond chance",
		"each setting is one model",
	} {
		if !strings.Contains(list[i], want) {
			t.Errorf("%s\nlacks %s", list[i], want)
		}
	}
}

func TestHeadlinesFitTheirWidth(t *testing.T) {
	t.Parallel()
	for _, width := range []int{30, 40, 80} {
		var b bytes.Buffer
		if err := report.WriteHeadlines(&b, width, []*protocol.Comparison{compare(t, 400, 1, 0, 2)}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("%d columns in %d: %s", n, width, line)
			}
		}
	}
}
