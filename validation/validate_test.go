package validation_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/validation"
)

// small is a table of one quantifier that goes down from item to item.
func small(people []string, judges ...string) *validation.Table {
	t := &validation.Table{Quantifiers: []validation.Quantifier{{Name: "q", Orientation: measure.Confidence}}}
	for i := range people[0] {
		t.Items = append(t.Items, string(rune('a'+i)))
		t.Quantifiers[0].Scores = append(t.Quantifiers[0].Scores, -float64(i))
	}
	for k, labels := range people {
		t.People = append(t.People, validation.Person{Name: "p" + string(rune('1'+k)), Labels: column(labels)})
	}
	for k, labels := range judges {
		t.Judges = append(t.Judges, validation.Judge{Name: "j" + string(rune('1'+k)), Labels: column(labels)})
	}
	return t
}

// Three people, items a to f: all say correct; two of three; two of three incorrect; one each way and one
// silent; nobody; unsure and correct.
func TestReferences(t *testing.T) {
	t.Parallel()
	table := small([]string{"1101-?", "1100-1", "100---"}, "111111")
	for _, c := range []struct {
		reference           string
		unsure              validation.UnsureRule
		labelled, positives float64
	}{
		{"", validation.UnsureIncorrect, 5, 3},
		{"p2", validation.UnsureIncorrect, 5, 3},
		{"p3", validation.UnsureIncorrect, 3, 1},
		// d is split. f is split where unsure is incorrect, else correct.
		{validation.MajorityReference, validation.UnsureIncorrect, 3, 2},
		{validation.MajorityReference, validation.UnsureMissing, 4, 3},
		{validation.MajorityReference, validation.UnsureHalf, 4, 3},
	} {
		o := plain()
		o.Reference, o.Unsure = c.reference, c.unsure
		r := validated(t, table, o)
		if float64(r.Labelled) != c.labelled || r.Positives != c.positives {
			t.Errorf("%q, unsure as %s: %d labelled, %v correct, want %v and %v", c.reference, c.unsure, r.Labelled, r.Positives, c.labelled, c.positives)
		}
	}
}

// The model of people alone has a label of every item that somebody labelled, and none of e.
func TestPosteriorReference(t *testing.T) {
	t.Parallel()
	o := plain()
	o.Draws, o.Reference = 100, validation.PosteriorReference
	r := validated(t, small([]string{"1100-1100", "1100-1100", "1100-1000"}, "111111111"), o)
	if r.Labelled != 8 || r.Positives != 4 || r.Reference != validation.PosteriorReference {
		t.Errorf("%d labelled, %v correct by %s", r.Labelled, r.Positives, r.Reference)
	}
}

// A judge that turns the ranking around is not recommended, and neither is one that agrees on too little.
func TestNoJudgeIsGoodEnough(t *testing.T) {
	t.Parallel()
	r := validated(t, small([]string{"11110000"}, "11100001", "00001111", "11111111"), plain())
	rec := r.Recommendation
	if rec.Judge != "" || rec.Nearest != "j1" || len(rec.Candidates) != 2 || rec.Scope == "" {
		t.Fatalf("%+v", rec)
	}
	if fails := strings.Join(rec.Candidates[1].Fails, "; "); !strings.Contains(fails, "F1 is not above .7") || !strings.Contains(fails, "moves the AUROC of q by 1.000") {
		t.Errorf("j2 fails for %q", fails)
	}
	none := validated(t, small([]string{"1111"}, "1100"), plain())
	if none.Recommendation.Judge != "" || len(none.Recommendation.Candidates) != 0 {
		t.Errorf("people accept all, and yet: %+v", none.Recommendation)
	}
	if none.Places != nil || none.Effects[0].Reason != measure.OneClass {
		t.Errorf("places %v, effect %+v", none.Places, none.Effects[0])
	}
}

// Six of ten items are labelled. Two runs of all six are the data themselves: mean AUROC as in the data, no
// deviation, and values within .3 of each other tied.
func TestSubsamplesOfEverything(t *testing.T) {
	t.Parallel()
	table := small([]string{"110100----"}, "1101001111")
	table.Quantifiers = append(table.Quantifiers, validation.Quantifier{Name: "r", Orientation: measure.Uncertainty, Scores: []float64{0, 1, 3, 2, 4, 5, 0, 0, 0, 0}})
	o := plain()
	o.Subsampling = validation.Subsampling{Runs: 2, Size: 20, Tolerance: .3}
	r := validated(t, table, o)
	for k, row := range r.Subsamples {
		for q, c := range row.Cells {
			near(t, "mean", c.Mean, number(r.Matrices[0].People.Cells[q].Value), 1e-12)
			near(t, "deviation", c.SD, 0, 1e-12)
			near(t, "rank", c.Rank, 1.5, 0)
		}
		near(t, "F1 of row "+string(rune('0'+k)), row.F1, 1, 0)
	}
	// One run of one class leaves nothing to average, and says so.
	o.Subsampling = validation.Subsampling{Runs: 3, Size: 2, Tolerance: 0}
	all := validated(t, small([]string{"1111"}, "1010"), o).Subsamples[0].Cells[0]
	if all.Mean.Defined() || all.Mean.NLeftOut() != 3 || all.Rank.Defined() {
		t.Errorf("mean %v, left out %v, rank %v", all.Mean, all.Mean.LeftOut, all.Rank)
	}
}

// TestWhatCannotBeFittedIsSaid, and does not sink the rest: a quantifier without spread, one whose scored items nobody labelled,
// and one that has both.
func TestWhatCannotBeFittedIsSaid(t *testing.T) {
	t.Parallel()
	table := small([]string{"110100--"}, "11010011")
	nan := math.NaN()
	table.Quantifiers = append(table.Quantifiers,
		validation.Quantifier{Name: "flat", Orientation: measure.Confidence, Scores: []float64{2, 2, 2, 2, 2, 2, 2, nan}},
		validation.Quantifier{Name: "elsewhere", Orientation: measure.Confidence, Scores: []float64{nan, nan, nan, nan, nan, math.Inf(1), 1, 2}},
	)
	o := plain()
	o.Draws = 100
	var last [2]int
	o.Progress = func(part string, done, total int) {
		if part == "draws of the models" {
			if done < last[0] || done > total {
				t.Errorf("progress went from %v to %d of %d", last, done, total)
			}
			last = [2]int{done, total}
		}
	}
	r := validated(t, table, o)
	if last[0] != last[1] || last[1] == 0 {
		t.Errorf("progress ended at %v", last)
	}
	for q, want := range []string{"", "its scores do not vary", "no item has a score and a label"} {
		got := r.Confidences.Quantifiers[q]
		if defined := got.Items[0].Defined(); defined != (want == "") || !strings.HasPrefix(string(got.Unfitted), want) || len(got.Items) != 8 {
			t.Errorf("%s: unfitted %q, first confidence %v", got.Quantifier, got.Unfitted, got.Items[0])
		}
	}
	if brier := r.Matrices[len(r.Matrices)-1]; brier.Metric != metric.Brier().ID || brier.People.Complete() {
		t.Errorf("%s of quantifiers without confidences: %+v", brier.Metric, brier.People)
	}
	table.Quantifiers, o.Progress = table.Quantifiers[1:], nil
	if r := validated(t, table, o); r.Confidences.Convergence != nil || r.Confidences.Quantifiers[0].Unfitted == "" {
		t.Errorf("nothing to fit: %+v", r.Confidences)
	}
}

// Agreement: nine passes and a fail against a person who passes all carry no information, kappa exactly 0.
// Of three people who differ in nothing but an unsure label: it is a label of its own, or counts as the
// others say, or half.
func TestAgreementOfPeople(t *testing.T) {
	t.Parallel()
	r := validated(t, small([]string{"1111111110", "1111111111"}), plain())
	near(t, "kappa", r.Agreement.Pairs[0].Kappa, 0, 0)
	near(t, "raw", r.Agreement.Pairs[0].Raw, .9, 1e-12)
	if got := r.Agreement.Disagreements; len(got) != 1 || got[0].Item != "j" {
		t.Errorf("they differ on %v", got)
	}
	three := small([]string{"1100?1", "110001", "1-0001"})
	if got := validated(t, three, plain()); len(got.Agreement.Pairs) != 3 || got.Agreement.AlphaCounted == nil || number(*got.Agreement.AlphaCounted) != 1 || !(number(*got.Agreement.Alpha) < 1) {
		t.Errorf("unsure as incorrect: %+v", got.Agreement)
	}
	o := plain()
	o.Unsure = validation.UnsureHalf
	got := validated(t, three, o)
	if k := number(got.Agreement.Pairs[0].KappaCounted); !(k < 1) || len(got.Agreement.Disagreements) != 1 {
		t.Errorf("unsure as half: kappa %v, disagreements %v", k, got.Agreement.Disagreements)
	}
	one := validated(t, small([]string{"10"}), plain())
	if one.Agreement.Alpha != nil || one.Side != nil {
		t.Errorf("one person agrees with nobody: %+v", one.Agreement)
	}
}

// The same table and options give the same bytes, intervals and subsamples included; another seed does not.
func TestSameSeedSameResult(t *testing.T) {
	t.Parallel()
	table := small([]string{"1101001011", "1101001010"}, "1001011011", "1101000000")
	bytes := func(seed uint64) string {
		o := validation.Defaults()
		o.Resamples, o.Draws, o.Seed = 50, 0, seed
		o.Subsampling.Size = 5
		data, err := json.Marshal(validated(t, table, o))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	first := bytes(1)
	if diff := cmp.Diff(first, bytes(1)); diff != "" {
		t.Error(diff)
	}
	if first == bytes(2) {
		t.Error("the seed does not matter")
	}
}

// Intervals of differences are paired: a judge that says what people say differs by 0 in every resample.
func TestDifferencesArePaired(t *testing.T) {
	t.Parallel()
	o := plain()
	o.Resamples = 100
	r := validated(t, small([]string{"1101001011"}, "1101001011"), o)
	c := r.Matrices[0].Judges[0].Cells[0]
	if iv := c.Difference.Interval; iv == nil || iv.Lower != 0 || iv.Upper != 0 {
		t.Errorf("the difference is %v with %+v", c.Difference, iv)
	}
	if iv := c.Value.Interval; iv == nil || !(iv.Lower < iv.Upper) {
		t.Errorf("the value has %+v", iv)
	}
}

func TestWhatCannotBeValidated(t *testing.T) {
	t.Parallel()
	ok := func() *validation.Table { return small([]string{"10"}, "10") }
	for name, change := range map[string]func(*validation.Table, *validation.Options){
		"no labels of people":    func(t *validation.Table, _ *validation.Options) { t.People = nil },
		"no items":               func(t *validation.Table, _ *validation.Options) { t.Items = nil },
		"no quantifier":          func(t *validation.Table, _ *validation.Options) { t.Quantifiers = nil },
		"has no direction":       func(t *validation.Table, _ *validation.Options) { t.Quantifiers[0].Orientation = 0 },
		"has 3 entries":          func(t *validation.Table, _ *validation.Options) { t.Judges[0].Labels = column("101") },
		"is unsure of an item":   func(t *validation.Table, _ *validation.Options) { t.Judges[0].Labels = column("1?") },
		"two columns are the":    func(t *validation.Table, _ *validation.Options) { t.Judges = append(t.Judges, t.Judges[0]) },
		"is no person":           func(_ *validation.Table, o *validation.Options) { o.Reference = "someone" },
		"needs draws":            func(_ *validation.Table, o *validation.Options) { o.Reference = validation.PosteriorReference },
		"incorrect, missing or":  func(_ *validation.Table, o *validation.Options) { o.Unsure = "" },
		"is not between 0 and 1": func(_ *validation.Table, o *validation.Options) { o.Level = math.NaN() },
		"subsamples of 1 items":  func(_ *validation.Table, o *validation.Options) { o.Subsampling.Size = 1 },
		"threshold 2 is not in":  func(_ *validation.Table, o *validation.Options) { o.Threshold = 2 },
		"p1 has no label that counts on any of 2 items, with unsure as missing": func(t *validation.Table, o *validation.Options) {
			o.Unsure, t.People[0].Labels = validation.UnsureMissing, column("?-")
		},
		`a person is called "majority"`: func(t *validation.Table, _ *validation.Options) { t.People[0].Name = "majority" },
		"and a fit needs 4 or more":     func(_ *validation.Table, o *validation.Options) { o.Draws = 2 },
	} {
		table, o := ok(), plain()
		change(table, &o)
		if _, err := validation.Validate(t.Context(), table, o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error with %q, got %v", name, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := validation.Validate(ctx, ok(), plain()); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
