package consistency_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/credence-lab/credence/consistency"
)

func at(degrees float64) []float32 {
	s, c := math.Sincos(degrees * math.Pi / 180)
	return []float32{float32(3 * c), float32(3 * s)}
}

func TestPoolKeepsWhatDiffers(t *testing.T) {
	t.Parallel()
	pool, err := consistency.NewPool(.5) // 60°
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		degrees float64
		kept    bool
		nearest int
	}{{0, true, -1}, {50, false, 0}, {61, true, 0}, {110, false, 1}, {-100, true, 0}, {180, true, 2}} {
		o, err := pool.Offer(at(step.degrees))
		if err != nil || o.Kept != step.kept || o.Nearest != step.nearest {
			t.Errorf("at %v°: %+v, %v", step.degrees, o, err)
		}
	}
	near(t, "acceptance", pool.Acceptance(), 4./6, 0)
	for _, bad := range [][]float32{nil, {0, 0}, {1}, {float32(math.NaN()), 1}} {
		if _, err := pool.Offer(bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	if _, err := consistency.NewPool(1.5); err == nil {
		t.Error("a cosine of 1.5: no error")
	}
}

func TestPoolIsPairwiseDiverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.Float64Range(-.5, 1).Draw(t, "k")
		pool, err := consistency.NewPool(k)
		if err != nil {
			t.Fatal(err)
		}
		var kept []float64
		for _, a := range rapid.SliceOfN(rapid.Float64Range(0, 360), 1, 20).Draw(t, "angles") {
			nearest := math.Inf(-1)
			for _, b := range kept {
				nearest = max(nearest, math.Cos((a-b)*math.Pi/180))
			}
			if math.Abs(nearest-k) < 1e-5 {
				continue // 32-bit vectors cannot tell
			}
			o, err := pool.Offer(at(a))
			if err != nil || o.Kept != (nearest < k) {
				t.Fatalf("at %v°, nearest %v: %+v, %v", a, nearest, o, err)
			}
			if o.Kept {
				kept = append(kept, a)
			}
		}
	})
}

// One premise at 0°, 60°, 90° has cosines .5, 0, √3/2; another at 0°, 180° has −1: sorted −1, 0, .5, √3/2. The
// third part of the way is 0. Pairs across premises do not count.
func TestCalibrationByHand(t *testing.T) {
	t.Parallel()
	groups := [][][]float32{{at(0), at(60), at(90)}, {at(0), at(180)}, {at(7)}}
	r := consistency.Resampling{Level: .9, N: 400, Seed: 1}
	c, err := consistency.CalibrateDiversity(groups, 1./3, 4, r)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "k", c.K, 0, 1e-6)
	// Of the four draws of two premises one is the first twice (0, 0, .5, .5, √3/2, √3/2: a third of the way is 1/3), one
	// the other twice (−1, −1), and the third premise, without a pair, is never drawn.
	if iv := c.K.Interval; iv == nil || math.Abs(iv.Lower+1) > 1e-6 || math.Abs(iv.Upper-1./3) > 1e-6 || iv.Resamples != 400 {
		t.Errorf("interval %+v", iv)
	}
	one, err := consistency.CalibrateDiversity(groups[:1], .5, 4, r)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "k of one premise", one.K, .5, 1e-6)
	if one.K.Interval != nil || len(one.K.Warnings) != 1 {
		t.Errorf("one premise: %+v", one.K)
	}
	for q, want := range map[float64]float64{0: 0, 1: math.Sqrt(3) / 2} {
		ends, err := consistency.CalibrateDiversity(groups[:1], q, 4, r)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "k at an end", ends.K, want, 1e-6)
	}
	if c.K.N != 4 || c.Histogram[0] != 1 || c.Histogram[3] < 1 || c.Histogram[1]+c.Histogram[2] < 1 {
		t.Errorf("%+v", c)
	}
	for name, bad := range map[string][][][]float32{"no pair": {{at(1)}}, "zero": {{at(1), {0, 0}}}, "dimensions": {{at(1), {1}}}} {
		if _, err := consistency.CalibrateDiversity(bad, .05, 4, r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	g := consistency.Guard{
		Question: "How many days has a leap year?", References: []string{"366", "2000"}, Choices: []string{"Three hundred", "Καλημέρα", "閏年"},
		MaxCharacters: 60, QuestionVector: at(0), K: .9,
	}
	for _, c := range []struct {
		text    string
		degrees float64
		want    consistency.Refusal
	}{
		{"Calendars differ between cultures.", 60, ""},
		{"There are 1366 of them, or 3660.", 60, ""},
		{" … ", 60, consistency.RefusedEmpty},
		{"", 60, consistency.RefusedEmpty},
		{"Calendars differ between cultures, and always have, in many ways.", 60, consistency.RefusedLong},
		{"Some say 366, some less.", 60, consistency.RefusedReference},
		{"It cost 2,000 coins.", 60, consistency.RefusedReference},
		{"About THREE  hundred people.", 60, consistency.RefusedChoice},
		{"Είπε «ΚΑΛΗΜΈΡΑ» και έφυγε.", 60, consistency.RefusedChoice},
		{"今年は閏年です", 60, consistency.RefusedChoice},
		{"Tell me: how many days has a leap year", 60, consistency.RefusedCopy},
		{"days has a leap year", 60, consistency.RefusedCopy},
		{"A leap year has some number of days.", 20, consistency.RefusedParaphrase},
	} {
		if got, err := g.Refuses(c.text, at(c.degrees)); err != nil || got != c.want {
			t.Errorf("%q: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
	if _, err := g.Refuses("Calendars differ.", nil); err == nil {
		t.Error("no vector to compare: no error")
	}
	if _, err := (consistency.Guard{}).Refuses("Calendars differ.", nil); err == nil {
		t.Error("no length: no error")
	}
}

func TestGuardRefusesQuestionsOnlyWhereStatementsAreMeant(t *testing.T) {
	t.Parallel()
	g := consistency.Guard{Question: "Who wrote it?", MaxCharacters: 100}
	for _, text := range []string{"Is it raining?", "下雨了吗？", "هل تمطر؟"} {
		for _, only := range []bool{false, true} {
			g.StatementsOnly = only
			want := map[bool]consistency.Refusal{true: consistency.RefusedQuestion}[only]
			if got, err := g.Refuses(text, nil); err != nil || got != want {
				t.Errorf("%q, statements only %v: %q, %v", text, only, got, err)
			}
		}
	}
	if !consistency.SameWords("A, b", "a B.") || consistency.SameWords("ab", "a b") || !consistency.Occurs("2,000", "in 2000 years") || consistency.Occurs("", "x") {
		t.Error("words")
	}
}
