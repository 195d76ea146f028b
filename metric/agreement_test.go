package metric

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/credence-lab/credence/measure"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var (
	noInterval = AgreementInterval{}
	nan        = math.NaN()
)

// coefficients are all of this package's, by id, each without an interval unless ci asks for one.
var coefficients = map[string]func(Ratings, AgreementInterval) (Agreement, error){
	"kappa.cohen":           func(r Ratings, ci AgreementInterval) (Agreement, error) { return CohenKappa(r, Unweighted, ci) },
	"kappa.cohen.linear":    func(r Ratings, ci AgreementInterval) (Agreement, error) { return CohenKappa(r, Linear, ci) },
	"kappa.cohen.quadratic": func(r Ratings, ci AgreementInterval) (Agreement, error) { return CohenKappa(r, Quadratic, ci) },
	"kappa.fleiss":          FleissKappa,
	"ac1.gwet":              GwetAC1,
	"alpha.krippendorff.nominal": func(r Ratings, ci AgreementInterval) (Agreement, error) {
		return KrippendorffAlpha(r, Nominal, ci)
	},
	"alpha.krippendorff.ordinal": func(r Ratings, ci AgreementInterval) (Agreement, error) {
		return KrippendorffAlpha(r, Ordinal, ci)
	},
	"alpha.krippendorff.interval": func(r Ratings, ci AgreementInterval) (Agreement, error) {
		return KrippendorffAlpha(r, IntervalScale, ci)
	},
	"alpha.krippendorff.ratio": func(r Ratings, ci AgreementInterval) (Agreement, error) {
		return KrippendorffAlpha(r, RatioScale, ci)
	},
}

func numeric(t testing.TB, declared []float64, ratings ...[]float64) Ratings {
	t.Helper()
	r, err := NumericRatings(ratings, declared...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func agreement(t testing.TB, id string, r Ratings, ci AgreementInterval) Agreement {
	t.Helper()
	a, err := coefficients[id](r, ci)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	if a.Coefficient.Method != id {
		t.Errorf("%s calls itself %s", id, a.Coefficient.Method)
	}
	return a
}

func near(t *testing.T, what string, v measure.Value, want, tolerance float64) {
	t.Helper()
	got, ok := v.Get()
	if !ok || math.Abs(got-want) > tolerance {
		t.Errorf("%s: got %v (%s), want %v", what, got, v.Reason(), want)
	}
}

func undefinedAs(t *testing.T, what string, v measure.Value, why measure.Reason) {
	t.Helper()
	if v.Defined() || v.Reason() != why {
		got, _ := v.Get()
		t.Errorf("%s: got %v (%q), want undefined: %q", what, got, v.Reason(), why)
	}
}

func TestAgreementMatchesReferenceLibraries(t *testing.T) {
	t.Parallel()
	type gwet struct{ Coef, Pa, Pe, Se *float64 }
	var golden struct {
		Cases []struct {
			Name  string
			Input struct {
				Ratings [][]*float64
				Labels  []float64
			}
			Expect struct {
				NPairs   *int     `json:"n_pairs"`
				Raw      *float64 `json:"percent_agreement"`
				Kappa    *float64 `json:"cohen_kappa"`
				Linear   *float64 `json:"cohen_kappa_linear"`
				Squared  *float64 `json:"cohen_kappa_quadratic"`
				Nominal  *float64 `json:"krippendorff_nominal"`
				Ordinal  *float64 `json:"krippendorff_ordinal"`
				Interval *float64 `json:"krippendorff_interval"`
				AC1      *gwet    `json:"gwet_irrCAC"`
				Fleiss   *gwet    `json:"fleiss_irrCAC"`
			}
		}
	}
	readTestdata(t, "agreement.json", &golden)
	for _, c := range golden.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			ratings := make([][]float64, len(c.Input.Ratings))
			for r, row := range c.Input.Ratings {
				for _, x := range row {
					if x == nil {
						x = &nan
					}
					ratings[r] = append(ratings[r], *x)
				}
			}
			r := numeric(t, c.Input.Labels, ratings...)
			for id, want := range map[string]*float64{
				"kappa.cohen": c.Expect.Kappa, "kappa.cohen.linear": c.Expect.Linear, "kappa.cohen.quadratic": c.Expect.Squared,
				"alpha.krippendorff.nominal": c.Expect.Nominal, "alpha.krippendorff.ordinal": c.Expect.Ordinal, "alpha.krippendorff.interval": c.Expect.Interval,
			} {
				if r.Raters() != 2 && id[0] == 'k' {
					continue
				}
				a := agreement(t, id, r, noInterval)
				if c.Expect.Raw != nil {
					near(t, "raw", a.Raw, *c.Expect.Raw, 1e-12)
				}
				if want == nil {
					undefinedAs(t, id, a.Coefficient, OneCategory)
					continue
				}
				near(t, id, a.Coefficient, *want, 1e-9)
				if c.Expect.NPairs != nil && a.Coefficient.N != *c.Expect.NPairs {
					t.Errorf("%s: n = %d, want %d", id, a.Coefficient.N, *c.Expect.NPairs)
				}
			}
			compareGwet := func(id string, coef, pa, pe, se *float64) {
				a := agreement(t, id, r, AgreementInterval{Level: .95})
				near(t, id, a.Coefficient, *coef, 1e-9)
				near(t, id+" raw", a.Raw, *pa, 1e-9)
				if *pe < 1 { // The library writes 1 - 1e-15 where one category leaves its chance term undefined.
					near(t, id+" chance", a.Chance, *pe, 1e-9)
				}
				if se != nil {
					half := *se * tQuantile975[a.Coefficient.N-1]
					iv := a.Coefficient.Interval
					if low := math.Max(-1, *coef-half); math.Abs(iv.Lower-low) > 1e-8 || iv.Method != "linearised.t" {
						t.Errorf("%s: lower end %v by %s, want %v", id, iv.Lower, iv.Method, low)
					}
					if high := math.Min(1, *coef+half); math.Abs(iv.Upper-high) > 1e-8 {
						t.Errorf("%s: upper end %v, want %v", id, iv.Upper, high)
					}
				}
			}
			if w := c.Expect.AC1; w != nil {
				compareGwet("ac1.gwet", w.Coef, w.Pa, w.Pe, w.Se)
			} else {
				undefinedAs(t, "ac1.gwet", agreement(t, "ac1.gwet", r, noInterval).Coefficient, measure.TooFew)
			}
			if w := c.Expect.Fleiss; w != nil {
				compareGwet("kappa.fleiss", w.Coef, w.Pa, w.Pe, w.Se)
			} else if v := agreement(t, "kappa.fleiss", r, noInterval).Coefficient; v.Defined() {
				t.Errorf("kappa.fleiss is defined: %+v", v)
			}
		})
	}
}

// tQuantile975 is the .975 quantile of Student's t by degrees of freedom, from tables.
var tQuantile975 = map[int]float64{
	3: 3.182446305284263, 7: 2.364624251592784, 9: 2.262157162740992, 39: 2.022690920036762, 99: 1.984216951586112,
}

func TestAgreementOfOneCategoryIsUndefinedButRawStays(t *testing.T) { // scikit-learn#9624, statsmodels#4387
	t.Parallel()
	for name, r := range map[string]Ratings{
		"two raters":                   numeric(t, nil, []float64{0, 0}, []float64{0, 0}),
		"seven raters":                 numeric(t, nil, repeat([]float64{0, 0}, 7)...),
		"declared but unused category": numeric(t, []float64{0, 1}, repeat([]float64{0, 0}, 7)...),
	} {
		for id := range coefficients {
			if r.Raters() != 2 && id[:7] == "kappa.c" || id == "ac1.gwet" {
				continue
			}
			a := agreement(t, id, r, AgreementInterval{Level: .95, Resamples: 50})
			undefinedAs(t, name+": "+id, a.Coefficient, OneCategory)
			near(t, name+": raw beside "+id, a.Raw, 1, 0)
			if data, err := json.Marshal(a.Coefficient); err != nil || !json.Valid(data) {
				t.Errorf("JSON of %s: %s, %v", id, data, err)
			}
		}
		ac1 := agreement(t, "ac1.gwet", r, noInterval).Coefficient
		near(t, name+": ac1", ac1, 1, 0)
		if len(ac1.Warnings) == 0 || ac1.Warnings[0].Code != "one-category" {
			t.Errorf("%s: AC1 of one category does not warn: %v", name, ac1.Warnings)
		}
	}
	control := numeric(t, nil, repeat([]float64{0, 1}, 3)...)
	near(t, "fleiss of two categories in full agreement", agreement(t, "kappa.fleiss", control, noInterval).Coefficient, 1, 0)
}

func repeat(row []float64, n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = row
	}
	return rows
}

func TestAlphaIsNotRepaired(t *testing.T) { // fast-krippendorff#11 and #27
	t.Parallel()
	skewed := numeric(t, nil,
		[]float64{3, 3, 3, 3, 3}, []float64{3, 3, 3, 3, 3}, []float64{3, 3, nan, nan, 3},
		[]float64{3, 3, 3, 3, 1}, []float64{3, nan, 3, 3, 3})
	for _, scale := range []string{"nominal", "ordinal", "interval"} {
		a := agreement(t, "alpha.krippendorff."+scale, skewed, noInterval)
		near(t, "skewed, "+scale, a.Coefficient, 0, 0)
		if raw, _ := a.Raw.Get(); raw < .9 {
			t.Errorf("raw agreement %v does not show the skew", raw)
		}
	}
	swapped, err := LabelRatings([][]string{{"A", "B"}, {"B", "A"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "swapped", agreement(t, "alpha.krippendorff.nominal", swapped, noInterval).Coefficient, -.5, 0)
}

func TestAlphaDropsItemsWithOneRating(t *testing.T) { // mReliability#6
	t.Parallel()
	r := numeric(t, nil,
		[]float64{1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan},
		[]float64{1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3},
		[]float64{nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan},
		[]float64{1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan})
	for scale, want := range map[string]float64{"nominal": 904. / 1216, "interval": .849107, "ratio": .797403} {
		v := agreement(t, "alpha.krippendorff."+scale, r, noInterval).Coefficient
		near(t, scale, v, want, 5e-7)
		if v.N != 11 || v.NLeftOut() != 1 {
			t.Errorf("%s: n = %d, left out %v; want 11 and 1", scale, v.N, v.LeftOut)
		}
	}
}

func TestMissingRatingIsAbsenceAndNoCategory(t *testing.T) { // nltk#2865
	t.Parallel()
	table := [][]string{{"1", "1", "2"}, {"1", "1", "None"}, {"None", "1", "2"}}
	for _, c := range []struct {
		missing []string
		want    float64
	}{{[]string{"None"}, 1}, {nil, 1. / 3}} {
		r, err := LabelRatings(table, c.missing)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "alpha", agreement(t, "alpha.krippendorff.nominal", r, noInterval).Coefficient, c.want, 1e-15)
	}
}

func TestAlphaOfIndependentRatingsIsTheSmallSampleCorrection(t *testing.T) { // heolin/agreement#2
	t.Parallel()
	var a, b []float64
	for i := range 25 {
		a, b = append(a, float64(i/5+1)), append(b, float64(i%5+1))
	}
	r := numeric(t, nil, a, b)
	for _, scale := range []string{"nominal", "ordinal", "interval"} {
		near(t, scale, agreement(t, "alpha.krippendorff."+scale, r, noInterval).Coefficient, .02, 0)
	}
	for _, weights := range []string{"", ".linear", ".quadratic"} {
		near(t, "kappa"+weights, agreement(t, "kappa.cohen"+weights, r, noInterval).Coefficient, 0, 0)
	}
}

func TestJudgeThatPassesAllHasKappaExactlyZero(t *testing.T) { // langwatch#6131
	t.Parallel()
	human := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 0}
	r := numeric(t, nil, human, repeat([]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 1)[0])
	a := agreement(t, "kappa.cohen", r, noInterval)
	near(t, "accuracy", a.Raw, .9, 0)
	near(t, "kappa", a.Coefficient, 0, 0)
	kappa, _ := a.Coefficient.Get()
	if word := Strength(kappa); word != "none" {
		t.Errorf("the word for kappa 0 is %q", word)
	}
}

func TestStrengthWordsHoldAtTheirEdges(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{
		-.01: "less than chance", 0: "none", 1e-9: "slight", .2: "slight", .21: "fair", .4: "fair", .6: "moderate",
		.8: "substantial", .81: "almost perfect", 1: "almost perfect",
	} {
		if got := Strength(x); got != want {
			t.Errorf("Strength(%v) = %q, want %q", x, got, want)
		}
	}
}

// The four-cell example of Fleiss, Cohen and Everitt (1969) needs their table; instead the error is
// held against the spread of kappa over resamples, which knows nothing of the formula.
func TestCohenIntervalAgreesWithTheBootstrap(t *testing.T) {
	t.Parallel()
	draws := rand.New(rand.NewPCG(7, 7))
	const n = 400
	a, b := make([]float64, n), make([]float64, n)
	for i := range n {
		a[i] = float64(draws.IntN(4))
		b[i] = a[i]
		if draws.Float64() < .35 {
			b[i] = float64(draws.IntN(4))
		}
	}
	for _, id := range []string{"kappa.cohen", "kappa.cohen.linear", "kappa.cohen.quadratic"} {
		iv := agreement(t, id, numeric(t, nil, a, b), AgreementInterval{Level: .95}).Coefficient.Interval
		half := (iv.Upper - iv.Lower) / 2
		var sum, square float64
		const resamples = 500
		ra, rb := make([]float64, n), make([]float64, n)
		for range resamples {
			for i := range n {
				k := draws.IntN(n)
				ra[i], rb[i] = a[k], b[k]
			}
			k, _ := agreement(t, id, numeric(t, []float64{0, 1, 2, 3}, ra, rb), noInterval).Coefficient.Get()
			sum, square = sum+k, square+k*k
		}
		mean := sum / resamples
		spread := 1.959964 * math.Sqrt(square/resamples-mean*mean)
		if math.Abs(half/spread-1) > .12 {
			t.Errorf("%s: half width %v, bootstrap says %v", id, half, spread)
		}
	}
}

func TestAlphaIntervalIsSeededAndCountsUndefinedDraws(t *testing.T) {
	t.Parallel()
	r := numeric(t, nil, []float64{1, 1, 1, 1, 1, 0}, []float64{1, 1, 1, 1, 1, 0})
	ci := AgreementInterval{Level: .9, Resamples: 500, Seed: 3}
	one := agreement(t, "alpha.krippendorff.nominal", r, ci).Coefficient
	two := agreement(t, "alpha.krippendorff.nominal", r, ci).Coefficient
	if diff := cmp.Diff(one.Interval, two.Interval); diff != "" {
		t.Errorf("the same seed gives another interval:\n%s", diff)
	}
	// A resample of six items misses the only 0 with probability (5/6)^6 = .335.
	if u := one.Interval.Undefined; u < 120 || u > 220 {
		t.Errorf("%d of 500 draws are undefined, expected about 167", u)
	}
	codes := map[string]bool{}
	for _, w := range one.Warnings {
		codes[w.Code] = true
	}
	if !codes["undefined-draws"] || !codes["degenerate-interval"] {
		t.Errorf("warnings %v", one.Warnings)
	}
}

func TestAgreementIgnoresTheOrderOfItemsAndRaters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raters, items := rapid.IntRange(2, 4).Draw(t, "raters"), rapid.IntRange(1, 12).Draw(t, "items")
		rating := rapid.SampledFrom([]float64{nan, 0, .1, .7, 3})
		table := make([][]float64, raters)
		for r := range table {
			table[r] = rapid.SliceOfN(rating, items, items).Draw(t, "ratings")
		}
		order := rapid.Permutation(indices(items)).Draw(t, "items")
		shuffled := make([][]float64, raters)
		for r, from := range rapid.Permutation(indices(raters)).Draw(t, "raters") {
			for _, i := range order {
				shuffled[r] = append(shuffled[r], table[from][i])
			}
		}
		a, err := NumericRatings(table)
		if err != nil {
			t.Fatal(err)
		}
		b, err := NumericRatings(shuffled)
		if err != nil {
			t.Fatal(err)
		}
		for id, coefficient := range coefficients {
			if raters != 2 && id[:7] == "kappa.c" {
				continue
			}
			ci := AgreementInterval{Level: .95, Resamples: 20}
			x, _ := coefficient(a, ci)
			y, _ := coefficient(b, ci)
			one, _ := json.Marshal(x)
			two, _ := json.Marshal(y)
			if string(one) != string(two) {
				t.Fatalf("%s depends on order:\n%s\n%s", id, one, two)
			}
			if x, ok := x.Coefficient.Get(); ok && (x > 1 || math.IsNaN(x)) {
				t.Fatalf("%s = %v", id, x)
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

func TestAgreementRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	if _, err := NumericRatings([][]float64{{1, 2}, {1}}); err == nil {
		t.Error("rows of unequal length pass")
	}
	if _, err := NumericRatings([][]float64{{1, math.Inf(1)}}); err == nil {
		t.Error("an infinite rating passes")
	}
	if _, err := NumericRatings([][]float64{{1, 7}}, 1, 2); err == nil {
		t.Error("an undeclared rating passes")
	}
	if _, err := LabelRatings([][]string{{"a"}}, nil, "a", "a"); err == nil {
		t.Error("a category declared twice passes")
	}
	labels, _ := LabelRatings([][]string{{"low", "high"}, {"low", "low"}}, nil)
	for _, id := range []string{"kappa.cohen.linear", "alpha.krippendorff.ordinal", "alpha.krippendorff.interval"} {
		if _, err := coefficients[id](labels, noInterval); err == nil {
			t.Errorf("%s of labels without order passes", id)
		}
	}
	ordered, _ := LabelRatings([][]string{{"low", "high"}, {"low", "low"}}, nil, "low", "mid", "high")
	if _, err := KrippendorffAlpha(ordered, Ordinal, noInterval); err != nil {
		t.Errorf("declared labels are ordinal: %v", err)
	}
	negative := numeric(t, nil, []float64{-1, 1}, []float64{1, 1})
	if _, err := KrippendorffAlpha(negative, RatioScale, noInterval); err == nil {
		t.Error("a negative rating on a ratio scale passes")
	}
	if _, err := CohenKappa(numeric(t, nil, []float64{1}), Unweighted, noInterval); err == nil {
		t.Error("Cohen's kappa of one rater passes")
	}
	if _, err := FleissKappa(negative, AgreementInterval{Level: 95}); err == nil {
		t.Error("a level of 95 passes")
	}
}

func TestAgreementOfNothingIsUndefined(t *testing.T) {
	t.Parallel()
	for _, r := range []Ratings{numeric(t, nil, nil, nil), numeric(t, nil, []float64{nan, 1}, []float64{1, nan})} {
		for id := range coefficients {
			undefinedAs(t, id, agreement(t, id, r, AgreementInterval{Level: .95, Resamples: 10}).Coefficient, measure.NoItems)
		}
	}
}

func readTestdata(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
