package metric

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/credence-lab/credence/measure"
)

// A confidence written in decimals belongs to the bin that the decimals say, decided here in whole
// numbers.
func TestDecimalsFallIntoTheirBin(t *testing.T) {
	t.Parallel()
	rule := func(e Edges) edgeRule {
		r, ok := e.rule()
		if !ok {
			t.Fatalf("no rule %s", e)
		}
		return r
	}
	for _, scale := range []int{10, 100, 1000} {
		for k := range scale + 1 {
			read, err := strconv.ParseFloat(fmt.Sprintf("%d.%0*d", k/scale, len(strconv.Itoa(scale))-1, k%scale), 64)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []float64{read, float64(k) / float64(scale)} {
				for _, m := range []int{1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 50, 100} {
					left, right := min(k*m/scale, m-1), max((k*m+scale-1)/scale-1, 0)
					if got := rule(LeftClosed).bin(c, m); got != left {
						t.Errorf("%v of %d bins: bin %d, want %d", c, m, got, left)
					}
					if got := rule(RightClosed).bin(c, m); got != right {
						t.Errorf("%v of %d right-closed bins: bin %d, want %d", c, m, got, right)
					}
					if got := rule(Phantom).bin(c, m); got != k*m/scale {
						t.Errorf("%v of %d bins with one for 1: bin %d, want %d", c, m, got, k*m/scale)
					}
				}
			}
		}
	}
}

func TestEqualMassKeepsTiesTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		score []float64
		bins  int
		want  []int // items per bin, ascending
	}{
		{"no ties", []float64{.1, .2, .3, .4, .5, .6}, 3, []int{2, 2, 2}},
		{"not divisible", []float64{.1, .2, .3, .4, .5}, 3, []int{1, 2, 2}},
		{"a tie across a cut", []float64{.1, .2, .2, .2, .5, .6}, 3, []int{4, 2}},
		{"all tied", []float64{.5, .5, .5, .5}, 2, []int{4}},
		{"more bins than items", []float64{.1, .9}, 10, []int{1, 1}},
	} {
		p, err := Prepare(c.score, make([]float64, len(c.score)), measure.Confidence)
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		for _, b := range equalMass(p, c.bins)(p.counts) {
			sizes = append(sizes, int(total(p.counts[b.from:b.to])))
		}
		if fmt.Sprint(sizes) != fmt.Sprint(c.want) {
			t.Errorf("%s: bins of %v items, want %v", c.name, sizes, c.want)
		}
	}
}
