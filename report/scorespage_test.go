package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/report"
)

// scoresPage is a page of one score under its own name, against another.
func scoresPage(t *testing.T, name string, values []float64) report.ScoresPage {
	t.Helper()
	prepared, err := metric.Prepare(values, []float64{1, 0, 1, 0, 1, 1}, measure.Confidence)
	if err != nil {
		t.Fatal(err)
	}
	difference := measure.Of("auroc", .2, 6).With(measure.Interval{Lower: .1, Upper: .3, Level: .95})
	tie := measure.Of("ece.equal-width.10.left-closed", -.1, 6).With(measure.Interval{Lower: -.3, Upper: .1, Level: .95})
	p := .004
	return report.ScoresPage{
		Title: name, Rows: 6, Notes: []string{"a note of " + name}, Level: .95,
		Values: []report.ScoreValue{
			{Group: name, Score: name, Value: metric.AUROC().On(prepared)},
			{Group: name, Score: name, Value: metric.ECE(10, metric.LeftClosed).On(prepared).Warn("x", "careful with %s", name)},
			{Group: name, Score: name, Against: "other", Value: difference, P: &p, Holm: &p},
			{Group: name, Score: name, Against: "other", Value: tie},
		},
		Groups: []report.ScoresGroup{{Name: name, Scores: []report.ScoreForms{{Name: name, Ranks: prepared, Probability: prepared}}}},
	}
}

func writeScores(t *testing.T, p report.ScoresPage) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.WriteScoresHTML(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestScoresPageSaysWhichScoreIsBetter(t *testing.T) {
	t.Parallel()
	page := text(writeScores(t, scoresPage(t, "stated", []float64{.9, .2, .8, .4, .6, .3})))
	for _, want := range []string{
		"stated minus other is +0.20 [+0.10,+0.30] over 6 items: stated is better, beyond chance.",
		"stated minus other is -0.10 [-0.30,+0.10] over 6 items: within chance.",
		"a note of stated", "careful with stated", "0.004",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing in %s", want, page)
		}
	}
}

// Uncertainties and log-probabilities are no confidence: they have curves, but no reliability.
func TestScoresPageDrawsWhatIsNoProbability(t *testing.T) {
	t.Parallel()
	page := writeScores(t, scoresPage(t, "entropy", []float64{-9, 20, 3, 4, 5, 6}))
	if strings.Contains(page, `class="chart reliability"`) || !strings.Contains(page, `class="chart curves"`) {
		t.Error("want curves and no reliability diagram")
	}
	if !strings.Contains(text(page), "is no probability in [0,1]") {
		t.Error("the page does not say why")
	}
}

func TestScoresPageShowsTextsAsTexts(t *testing.T) {
	t.Parallel()
	page := writeScores(t, scoresPage(t, evil, []float64{.9, .2, .8, .4, .6, .3}))
	for what, most := range map[string]int{"<script": 1, "</script": 1, "<style": 1, "<img": 0, "ZgotmplZ": 0} {
		if n := strings.Count(page, what); n > most {
			t.Errorf("%q is there %d times", what, n)
		}
	}
	if strings.ContainsAny(page, "\x00\x1b\u202e\u2066") {
		t.Error("a control character came through")
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("two elements are called %q", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !ids[m[1]] {
			t.Errorf("nothing is called %q", m[1])
		}
	}
}
