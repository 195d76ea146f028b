package validation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/validation"
)

// Ann and Ben label four answers together, Cem two of them:
//
//	     a  b  c  d  e
//	ann  1  1  0  ?  -
//	ben  1  0  0  0  -
//	cem  1  -  0  -  -
//
// As they were given, ann and ben agree on a and c, 2 of 4. Margins: ann 2 correct, 1 incorrect, 1 unsure; ben 1 and 3: chance
// .5·.25 + .25·.75 = .3125, kappa (.5 − .3125)/(1 − .3125). With unsure as incorrect they agree on 3 of 4, margins ½ and ¼:
// chance .5·.25 + .5·.75 = .5, kappa .5. With unsure missing, on a, b, c: 2 of 3, margins ⅔ and ⅓: chance ⅔·⅓ + ⅓·⅔ = 4/9, kappa
// (6/9 − 4/9)/(5/9) = .4. With unsure as half, weights 1 − |x − y|: observed (1 + 0 + 1 + ½)/4 = .625; margins ann 1, ½, 0: ½, ¼,
// ¼; ben 1, 0: ¼, ¾: chance ½·¼ + ¼·½·(¼ + ¾) + ¼·¾ = .4375; kappa .1875/.5625 = ⅓.
func TestAgreementByHand(t *testing.T) {
	t.Parallel()
	people := []validation.Person{{Name: "ann", Labels: column("110?-")}, {Name: "ben", Labels: column("1000-")}, {Name: "cem", Labels: column("1-0--")}}
	items := strings.Split("abcde", "")
	for unsure, kappa := range map[validation.UnsureRule]float64{validation.UnsureIncorrect: .5, validation.UnsureMissing: .4, validation.UnsureHalf: 1. / 3} {
		got, err := validation.Agree(items, people, unsure, metric.AgreementInterval{Level: .95, Resamples: 100, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		pair := got.Pairs[0]
		near(t, "kappa as given", pair.Kappa, (.5-.3125)/(1-.3125), 1e-12)
		near(t, "kappa with unsure as "+string(unsure), pair.KappaCounted, kappa, 1e-12)
		near(t, "raw agreement", pair.Raw, .5, 1e-12)
		if pair.Kappa.N != 4 || pair.Kappa.Interval == nil || pair.KappaCounted.Interval == nil || got.Alpha.Interval == nil || got.AlphaCounted.Interval == nil {
			t.Errorf("n %d, or no interval: %+v, alpha %+v", pair.Kappa.N, pair, got.Alpha)
		}
		for _, p := range got.Pairs[1:] {
			if p.Kappa.N != 2 {
				t.Errorf("%s and %s have %d in common", p.A, p.B, p.Kappa.N)
			}
		}
		want := []validation.Disagreement{
			{Item: "b", Row: 1, Labels: []string{"correct", "incorrect", "none"}, Counted: true},
			{Item: "d", Row: 3, Labels: []string{"unsure", "incorrect", "none"}, Counted: unsure == validation.UnsureHalf},
		}
		if diff := cmp.Diff(want, got.Disagreements); diff != "" {
			t.Errorf("unsure as %s (-want +got):\n%s", unsure, diff)
		}
	}
	if _, err := validation.Agree(items[:2], people, validation.UnsureHalf, metric.AgreementInterval{Level: .95}); err == nil || !strings.Contains(err.Error(), "ann has 5 labels for 2 items") {
		t.Errorf("labels of other items: %v", err)
	}
}
