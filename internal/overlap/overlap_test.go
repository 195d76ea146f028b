package overlap

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// slowLCS fills the whole table.
func slowLCS(a, b []int32) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

// slowCommon takes each shared number out of the other side.
func slowCommon[T comparable](a, b []T) int {
	rest, common := slices.Clone(b), 0
	for _, x := range a {
		if i := slices.Index(rest, x); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
			common++
		}
	}
	return common
}

// sequence draws up to 200 numbers of few kinds or of many, so that both ways of LCS and both of
// numbering are taken.
func sequence(t *rapid.T, label string) []int32 {
	kinds := rapid.SampledFrom([]int32{1, 3, 300}).Draw(t, "kinds")
	return rapid.SliceOfN(rapid.Int32Range(0, kinds-1), 0, 200).Draw(t, label)
}

func TestCounterAgreesWithSlowForms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c Counter
		for range 2 { // The second time with memory left from the first.
			a, b := sequence(t, "a"), sequence(t, "b")
			if got, want := c.LCS(a, b), slowLCS(a, b); got != want {
				t.Fatalf("LCS is %d, want %d", got, want)
			}
			if got, want := c.Common(a, b), slowCommon(a, b); got != want {
				t.Fatalf("%d in common, want %d", got, want)
			}
			n := rapid.IntRange(1, 5).Draw(t, "n")
			if got, want := c.NGram(a, b, n), slowNGram(a, b, n); got != want {
				t.Fatalf("runs of %d: %v, want %v", n, got, want)
			}
			lists := [][]int32{b, sequence(t, "c"), nil}
			if got, want := c.Clipped(a, lists), slowClipped(a, lists); got != want {
				t.Fatalf("%d found, want %d", got, want)
			}
			if got, want := c.Jaccard(a, b), slowJaccard(a, b); got != want {
				t.Fatalf("Jaccard is %v, want %v", got, want)
			}
		}
	})
}

func slowNGram(a, b []int32, n int) Score {
	runs := func(s []int32) (list []string) {
		for i := 0; i+n <= len(s); i++ {
			run := ""
			for _, x := range s[i : i+n] {
				run += string(rune('A' + x))
			}
			list = append(list, run)
		}
		return list
	}
	x, y := runs(a), runs(b)
	return Of(slowCommon(x, y), len(x), len(y))
}

func slowClipped(a []int32, lists [][]int32) int {
	counts := func(s []int32) map[int32]int {
		m := map[int32]int{}
		for _, x := range s {
			m[x]++
		}
		return m
	}
	clipped := 0
	for x, n := range counts(a) {
		most := 0
		for _, list := range lists {
			most = max(most, counts(list)[x])
		}
		clipped += min(n, most)
	}
	return clipped
}

func slowJaccard(a, b []int32) float64 {
	sets := map[int32]int{}
	for _, x := range a {
		sets[x] |= 1
	}
	for _, x := range b {
		sets[x] |= 2
	}
	both := 0
	for _, in := range sets {
		if in == 3 {
			both++
		}
	}
	if len(sets) == 0 {
		return 0
	}
	return float64(both) / float64(len(sets))
}

func TestScoreProperties(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"a", "b", "c", "the", "東"})
	words := rapid.SliceOfN(word, 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		a, b := words.Draw(t, "a"), words.Draw(t, "b")
		for name, f := range map[string]func(a, b []string) Score{
			"bag": Bag, "lcs": LCS,
			"bigrams": func(a, b []string) Score { return NGram(a, b, 2) },
		} {
			got, turned := f(a, b), f(b, a)
			if got.F1 != turned.F1 || got.Precision != turned.Recall {
				t.Fatalf("%s: %v, the other way round %v", name, got, turned)
			}
			for _, x := range []float64{got.Precision, got.Recall, got.F1} {
				if !(x >= 0 && x <= 1) {
					t.Fatalf("%s: %v leaves [0,1]", name, got)
				}
			}
			if same := f(a, a); len(a) > 1 && same != (Score{1, 1, 1}) {
				t.Fatalf("%s of a text with itself: %v", name, same)
			}
		}
		if LCS(a, b).F1 > Bag(a, b).F1 {
			t.Fatal("words in order are more than words in any order")
		}
		if Jaccard(a, b) != Jaccard(b, a) {
			t.Fatal("Jaccard is not symmetric")
		}
	})
}

func TestByHand(t *testing.T) {
	t.Parallel()
	a, b := []string{"the", "cat", "the", "hat"}, []string{"the", "hat", "a", "cat"}
	// Bag: the, cat, hat. Bigrams: "the hat". In order: the … cat, or the hat: two.
	for name, got := range map[string][2]Score{
		"bag":     {Bag(a, b), {.75, .75, .75}},
		"bigrams": {NGram(a, b, 2), Of(1, 3, 3)},
		"lcs":     {LCS(a, b), {.5, .5, .5}},
		"empty":   {LCS(a, nil), {}},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %v, want %v", name, got[0], got[1])
		}
	}
	// Distinct: the, cat, hat of one and the, hat, a, cat of the other: 3 of 4.
	if got := Jaccard(a, b); got != .75 {
		t.Errorf("Jaccard is %v", got)
	}
}

func TestSummaryOfOneSentenceIsLCS(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c Counter
		a, b := sequence(t, "a"), sequence(t, "b")
		got, ok := c.Summary([][]int32{a}, [][]int32{b})
		if want := Of(c.LCS(a, b), len(a), len(b)); !ok || got != want {
			t.Fatalf("%v (%v), want %v", got, ok, want)
		}
	})
}

func TestSummaryByHand(t *testing.T) {
	t.Parallel()
	// The reference's sentence 0 1 2 3 4: 0 1 comes with the first sentence, 0 2 4 with the second, so
	// that 0 1 2 4 count (Lin 2004, section 3.2).
	var c Counter
	got, ok := c.Summary([][]int32{{0, 1, 5, 6, 7}, {0, 2, 8, 9, 4}}, [][]int32{{0, 1, 2, 3, 4}})
	if want := Of(4, 10, 5); !ok || got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	// A word of the answer counts once, though two sentences of the reference have it.
	got, _ = c.Summary([][]int32{{0}}, [][]int32{{0}, {0}})
	if want := Of(1, 1, 2); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	long := make([]int32, 5000)
	if _, ok := c.Summary([][]int32{long}, [][]int32{long}); ok {
		t.Error("a table of 25 million cells is filled")
	}
}

func BenchmarkLCS(b *testing.B) {
	var c Counter
	for name, n := range map[string]int{"short": 8, "400": 400} {
		x, y := make([]int32, n), make([]int32, n)
		for i := range n {
			x[i], y[i] = int32(i*i%17), int32(i*i*i%17)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c.LCS(x, y)
			}
		})
	}
}
