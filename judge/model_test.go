package judge

import (
	"math"
	"testing"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
	"github.com/google/go-cmp/cmp"
)

func TestPTrue(t *testing.T) {
	t.Parallel()
	inf := math.Inf(-1)
	for _, test := range []struct {
		logTrue, logFalse float64
		want              record.Number
	}{
		{math.Log(.3), math.Log(.1), record.Known(.75)}, // of .4 that the model gives to a verdict
		{-700, -700, record.Known(.5)},
		{-1e6, -1e6 - 1e3, record.Known(1)}, // both underflow as probabilities
		{inf, -1, record.Known(0)},
		{-1, inf, record.Known(1)},
		{inf, inf, record.Absent(NeitherVerdict)},
		{math.NaN(), -1, record.Absent(BadLogProb)},
		{-1, .1, record.Absent(BadLogProb)},
	} {
		got := PTrue(test.logTrue, test.logFalse)
		x, ok := got.Get()
		want, known := test.want.Get()
		if ok != known || math.Abs(x-want) > 1e-15 || got.Missing() != test.want.Missing() {
			t.Errorf("%v, %v: %+v, want %+v", test.logTrue, test.logFalse, got, test.want)
		}
	}
}

func TestUniqueAsksEachOnce(t *testing.T) {
	t.Parallel()
	a := Asked{"q", []string{"x", "y"}, "z"}
	list := []Asked{
		a,
		{"q", []string{"y", "x"}, "z"}, // another prompt
		{"q", []string{"xy"}, "z"},     // not the same parts
		{"q", []string{"x", "y"}, "z"},
		{"qz", []string{"x", "y"}, ""},
	}
	once, at := Unique(list)
	if diff := cmp.Diff([]int{0, 1, 2, 0, 3}, at); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	for i, j := range at {
		if diff := cmp.Diff(list[i], once[j]); diff != "" {
			t.Errorf("%d (-want +got):\n%s", i, diff)
		}
	}
}

func TestTurned(t *testing.T) {
	t.Parallel()
	a := Asked{References: []string{"x", "y", "z"}}
	for places, want := range map[int][]string{0: {"x", "y", "z"}, 1: {"y", "z", "x"}, 5: {"z", "x", "y"}, -1: {"z", "x", "y"}} {
		if diff := cmp.Diff(want, a.Turned(places).References); diff != "" {
			t.Errorf("%d (-want +got):\n%s", places, diff)
		}
	}
	if a.References[0] != "x" {
		t.Error("turning changed the original")
	}
	if got := (Asked{}).Turned(1); got.References != nil {
		t.Errorf("nothing turned is %v", got)
	}
}

func TestPanel(t *testing.T) {
	t.Parallel()
	const c, i, n = record.Correct, record.Incorrect, record.NotJudged
	for _, test := range []struct {
		members []record.Verdict
		verdict record.Verdict
		missing record.Missing
	}{
		{[]record.Verdict{c, c, i}, c, ""},
		{[]record.Verdict{i, i, n}, i, ""}, // the third could not change it
		{[]record.Verdict{c, i, n}, n, NoMajority},
		{[]record.Verdict{c, n, n}, n, NoMajority}, // one of three is no majority
		{[]record.Verdict{c, i}, n, NoMajority},
		{[]record.Verdict{c}, c, ""},
		{nil, n, NoMembers},
	} {
		if v, why := PanelMajority(test.members); v != test.verdict || why != test.missing {
			t.Errorf("%v: %s (%s)", test.members, v, why)
		}
	}
	for _, test := range []struct {
		members []record.Number
		want    record.Number
	}{
		{[]record.Number{record.Known(.5), record.Known(1)}, record.Known(.75)},
		{[]record.Number{record.Known(1), record.Absent(BadLogProb)}, record.Absent(MemberMissing)},
		{nil, record.Absent(NoMembers)},
	} {
		if got := PanelMean(test.members); got != test.want {
			t.Errorf("%+v: %+v", test.members, got)
		}
	}
}

func TestRepeatability(t *testing.T) {
	t.Parallel()
	const c, i, n = record.Correct, record.Incorrect, record.NotJudged
	// Pairs that agree: 1 of 1, 1 of 3, 2 of 6; two answers are left out.
	got := Repeatability([][]record.Verdict{{c, c}, {c, i, n, c}, {c, c, i, i}, {c, n}, nil})
	x, ok := got.Get()
	if !ok || math.Abs(x-(1+1./3+2./6)/3) > 1e-15 || got.N != 3 {
		t.Errorf("got %v of %d", x, got.N)
	}
	if diff := cmp.Diff([]measure.Excluded{{Reason: "fewer than 2 verdicts", N: 2}}, got.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if _, ok := Repeatability(nil).Get(); ok {
		t.Error("no answers have a repeatability")
	}
}

func TestSway(t *testing.T) {
	t.Parallel()
	const c, i, n = record.Correct, record.Incorrect, record.NotJudged
	got := SwayOf([]record.Verdict{c, i, i, c, n, c}, []record.Verdict{c, c, c, i, c, n})
	x, _ := got.Changed.Get()
	if x != .75 || got.Changed.N != 4 || got.ToCorrect != 2 || got.ToIncorrect != 1 || got.Changed.LeftOut[0].N != 2 {
		t.Errorf("got %+v", got)
	}
	if _, ok := SwayOf([]record.Verdict{n}, []record.Verdict{c}).Changed.Get(); ok {
		t.Error("no pair has a sway")
	}
}

func TestParseLabel(t *testing.T) {
	t.Parallel()
	const c, i, n = record.Correct, record.Incorrect, record.NotJudged
	for field, want := range map[string]record.Verdict{
		"true": c, "True": c, " YES ": c, "1": c, "correct": c,
		"false": i, "FALSE": i, "no": i, "0": i, "Incorrect": i, "0.0": i,
		"": n, "nan": n, "None": n, "maybe": n, "2": n, "not correct": n, "truely": n,
	} {
		v, why := ParseLabel(field)
		if v != want || (v == n) == (why == record.Present) {
			t.Errorf("%q: %s (%s), want %s", field, v, why, want)
		}
	}
}

func TestSimilarity(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer     []float64
		references [][]float64
		want       record.Number
	}{
		{[]float64{3, 4}, [][]float64{{-3, -4}, {4, 3}}, record.Known(.96)},
		{[]float64{1e200, 0}, [][]float64{{1e-200, 0}}, record.Known(1)},
		{[]float64{1, 0}, [][]float64{{-2, 0}}, record.Known(-1)},
		{[]float64{1, 0}, nil, record.Absent(NoEmbedding)},
		{nil, [][]float64{{1, 0}}, record.Absent(NoEmbedding)},
		{[]float64{1, 0}, [][]float64{{1, 0}, {0, 0}}, record.Absent(BadEmbedding)},
		{[]float64{1, 0}, [][]float64{{1, 0, 0}}, record.Absent(BadEmbedding)},
		{[]float64{1, math.NaN()}, [][]float64{{1, 0}}, record.Absent(BadEmbedding)},
		{[]float64{1, math.Inf(1)}, [][]float64{{1, 0}}, record.Absent(BadEmbedding)},
	} {
		got := Similarity(test.answer, test.references)
		x, _ := got.Get()
		want, _ := test.want.Get()
		if math.Abs(x-want) > 1e-15 || got.Missing() != test.want.Missing() {
			t.Errorf("%v with %v: %+v, want %+v", test.answer, test.references, got, test.want)
		}
	}
}

// The answer's tokens are (1, 0) and (.6, .8). Against (1, 0): precision (1 + .6)/2 = .8, recall 1, F1 1.6/1.8 = .889.
// Against (0, 1) and (1, 0): precision (1 + .8)/2 = .9, recall (.8 + 1)/2 = .9, F1 .9. The best of each counts.
func TestBERTScoreOfSeveralReferencesByHand(t *testing.T) {
	t.Parallel()
	answer := [][]float64{{1, 0}, {.6, .8}}
	one, two, bad := [][]float64{{1, 0}}, [][]float64{{0, 1}, {1, 0}}, [][]float64{{0, 0}}
	for _, c := range []struct {
		references [][][]float64
		p, r, f    record.Number
	}{
		{[][][]float64{one}, record.Known(.8), record.Known(1), record.Known(1.6 / 1.8)},
		{[][][]float64{one, two}, record.Known(.9), record.Known(1), record.Known(.9)},
		{[][][]float64{bad, nil, two, one}, record.Known(.9), record.Known(1), record.Known(.9)},
		{[][][]float64{bad, nil}, record.Absent(BadEmbedding), record.Absent(BadEmbedding), record.Absent(BadEmbedding)},
		{[][][]float64{nil, bad}, record.Absent(NoEmbedding), record.Absent(NoEmbedding), record.Absent(NoEmbedding)},
		{nil, record.Absent(NoEmbedding), record.Absent(NoEmbedding), record.Absent(NoEmbedding)},
	} {
		p, r, f := BERTScores(answer, c.references)
		for k, pair := range [][2]record.Number{{p, c.p}, {r, c.r}, {f, c.f}} {
			x, known := pair[0].Get()
			want, ok := pair[1].Get()
			if known != ok || math.Abs(x-want) > 1e-15 || pair[0].Missing() != pair[1].Missing() {
				t.Errorf("%v, value %d: %+v, want %+v", c.references, k, pair[0], pair[1])
			}
		}
	}
	if p, _, _ := BERTScores(nil, [][][]float64{one}); p.Missing() != NoEmbedding {
		t.Errorf("an answer without tokens: %+v", p)
	}
}

func TestBERTScoreByHand(t *testing.T) {
	t.Parallel()
	// The answer's tokens find 1 and .6, the reference's only token finds 1.
	p, r, f := BERTScore([][]float64{{1, 0}, {.6, .8}}, [][]float64{{2, 0}})
	for i, want := range []float64{.8, 1, 1.6 / 1.8} {
		if x, ok := []record.Number{p, r, f}[i].Get(); !ok || math.Abs(x-want) > 1e-15 {
			t.Errorf("%d: got %v, want %v", i, x, want)
		}
	}
	for why, tokens := range map[record.Missing][][]float64{NoEmbedding: nil, BadEmbedding: {{0, 0}}} {
		if _, _, f := BERTScore(tokens, [][]float64{{1, 0}}); f.Missing() != why {
			t.Errorf("%v: %+v", tokens, f)
		}
	}
	if _, _, f := BERTScore([][]float64{{1, 0}}, [][]float64{{-1, 0}}); f.Missing() != BadEmbedding {
		t.Errorf("opposite tokens: %+v", f)
	}
}

func TestTies(t *testing.T) {
	t.Parallel()
	// J08: ten verdicts, three of them ties.
	win, lose, tie, adjusted := Tally{Win: 4, Lose: 3, Tie: 3, NotJudged: 2}.Rates()
	for i, want := range []float64{.4, .3, .3, .55} {
		got := []measure.Value{win, lose, tie, adjusted}[i]
		if x, ok := got.Get(); !ok || x != want || got.N != 10 || got.LeftOut[0].N != 2 {
			t.Errorf("%s: %v of %d, want %v", got.Method, x, got.N, want)
		}
	}
	if _, _, _, adjusted := (Tally{NotJudged: 3}).Rates(); adjusted.N != 0 {
		t.Errorf("without a verdict: %+v", adjusted)
	}
}
