package consistency_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

func answers(texts ...string) []consistency.Sample { return consistency.Answers(texts...) }

func number(t testing.TB, v measure.Value) float64 {
	t.Helper()
	x, ok := v.Get()
	if !ok {
		t.Fatalf("%s is undefined: %s", v.Method, v.Reason())
	}
	return x
}

func near(t testing.TB, what string, got measure.Value, want, tolerance float64) {
	t.Helper()
	if x := number(t, got); math.Abs(x-want) > tolerance {
		t.Errorf("%s is %v, want %v", what, x, want)
	}
}

func warned(v measure.Value, code string) bool {
	return slices.ContainsFunc(v.Warnings, func(w measure.Warning) bool { return w.Code == code })
}

func TestEqualPointMassesAreOneAndDisjointOnesZero(t *testing.T) {
	t.Parallel()
	for _, e := range consistency.Estimators() {
		same := c3(t, consistency.CompareAnswers(answers("7", "7", "7"), answers("7", "7")), e)
		other := c3(t, consistency.CompareAnswers(answers("7", "7", "7"), answers("8", "8")), e)
		near(t, string(e)+" of equal ones", same.C3, 1, 0)
		near(t, string(e)+" of disjoint ones", other.C3, 0, 0)
		if same.State != consistency.Determined || other.State != consistency.Determined {
			t.Errorf("%s: %s and %s", e, same.State, other.State)
		}
	}
}

// Original: a a b. Pairs within: 1 of 3 agree. Perturbed: a b b b: ab pairs 3 of 6 agree, 1/2. Across: a has
// 2·1, b 1·3, of 12 pairs: 5/12. MMD² = 1/3 + 1/2 − 5/6 = 0.
// Biased: within 5/9 and 10/16, MMD² = 5/9 + 5/8 − 5/6 = 25/72.
func TestByHand(t *testing.T) {
	t.Parallel()
	c := consistency.CompareAnswers(answers("a", "a", "b"), answers("a", "b", "b", "b"))
	r := c3(t, c, consistency.UnbiasedMMD)
	near(t, "C3", r.C3, 1, 1e-15)
	near(t, "within original", r.Original, 1./3, 0)
	near(t, "within perturbed", r.Perturbed, .5, 0)
	near(t, "across", r.Cross, 5./12, 0)
	near(t, "biased C3", c3(t, c, consistency.BiasedMMD).C3, 1-25./144, 1e-15)
	near(t, "energy C3", c3(t, c, consistency.Energy).C3, 1, 1e-15)
}

// Unit vectors at 0° and 60° and at 0° and 90°. Cosines: within 1/2 and 0, across (1 + 0 + 1/2 + √3/2)/4.
// Energy, d = √(1 − k): within √½ and 1, across (0 + 1 + √½ + √(1 − √3/2))/4.
func TestCosineByHand(t *testing.T) {
	t.Parallel()
	root3 := math.Sqrt(3)
	x, y := [][]float64{{2, 0}, {.5, root3 / 2}}, [][]float64{{1, 0}, {0, 7}}
	c, err := consistency.CompareEmbeddings(x, y)
	if err != nil {
		t.Fatal(err)
	}
	cross := (1.5 + root3/2) / 4
	near(t, "C3", c3(t, c, consistency.UnbiasedMMD).C3, 1-(.5-2*cross)/2, 1e-14)
	dCross := (1 + math.Sqrt(.5) + math.Sqrt(1-root3/2)) / 4
	near(t, "energy C3", c3(t, c, consistency.Energy).C3, 1-(2*dCross-math.Sqrt(.5)-1)/2, 1e-14)
}

func TestUndeterminedIsAStateBesideTheNumber(t *testing.T) {
	t.Parallel()
	distinct := c3(t, consistency.CompareAnswers(answers("a", "b", "c"), answers("d", "e", "f")), "")
	if distinct.State != consistency.Undetermined || !warned(distinct.C3, "undetermined") || number(t, distinct.C3) != 1 {
		t.Errorf("all distinct: %s, %v", distinct.State, distinct.C3)
	}
	// They agree across, so that something is known; but the value cannot be low.
	across := c3(t, consistency.CompareAnswers(answers("a", "b"), answers("a", "b")), "")
	if across.State != consistency.Determined || !warned(across.C3, "no-agreement") || !warned(across.C3, "outside-unit") {
		t.Errorf("agreeing across only: %s, %v", across.State, across.C3)
	}
	near(t, "unclipped", across.C3, 1.5, 0)
	near(t, "clipped", across.Clipped, 1, 0)
	// Vectors that hardly agree need a floor that is said.
	c, err := consistency.CompareEmbeddings([][]float32{{1, 0, 0, .1}, {0, 1, 0, .1}}, [][]float32{{0, 0, 1, .1}, {0, 0, -1, .1}})
	if err != nil {
		t.Fatal(err)
	}
	for floor, want := range map[float64]consistency.State{0: consistency.Determined, .1: consistency.Undetermined} {
		if r, err := c.C3(consistency.Options{Floor: floor}); err != nil || r.State != want {
			t.Errorf("floor %v: %s, %v", floor, r.State, err)
		}
	}
}

func TestMissingSamplesAreLeftOutAndCounted(t *testing.T) {
	t.Parallel()
	gone := consistency.Sample{Missing: record.NoAnswer}
	r := c3(t, consistency.CompareAnswers(append(answers("a", "a"), gone), append(answers("a"), gone, gone)), "")
	if r.State != consistency.Missing || r.C3.Reason() != measure.TooFew || r.Samples != 2 || r.PerturbedSamples != 1 {
		t.Errorf("%+v", r)
	}
	if out := r.C3.LeftOut; len(out) != 1 || out[0] != (measure.Excluded{Reason: "no answer", N: 3}) {
		t.Errorf("left out: %v", out)
	}
	if r.Perturbed.Defined() || !r.Original.Defined() || !r.Cross.Defined() {
		t.Error("one perturbed answer has agreement across, none within")
	}
	if r := c3(t, consistency.CompareAnswers(nil, nil), ""); r.State != consistency.Missing || r.Cross.Defined() {
		t.Errorf("nothing: %+v", r)
	}
	c, err := consistency.CompareEmbeddings([][]float32{nil, {1}, {1}}, [][]float32{{1}, {2}})
	if err != nil || c.N() != 2 || number(t, c3(t, c, "").C3) != 1 {
		t.Errorf("a nil row: n = %d, %v", c.N(), err)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	t.Parallel()
	ok := [][]float32{{1, 0}, {0, 1}}
	for name, bad := range map[string][][]float32{
		"dimensions": {{1, 0, 0}}, "NaN": {{float32(math.NaN()), 0}}, "infinite": {{float32(math.Inf(1)), 0}},
	} {
		if _, err := consistency.CompareEmbeddings(ok, bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := consistency.CompareAnswers(nil, nil).C3(consistency.Options{Estimator: "mmd"}); err == nil {
		t.Error("unknown estimator: no error")
	}
	c := consistency.CompareAnswers(answers("a", "a"), answers("a", "b"))
	for _, r := range []consistency.Resampling{{Level: 1, N: 9}, {Level: .9}, {}} {
		if _, err := c.Bootstrap(consistency.Options{}, r); err == nil {
			t.Errorf("%+v: no error", r)
		}
	}
}

// Under equality the unbiased estimate is 0 on average and the biased one is not.
func TestExpectationUnderEquality(t *testing.T) {
	t.Parallel()
	const runs = 20_000
	random := rand.New(rand.NewPCG(11, 7))
	draw := func(n int) []consistency.Sample {
		s := make([]consistency.Sample, n)
		for i := range s {
			s[i].Answer = []string{"a", "a", "a", "b", "b", "c"}[random.IntN(6)]
		}
		return s
	}
	var unbiased, squares, biased float64
	for range runs {
		c := consistency.CompareAnswers(draw(5), draw(8))
		u := 2 * (1 - number(t, c3(t, c, "").C3))
		unbiased += u / runs
		squares += u * u / runs
		biased += 2 * (1 - number(t, c3(t, c, consistency.BiasedMMD).C3)) / runs
	}
	if limit := 4 * math.Sqrt(squares/runs); math.Abs(unbiased) > limit {
		t.Errorf("mean unbiased MMD² is %v, more than %v from 0", unbiased, limit)
	}
	// E[biased] = (1 − Σp²)(1/n + 1/m) with Σp² = 7/18.
	if want := 11. / 18 * (1./5 + 1./8); math.Abs(biased-want) > .005 {
		t.Errorf("mean biased MMD² is %v, want %v", biased, want)
	}
}

var texts = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 2, 9)

func TestIndicatorByCountsIsTheMatrix(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, y := texts.Draw(t, "x"), texts.Draw(t, "y")
		var differ consistency.Verdicts
		for _, p := range differ.Unasked(append(slices.Clone(x), y...)) {
			differ.Set(p.A, p.B, false)
		}
		counts := consistency.CompareAnswers(answers(x...), answers(y...))
		matrix := consistency.CompareJudged(answers(x...), answers(y...), &differ)
		for _, e := range consistency.Estimators() {
			a, errA := counts.C3(consistency.Options{Estimator: e})
			b, errB := matrix.C3(consistency.Options{Estimator: e})
			v, _ := a.C3.Get()
			w, ok := b.C3.Get()
			if errA != nil || errB != nil || !ok || math.Abs(v-w) > 1e-14 || a.State != b.State {
				t.Fatalf("%s: %v by counts, %v by matrix", e, v, w)
			}
		}
	})
}

func TestSwapAndOrderChangeNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, y := texts.Draw(t, "x"), texts.Draw(t, "y")
		shuffled := rapid.Permutation(x).Draw(t, "order")
		for _, e := range consistency.Estimators() {
			value := func(x, y []string) float64 {
				r, err := consistency.CompareAnswers(answers(x...), answers(y...)).C3(consistency.Options{Estimator: e})
				v, ok := r.C3.Get()
				if err != nil || !ok {
					t.Fatal(err, r.C3.Reason())
				}
				return v
			}
			if v := value(x, y); v != value(shuffled, y) || math.Abs(v-value(y, x)) > 1e-15 {
				t.Fatalf("%s depends on order", e)
			}
		}
	})
}

func TestCosineBySumsIsTheGramMatrix(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 40).Draw(t, "dimensions")
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.Float32Range(-9, 9), d, d), 2, 9)
		x, y := rows.Draw(t, "x"), rows.Draw(t, "y")
		c, err := consistency.CompareEmbeddings(x, y)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.C3(consistency.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n, m := float64(len(x)), float64(len(y))
		want := 1 - (gram(x, x, true)/(n*(n-1))+gram(y, y, true)/(m*(m-1))-2*gram(x, y, false)/(n*m))/2
		if got, _ := r.C3.Get(); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v by sums, %v by the matrix", got, want)
		}
	})
}

// gram adds up the cosines of all pairs, one by one.
func gram(x, y [][]float32, apart bool) float64 {
	sum := 0.
	for i, v := range x {
		for j, w := range y {
			if apart && i == j {
				continue
			}
			var vw, vv, ww float64
			for k := range v {
				vw += float64(v[k]) * float64(w[k])
				vv += float64(v[k]) * float64(v[k])
				ww += float64(w[k]) * float64(w[k])
			}
			if vv > 0 && ww > 0 {
				sum += vw / math.Sqrt(vv) / math.Sqrt(ww)
			}
		}
	}
	return sum
}

func TestBaselines(t *testing.T) {
	t.Parallel()
	c := consistency.CompareAnswers(answers("a", "a", "b", "b"), answers("c", "c"))
	self, err := c.Agreement("self-consistency", consistency.Original)
	if err != nil || self.Method != "self-consistency.indicator" {
		t.Fatal(self.Method, err)
	}
	near(t, "self-consistency", self, 1./3, 0) // 2 of 6 pairs, where the modal share is 1/2
	near(t, "modal share", consistency.ModalShare(answers("a", "a", "b", "b")), .5, 0)
	if _, err := c.Agreement("x", "both"); err == nil {
		t.Error("agreement of no set: no error")
	}
	if v := consistency.ModalShare(nil); v.Reason() != measure.NoItems {
		t.Error("a modal share of nothing")
	}
	for stated, want := range map[float64]record.Number{
		80: record.Known(.8), 0: record.Known(0), 101: record.Absent(record.OutOfRange), math.NaN(): record.Absent(record.OutOfRange),
	} {
		if got := consistency.SelfReport(record.Known(stated), 0, 100); got != want {
			t.Errorf("self-report of %v: %v", stated, got)
		}
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	all := []string{"Paris", "paris", "Paris, France", "Lyon", "Paris", "Lyon"}
	var v consistency.Verdicts
	if got := len(v.Unasked(all)); got != 6 {
		t.Fatalf("%d pairs of 4 texts", got)
	}
	v.Set("paris", "Paris", true)
	v.Set("Paris, France", "paris", true)
	v.Set("Paris", "Paris, France", false) // the judge contradicts itself
	for _, t := range all[:3] {
		v.Set("Lyon", t, false)
	}
	if len(v.Unasked(all)) != 0 || v.N() != 6 {
		t.Error("pairs left, or asked twice")
	}
	c := consistency.CompareJudged(answers(all[:3]...), answers("Lyon", "Paris"), &v)
	near(t, "agreement as judged", c3(t, c, "").Original, 2./3, 0)
	closed := consistency.CompareJudged(answers(all[:3]...), answers("Lyon", "Paris"), v.Closed(all))
	near(t, "agreement closed", c3(t, closed, "").Original, 1, 0)
	if closed.Kernel() != consistency.Clustered {
		t.Error("closed verdicts are another kernel")
	}
	gap := consistency.CompareJudged(answers("x", "x"), answers("x", "y"), &consistency.Verdicts{})
	if r := c3(t, gap, ""); r.State != consistency.Missing || r.C3.Reason() != consistency.NotJudged {
		t.Errorf("a gap: %+v", r)
	}
}

// 60 answers of 20 writings and three meanings: at most 60 calls where all pairs are 190.
func TestClustersTakeFewCalls(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 60 {
		all = append(all, string(rune('a'+i%20)))
	}
	meaning := func(s string) int { return int(s[0]-'a') % 3 }
	v, calls, err := consistency.Cluster(all, func(p consistency.Pair) (bool, error) {
		if p.B < p.A {
			t.Errorf("asked about %v", p)
		}
		return meaning(p.A) == meaning(p.B), nil
	})
	if err != nil || calls > 20*3 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	for _, a := range all[:20] {
		for _, b := range all[:20] {
			if same, known := v.Same(a, b); !known || same != (meaning(a) == meaning(b)) {
				t.Fatalf("%s and %s: %v, %v", a, b, same, known)
			}
		}
	}
}
