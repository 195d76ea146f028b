package recalibrate

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

type golden struct {
	Cases []struct {
		Name  string
		Input struct {
			X, Y   []float64
			Test   []float64 `json:"x_test"`
			Weight []float64
		}
		Expect struct {
			ThresholdsX []float64 `json:"isotonic_thresholds_x"`
			ThresholdsY []float64 `json:"isotonic_thresholds_y"`
			Isotonic    []float64 `json:"isotonic_predict"`
			Sklearn     []float64 `json:"platt_sklearn_predict"`
			Newton      []float64 `json:"platt_newton_predict"`
			NewtonAB    []float64 `json:"platt_newton_A_B"`
			SklearnAB   []float64 `json:"platt_sklearn_a_b"`
			NewtonLoss  float64   `json:"platt_newton_nll"`
			SklearnLoss float64   `json:"platt_sklearn_nll"`
			Default     logistic  `json:"logreg_C1"`
			Plain       logistic  `json:"logreg_C1e+10"`
		}
	}
}

// logistic is a fit of scikit-learn's LogisticRegression.
type logistic struct {
	Predict         []float64
	Coef, Intercept float64
	Separable       bool
}

func TestMapsMatchReferenceLibraries(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/isotonic.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	for _, c := range g.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p := Points{Scores: c.Input.X, Targets: c.Input.Y, Weights: c.Input.Weight}
			iso := mustFit(t, Isotonic{}, p)
			sameWithin(t, "isotonic", predictions(t, iso, c.Input.Test), c.Expect.Isotonic, 1e-9)
			x, y := iso.(*IsotonicMap).Thresholds()
			sameWithin(t, "isotonic threshold scores", x, c.Expect.ThresholdsX, 0)
			sameWithin(t, "isotonic threshold values", y, c.Expect.ThresholdsY, 1e-9)
			if c.Expect.Sklearn != nil {
				platt := mustFit(t, Platt{}, p)
				got := predictions(t, platt, c.Input.Test)
				sameWithin(t, "platt, scikit-learn", got, c.Expect.Sklearn, 1e-6)
				sameWithin(t, "platt, exact", got, c.Expect.Newton, 1e-9)
				a, b := platt.(*PlattMap).Parameters()
				sameWithin(t, "A and B", []float64{a, b}, c.Expect.NewtonAB, 1e-6)
				// The parameters of scikit-learn stop near 1e-6; the loss does not see that.
				sameWithin(t, "A and B, scikit-learn", []float64{a, b}, c.Expect.SklearnAB, 1e-5)
				loss := smoothedLoss(p, a, b)
				sameWithin(t, "loss", []float64{loss, loss}, []float64{c.Expect.NewtonLoss, c.Expect.SklearnLoss}, 1e-9)
			}
			if c.Expect.Default.Predict != nil {
				checkLogistic(t, "C = 1", Platt{Plain: true, Ridge: 1}, p, c.Input.Test, c.Expect.Default)
			}
			switch want := c.Expect.Plain; {
			case want.Predict == nil:
			case want.Separable: // The values of the file are where the solver happened to stop.
				if _, err := (Platt{Plain: true}).Fit(p); !errors.Is(err, ErrNoFit) {
					t.Errorf("plain Platt of separable points: %v", err)
				}
			case c.Name == "constant-x": // Without a ridge the slope is anyone's choice.
				checkLogistic(t, "C = 1e10", Platt{Plain: true, Ridge: 1e-10}, p, c.Input.Test, want)
			default:
				checkLogistic(t, "C = 1e10", Platt{Plain: true, Ridge: 1e-10}, p, c.Input.Test, want)
				checkLogistic(t, "plain", Platt{Plain: true}, p, c.Input.Test, want)
			}
		})
	}
}

// checkLogistic compares to what scikit-learn's solvers reach.
func checkLogistic(t *testing.T, what string, m Platt, p Points, at []float64, want logistic) {
	t.Helper()
	f := mustFit(t, m, p)
	sameWithin(t, what, predictions(t, f, at), want.Predict, 1e-6)
	a, b := f.(*PlattMap).Parameters()
	sameWithin(t, what+", parameters", []float64{-a, -b}, []float64{want.Coef, want.Intercept}, 1e-5)
}

// smoothedLoss is the log loss of 1/(1+exp(A·score+B)) on Platt's targets.
func smoothedLoss(p Points, a, b float64) float64 {
	list, correct := p.groups(), 0.
	for _, g := range list {
		correct += g.weight * g.mean
	}
	smooth(list, correct, float64(len(p.Scores))-correct)
	sum := 0.
	for _, g := range list {
		u := -(a*g.score + b)
		sum += g.weight * (softplus(u) - g.mean*u)
	}
	return sum
}

func mustFit(t testing.TB, m Method, p Points) Map {
	t.Helper()
	f, err := m.Fit(p)
	if err != nil {
		t.Fatalf("%s: %v", m.ID(), err)
	}
	return f
}

func predictions(t testing.TB, m Map, scores []float64) []float64 {
	t.Helper()
	list, err := Apply(m, scores)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]float64, len(list))
	for i := range list {
		p[i] = list[i].P
	}
	return p
}

func sameWithin(t testing.TB, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, tolerance), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func codes(m Map) []string {
	var list []string
	for _, w := range m.Warnings() {
		list = append(list, w.Code)
	}
	return list
}

func TestScoresOutsideTheFittedRangeAreClippedAndFlagged(t *testing.T) { // scikit-learn#23134
	t.Parallel()
	m := mustFit(t, Isotonic{}, Points{Scores: []float64{0, .1, .3, .4}, Targets: []float64{0, 0, 1, 1}})
	want := []Prediction{{1, true}, {0, true}, {1, false}, {0, false}, {.5, false}}
	got, err := Apply(m, []float64{.5, -.1, .4, 0, .2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-15)); diff != "" {
		t.Error(diff)
	}
}

// every is one of each method, in their variants.
var every = []Method{
	Isotonic{}, Platt{}, Platt{Plain: true}, Platt{Plain: true, Ridge: 1}, Platt{Ridge: 1}, Temperature{Clip: DefaultClip},
	Histogram{Bins: 10}, Histogram{Bins: 10, EqualWidth: true},
}

func TestOneClassGivesAStatedMap(t *testing.T) {
	t.Parallel()
	scores := []float64{.2, .6, .6, 1}
	for class := range 2 {
		p := Points{Scores: scores, Targets: slices.Repeat([]float64{float64(class)}, 4)}
		want := map[string]float64{"isotonic": float64(class), "platt.smoothed": (1 + 4*float64(class)) / 6,
			"histogram.equal-mass.10": float64(class), "histogram.equal-width.10": float64(class)}
		for _, m := range every {
			f, err := m.Fit(p)
			if platt, ok := m.(Platt); ok && platt.Plain {
				if !errors.Is(err, ErrNoFit) {
					t.Errorf("plain Platt of one class: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", m.ID(), err)
			}
			if x, known := want[m.ID()]; known {
				if got := f.At(.6).P; math.Abs(got-x) > 1e-12 {
					t.Errorf("%s of class %d gives %v, want %v", m.ID(), class, got, x)
				}
			}
			if !slices.Contains(codes(f), "one-class") {
				t.Errorf("%s of one class warns of %v", m.ID(), codes(f))
			}
		}
	}
}

func TestTemperatureMovesConfidencesTowardsWhatWasSeen(t *testing.T) {
	t.Parallel()
	// .9 is right 3 times of 4: the log-odds must shrink from log 9 to log 3, so T = 2.
	overconfident := Points{Scores: []float64{.9, .9, .9, .9}, Targets: []float64{1, 1, 1, 0}}
	m := mustFit(t, Temperature{Clip: DefaultClip}, overconfident).(*TemperatureMap)
	if math.Abs(m.T()-2) > 1e-12 || math.Abs(m.At(.9).P-.75) > 1e-12 || math.Abs(m.At(.1).P-.25) > 1e-12 {
		t.Errorf("T = %v, .9 becomes %v, .1 becomes %v", m.T(), m.At(.9).P, m.At(.1).P)
	}
	for name, c := range map[string]struct {
		p    Points
		t    float64
		code string
	}{
		"parted by 1/2":  {Points{Scores: []float64{.4, .6}, Targets: []float64{0, 1}}, .01, "temperature-at-limit"},
		"wrong way":      {Points{Scores: []float64{.1, .9}, Targets: []float64{1, 0}}, 100, "temperature-at-limit"},
		"all a half":     {Points{Scores: []float64{.5, .5}, Targets: []float64{1, 0}}, 1, "constant-score"},
		"certain, wrong": {Points{Scores: []float64{1, 1}, Targets: []float64{1, 0}}, 100, "clipped"},
	} {
		m := mustFit(t, Temperature{Clip: DefaultClip}, c.p).(*TemperatureMap)
		if math.Abs(m.T()-c.t) > 1e-12 || !slices.Contains(codes(m), c.code) {
			t.Errorf("%s: T = %v, warnings %v; want %v and %s", name, m.T(), codes(m), c.t, c.code)
		}
	}
}

func TestHistogramKeepsStatedConfidencesTogether(t *testing.T) {
	t.Parallel()
	p := Points{
		Scores:  []float64{.3, .3, .3, .3, .3, .6, .9, .9},
		Targets: []float64{0, 0, 0, 1, 0, 1, 1, 0},
	}
	mass := mustFit(t, Histogram{Bins: 4}, p)
	sameWithin(t, "equal mass", predictions(t, mass, []float64{.3, .5, .6, .7, .9}), []float64{.2, .2, 1, 1, .5}, 1e-15)
	// .3 belongs to [3/10,4/10), which a product with 10 gets right but a float edge 3*.1 does not.
	width := mustFit(t, Histogram{Bins: 10, EqualWidth: true}, p)
	sameWithin(t, "equal width", predictions(t, width, []float64{.3, .39, .6, .9, 1}), []float64{.2, .2, 1, .5, .5}, 1e-15)
	if empty := width.At(.45); empty.P != .375 || !empty.Extrapolated {
		t.Errorf("an empty bin gives %+v, want the overall mean .375, flagged", empty)
	}
}

func TestExtremeScores(t *testing.T) {
	t.Parallel()
	targets := []float64{0, 1, 0, 1, 1}
	for name, scores := range map[string][]float64{
		"tiny":   {1e-310, 2e-310, 3e-310, 4e-310, 5e-310},
		"huge":   {-1.7e308, -1e300, 1e300, 1e308, 1.7e308},
		"narrow": {.5, .5 + 1e-16, .5 + 2e-16, .5 + 4e-16, .5 + 5e-16},
	} {
		for _, m := range []Method{Isotonic{}, Platt{}, Platt{Plain: true}, Histogram{Bins: 2}} {
			got := predictions(t, mustFit(t, m, Points{Scores: scores, Targets: targets}), scores)
			if !slices.IsSorted(got) || got[0] == got[4] || math.IsNaN(got[2]) {
				t.Errorf("%s, %s: %v", name, m.ID(), got)
			}
		}
	}
	infinite := Points{Scores: []float64{math.Inf(-1), math.Inf(-1), -3, -1, math.Inf(1)}, Targets: []float64{0, 0, 0, 1, 1}}
	m := mustFit(t, Isotonic{}, infinite)
	sameWithin(t, "isotonic beside infinities", predictions(t, m, []float64{math.Inf(-1), -1e9, -2, 5, math.Inf(1)}), []float64{0, 0, .5, 1, 1}, 1e-15)
	if _, err := (Platt{}).Fit(infinite); err == nil {
		t.Error("Platt takes infinite scores")
	}
}

func TestScalingScoresScalesThePlattMap(t *testing.T) {
	t.Parallel()
	scores := []float64{.1, .3, .35, .6, .8, .81}
	p := Points{Scores: scores, Targets: []float64{0, 1, 0, 1, 0, 1}}
	want := predictions(t, mustFit(t, Platt{}, p), scores)
	for _, factor := range []float64{1e-200, 1e-3, 7, 1e200} {
		q := Points{Targets: p.Targets}
		for _, x := range scores {
			q.Scores = append(q.Scores, factor*x)
		}
		sameWithin(t, "scaled", predictions(t, mustFit(t, Platt{}, q), q.Scores), want, 1e-12)
	}
}

func TestRidgeHoldsTheSlope(t *testing.T) {
	t.Parallel()
	apart := Points{Scores: []float64{.2, .3, .7, .8}, Targets: []float64{0, 0, 1, 1}}
	last := math.Inf(1)
	for _, ridge := range []float64{1e-3, 1, 1e3, 1e300} {
		a, _ := mustFit(t, Platt{Plain: true, Ridge: ridge}, apart).(*PlattMap).Parameters()
		if !(-a >= 0 && -a < last) {
			t.Errorf("ridge %v: slope %v after %v", ridge, -a, last)
		}
		last = -a
	}
	// Between scores that differ by next to nothing no slope is worth its price.
	for _, scale := range []float64{1e-310, 1e-200} {
		p := Points{Targets: apart.Targets}
		for _, x := range apart.Scores {
			p.Scores = append(p.Scores, scale*x)
		}
		sameWithin(t, "next to equal", predictions(t, mustFit(t, Platt{Plain: true, Ridge: 1}, p), p.Scores), []float64{.5, .5, .5, .5}, 1e-12)
	}
}

func points(t *rapid.T) Points {
	n := rapid.IntRange(2, 25).Draw(t, "n")
	score := rapid.OneOf(rapid.SampledFrom([]float64{0, .1, .3, .5, .9, 1}), rapid.Float64Range(0, 1))
	return Points{
		Scores:  rapid.SliceOfN(score, n, n).Draw(t, "scores"),
		Targets: rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 1, .25}), n, n).Draw(t, "targets"),
	}
}

func TestMapsAreTotalAndIgnoreTheOrderOfPoints(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := points(t)
		at := append([]float64{-1, 0, 1, 2, math.Inf(-1), math.Inf(1), 1e-320}, p.Scores...)
		shuffled := Points{}
		for _, i := range rapid.Permutation(indices(len(p.Scores))).Draw(t, "order") {
			shuffled.Scores, shuffled.Targets = append(shuffled.Scores, p.Scores[i]), append(shuffled.Targets, p.Targets[i])
		}
		for _, m := range every {
			f, err := m.Fit(p)
			if platt, ok := m.(Platt); ok && platt.Plain && errors.Is(err, ErrNoFit) {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", m.ID(), err)
			}
			again, err := m.Fit(shuffled)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range at {
				got := f.At(x)
				if !(got.P >= 0 && got.P <= 1) || got != again.At(x) {
					t.Fatalf("%s at %v: %+v and %+v", m.ID(), x, got, again.At(x))
				}
			}
		}
	})
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestWeightsCountPointsSoManyTimes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := points(t)
		var expanded Points
		for i := range p.Scores {
			w := rapid.IntRange(1, 4).Draw(t, "weight")
			p.Weights = append(p.Weights, float64(w))
			expanded.Scores = append(expanded.Scores, slices.Repeat(p.Scores[i:i+1], w)...)
			expanded.Targets = append(expanded.Targets, slices.Repeat(p.Targets[i:i+1], w)...)
		}
		// Equal-mass bins count points, not weight.
		for _, m := range []Method{Isotonic{}, Platt{}, Platt{Ridge: 1}, Temperature{Clip: DefaultClip}, Histogram{Bins: 5, EqualWidth: true}} {
			a, err := m.Fit(p)
			if err != nil {
				t.Fatal(err)
			}
			b, err := m.Fit(expanded)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range p.Scores {
				if x, y := a.At(x).P, b.At(x).P; math.Abs(x-y) > 1e-9 {
					t.Fatalf("%s: %v weighted, %v expanded", m.ID(), x, y)
				}
			}
		}
	})
}

func TestIsotonicHasLeastSquaredError(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := points(t)
		m, err := Isotonic{}.Fit(p)
		if err != nil {
			t.Fatal(err)
		}
		list := p.groups()
		// A fit is the least-squares one if and only if its residuals r satisfy Σ r·f = 0 and no
		// upper set of groups has a positive sum of residuals (Barlow et al. 1972).
		var above, alongFit float64
		for i := len(list) - 1; i >= 0; i-- {
			g := list[i]
			f := m.At(g.score).P
			if i+1 < len(list) && f > m.At(list[i+1].score).P {
				t.Fatalf("the map falls at %v", g.score)
			}
			above += g.weight * (g.mean - f)
			alongFit += g.weight * (g.mean - f) * f
			if above > 1e-9 {
				t.Fatalf("raising the map from %v on would fit better", g.score)
			}
		}
		if math.Abs(alongFit) > 1e-9 || math.Abs(above) > 1e-9 {
			t.Fatalf("residuals are not balanced: %v, %v", alongFit, above)
		}
	})
}

func TestFitRefusesBadPoints(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for name, p := range map[string]Points{
		"nothing":         {},
		"unequal lengths": {Scores: []float64{1, 2}, Targets: []float64{1}},
		"missing score":   {Scores: []float64{nan}, Targets: []float64{1}},
		"missing target":  {Scores: []float64{1}, Targets: []float64{nan}},
		"target 2":        {Scores: []float64{1}, Targets: []float64{2}},
		"weight 0":        {Scores: []float64{1}, Targets: []float64{1}, Weights: []float64{0}},
	} {
		for _, m := range every {
			if _, err := m.Fit(p); err == nil {
				t.Errorf("%s fits %s", m.ID(), name)
			}
		}
	}
	for _, ridge := range []float64{-1, nan, math.Inf(1)} {
		if _, err := (Platt{Ridge: ridge}).Fit(Points{Scores: []float64{0, 1}, Targets: []float64{0, 1}}); err == nil {
			t.Errorf("a ridge of %v is taken", ridge)
		}
	}
	percent := Points{Scores: []float64{20, 80}, Targets: []float64{0, 1}}
	for _, m := range []Method{Temperature{Clip: DefaultClip}, Histogram{Bins: 10, EqualWidth: true}, Temperature{}, Histogram{}} {
		if _, err := m.Fit(percent); err == nil {
			t.Errorf("%s fits percents", m.ID())
		}
	}
	if _, err := Apply(mustFit(t, Isotonic{}, percent), []float64{nan}); err == nil {
		t.Error("a missing score is mapped")
	}
}
