package consistency_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/measure"
)

// golden is a case of testdata/mmd.json: numpy's closed form, cosines by scikit-learn.
type golden struct {
	Name, Kind string
	Input      struct{ X, Y json.RawMessage }
	Expect     struct {
		Original  *float64 `json:"within_x"`
		Perturbed *float64 `json:"within_y"`
		Cross     *float64 `json:"cross"`
		Unbiased  *float64 `json:"mmd2_unbiased"`
		Biased    *float64 `json:"mmd2_biased"`
		C3        *float64 `json:"c3"`
		Clipped   *float64 `json:"c3_clipped01"`
		Reason    string
	}
}

func goldenCases(t *testing.T) []golden {
	t.Helper()
	data, err := os.ReadFile("testdata/mmd.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []golden }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 20 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	return file.Cases
}

func parse[T any](t *testing.T, raw json.RawMessage) []T {
	t.Helper()
	var out []T
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (g golden) comparison(t *testing.T) *consistency.Comparison {
	t.Helper()
	if g.Kind == "indicator" {
		return consistency.CompareAnswers(
			consistency.Answers(parse[string](t, g.Input.X)...), consistency.Answers(parse[string](t, g.Input.Y)...))
	}
	c, err := consistency.CompareEmbeddings(parse[[]float64](t, g.Input.X), parse[[]float64](t, g.Input.Y))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, g := range goldenCases(t) {
		t.Run(g.Kind+" "+g.Name, func(t *testing.T) {
			c := g.comparison(t)
			r := c3(t, c, consistency.UnbiasedMMD)
			if g.Expect.C3 == nil {
				if r.State != consistency.Missing || r.C3.Reason() != measure.TooFew || r.Clipped.Defined() {
					t.Fatalf("%v %v; want missing, too few", r.State, r.C3.Reason())
				}
				return
			}
			const tolerance = 2e-15
			biased := c3(t, c, consistency.BiasedMMD)
			cross := c3(t, c, consistency.CrossComparison)
			for _, v := range []struct {
				name string
				got  measure.Value
				want float64
			}{
				{"within original", r.Original, *g.Expect.Original},
				{"within perturbed", r.Perturbed, *g.Expect.Perturbed},
				{"cross", r.Cross, *g.Expect.Cross},
				{"C3", r.C3, *g.Expect.C3},
				{"C3 clipped", r.Clipped, *g.Expect.Clipped},
				{"C3 from unbiased MMD²", r.C3, 1 - *g.Expect.Unbiased/2},
				{"C3 from biased MMD²", biased.C3, 1 - *g.Expect.Biased/2},
				{"cross comparison", cross.C3, *g.Expect.Cross},
			} {
				if x, ok := v.got.Get(); !ok || math.Abs(x-v.want) > tolerance {
					t.Errorf("%s is %v, want %v", v.name, x, v.want)
				}
			}
		})
	}
}

func c3(t testing.TB, c *consistency.Comparison, e consistency.Estimator) consistency.Result {
	t.Helper()
	r, err := c.C3(consistency.Options{Estimator: e})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
