package metric_test

import (
	"math"
	"slices"
	"testing"

	"github.com/credence-lab/credence/metric"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRanks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		values    []float64
		better    metric.Direction
		tolerance float64
		want      []float64
	}{
		{"higher", []float64{.7, .9, .8}, metric.Higher, 0, []float64{3, 1, 2}},
		{"lower", []float64{.7, .9, .8}, metric.Lower, 0, []float64{1, 3, 2}},
		{"nearer", []float64{-.7, .9, .1}, metric.Nearer, 0, []float64{2, 3, 1}},
		{"exact ties", []float64{.5, .5, .1}, metric.Higher, 0, []float64{1.5, 1.5, 3}},
		{"at the tolerance", []float64{.7, .675, .6}, metric.Higher, .025, []float64{1.5, 1.5, 3}},
		{"no chain", []float64{.70, .68, .66}, metric.Higher, .025, []float64{1.5, 1.5, 3}},
		{"infinite", []float64{math.Inf(-1), math.Inf(1), math.Inf(1)}, metric.Higher, .025, []float64{3, 1.5, 1.5}},
		{"missing", []float64{.7, math.NaN(), .8}, metric.Higher, 0, []float64{2, math.NaN(), 1}},
	} {
		got := metric.Ranks(c.values, c.better, c.tolerance)
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestRBOOfTiesIsTheMeanOverTheirOrders(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ranking := func(name string) [][]int {
			items := rapid.Permutation([]int{1, 2, 3, 4, 5}).Draw(t, name)[:rapid.IntRange(1, 5).Draw(t, name+" length")]
			var groups [][]int
			for i := 0; i < len(items); {
				size := rapid.IntRange(1, len(items)-i).Draw(t, name+" group")
				groups, i = append(groups, items[i:i+size]), i+size
			}
			return groups
		}
		s, u := ranking("s"), ranking("t")
		p := rapid.SampledFrom([]float64{.4, .9}).Draw(t, "p")
		sum, orders := 0., 0.
		eachListing(s, func(s []int) {
			eachListing(u, func(u []int) {
				v, err := metric.RBO(s, u, p)
				if err != nil {
					t.Fatal(err)
				}
				x, _ := v.Get()
				sum, orders = sum+x, orders+1
			})
		})
		v, err := metric.RBOTied(s, u, p)
		if err != nil {
			t.Fatal(err)
		}
		if x, _ := v.Get(); math.Abs(x-sum/orders) > 1e-12 {
			t.Fatalf("RBO of %v and %v = %v, mean over orders %v", s, u, x, sum/orders)
		}
	})
}

// eachListing visits every order of the items that breaks only ties.
func eachListing(groups [][]int, visit func([]int)) {
	var extend func(done []int, groups [][]int)
	extend = func(done []int, groups [][]int) {
		if len(groups) == 0 {
			visit(done)
			return
		}
		if len(groups[0]) == 0 {
			extend(done, groups[1:])
			return
		}
		for i, item := range groups[0] {
			rest := slices.Clone(groups)
			rest[0] = slices.Delete(slices.Clone(groups[0]), i, i+1)
			extend(append(slices.Clone(done), item), rest)
		}
	}
	extend(nil, groups)
}

func TestRBORefuses(t *testing.T) {
	t.Parallel()
	if _, err := metric.RBO([]int{1, 1}, []int{1}, .9); err == nil {
		t.Error("a duplicate was taken")
	}
	for _, p := range []float64{0, 1, math.NaN()} {
		if _, err := metric.RBO([]int{1}, []int{1}, p); err == nil {
			t.Errorf("persistence %v was taken", p)
		}
	}
	v, err := metric.RBO(nil, []int{1}, .9)
	if err != nil || v.Defined() {
		t.Errorf("an empty ranking: %v, %v", v, err)
	}
}

func TestRBOWeight(t *testing.T) {
	t.Parallel()
	// Webber, Moffat and Zobel 2010: the first ten ranks carry 86 % of the weight at p = .9.
	if w := metric.RBOWeight(.9, 10); math.Abs(w-.8556) > 5e-5 {
		t.Errorf("weight of ten ranks %v", w)
	}
}

func TestTopLabelRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rows   [][]float64
		labels []int
	}{
		{[][]float64{{.5, .5}}, nil},
		{[][]float64{{.5, .5}, {1}}, []int{0, 0}},
		{[][]float64{{}}, []int{0}},
		{[][]float64{{.5, .5}}, []int{2}},
		{[][]float64{{.5, math.NaN()}}, []int{0}},
		{[][]float64{{1.5, 0}}, []int{0}},
	} {
		if _, _, err := metric.TopLabel(c.rows, c.labels); err == nil {
			t.Errorf("%v with labels %v was taken", c.rows, c.labels)
		}
	}
}
