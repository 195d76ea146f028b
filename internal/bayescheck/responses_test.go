package bayescheck_test

import (
	"math"
	"testing"

	"github.com/credence-lab/credence/bayes"
)

// The item-response model on seven quantifiers and two people, against 4 × 4,000 draws of numpyro.
func TestItemResponsePosterior(t *testing.T) {
	t.Parallel()
	var f struct {
		Quantifiers []string
		People      map[string]string
		X           [][]float64
		Expect      struct {
			Beta, Omega moments
			B, W, C, M  []moments
			Confidence  map[string][]float64 `json:"confidence_median"`
		}
	}
	read(t, "responses.json", &f)
	var d bayes.ResponseData
	for _, name := range []string{"human1", "human2"} {
		d.People = append(d.People, bayes.Judge{Name: name, Human: true, Counts: counts(f.People[name])})
	}
	for k, name := range f.Quantifiers {
		// A scale and a shift of the scores must not matter.
		scores := make([]float64, len(f.X[k]))
		for i, x := range f.X[k] {
			scores[i] = float64(k+1) * (x - 3)
		}
		d.Quantifiers = append(d.Quantifiers, bayes.Quantifier{Name: name, Scores: scores})
	}
	o := bayes.Options{Seed: 4, Warmup: 400, Draws: 1000}
	if stress() {
		o.Warmup, o.Draws = 1000, 4000
	}
	p, err := bayes.FitResponses(t.Context(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	converged(t, p.Convergence)
	for _, c := range p.Convergence.Chains {
		t.Logf("%.1f leapfrogs a draw", float64(c.Leapfrogs)/float64(o.Draws))
	}
	within(t, "offset", p.Offset, f.Expect.Beta)
	within(t, "slope", p.Slope, f.Expect.Omega)
	for j := range d.People {
		within(t, d.People[j].Name+" offset", p.PeopleOffsets[j], f.Expect.B[j])
		within(t, d.People[j].Name+" slope", p.PeopleSlopes[j], f.Expect.W[j])
	}
	for k, q := range p.Quantifiers {
		within(t, q.Name+" offset", q.Offset, f.Expect.C[k])
		within(t, q.Name+" slope", q.Slope, f.Expect.M[k])
		for i, want := range f.Expect.Confidence[q.Name] {
			if got, ok := q.Confidence[i].Get(); !ok || math.Abs(got-want) > .01 {
				t.Errorf("%s: confidence of item %d is %v, want %v", q.Name, i, got, want)
			}
		}
	}
}
