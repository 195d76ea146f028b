package metric

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/measure"
)

// OneCategory is the reason why a chance-corrected coefficient is undefined when every rating is of
// the same category: agreement by chance is then certain, and 0/0 is neither 0 nor 1.
const OneCategory measure.Reason = "one category"

// Reasons why an item is left out of an agreement coefficient.
const (
	unpaired = "not rated by both"
	lonely   = "fewer than two ratings"
	unrated  = "no rating"
)

// Ratings is a table of R raters by N items, each cell a category or absent. Build it with
// [NumericRatings] or [LabelRatings]; it is not changed afterwards.
type Ratings struct {
	// codes[r][i] is the place of a rating in the list of categories, or absent.
	codes [][]int
	// values are the numbers that the categories stand for; nil for labels.
	values []float64
	// size is the number of categories, declared ones that nobody used included.
	size int
	// ordered says that the order of the categories means something.
	ordered bool
}

const absent = -1

// NumericRatings builds a table from numbers, ratings[r][i] being what rater r gave item i and NaN
// the absence of a rating. The categories are the declared numbers, or without any the numbers that
// occur, in ascending order. Declare them where a scale has points that nobody chose: the weights
// of [CohenKappa] count places on the scale, and [GwetAC1] counts categories.
//
// It is an error if rows differ in length, a rating is infinite, or a rating is not declared.
func NumericRatings(ratings [][]float64, declared ...float64) (Ratings, error) {
	scale := append([]float64{}, declared...)
	if len(scale) == 0 {
		for _, row := range ratings {
			for _, x := range row {
				if !math.IsNaN(x) {
					scale = append(scale, x)
				}
			}
		}
	}
	slices.Sort(scale)
	scale = slices.Compact(scale)
	for _, x := range scale {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return Ratings{}, fmt.Errorf("metric: %v cannot be a rating", x)
		}
	}
	r := Ratings{values: scale, size: len(scale), ordered: true}
	var err error
	r.codes, err = encode(ratings, func(x float64) (int, bool) {
		if math.IsNaN(x) {
			return absent, true
		}
		return slices.BinarySearch(scale, x)
	})
	return r, err
}

// LabelRatings builds a table from labels, ratings[r][i] being what rater r gave item i. An empty
// label is the absence of a rating, and so is every label in missing: "None" is a category unless
// the caller says that it is not. The declared labels are the categories in their order, which
// makes them ordinal; without any, the labels that occur are categories without order.
//
// It is an error if rows differ in length or a label is not declared.
func LabelRatings(ratings [][]string, missing []string, declared ...string) (Ratings, error) {
	gone := func(label string) bool { return label == "" || slices.Contains(missing, label) }
	scale := slices.Clone(declared)
	if len(scale) == 0 {
		for _, row := range ratings {
			for _, label := range row {
				if !gone(label) {
					scale = append(scale, label)
				}
			}
		}
		slices.Sort(scale)
		scale = slices.Compact(scale)
	}
	place := make(map[string]int, len(scale))
	for k, label := range scale {
		if _, twice := place[label]; twice || gone(label) {
			return Ratings{}, fmt.Errorf("metric: declared category %q is empty, missing or there twice", label)
		}
		place[label] = k
	}
	r := Ratings{size: len(scale), ordered: len(declared) > 0}
	var err error
	r.codes, err = encode(ratings, func(label string) (int, bool) {
		if gone(label) {
			return absent, true
		}
		k, ok := place[label]
		return k, ok
	})
	return r, err
}

func encode[T any](ratings [][]T, code func(T) (int, bool)) ([][]int, error) {
	codes := make([][]int, len(ratings))
	for r, row := range ratings {
		if len(row) != len(ratings[0]) {
			return nil, fmt.Errorf("metric: rater %d has %d items, rater 1 has %d: give every rater all items, the unrated ones as missing", r+1, len(row), len(ratings[0]))
		}
		codes[r] = make([]int, len(row))
		for i, x := range row {
			k, ok := code(x)
			if !ok {
				return nil, fmt.Errorf("metric: rater %d, item %d: %v is not a declared category", r+1, i+1, x)
			}
			codes[r][i] = k
		}
	}
	return codes, nil
}

// Raters is the number of raters R.
func (r Ratings) Raters() int { return len(r.codes) }

// Items is the number of items N, unrated ones included.
func (r Ratings) Items() int {
	if len(r.codes) == 0 {
		return 0
	}
	return len(r.codes[0])
}

// Agreement is a coefficient with the agreement that it corrects. The raw agreement stays readable
// where the coefficient is undefined.
type Agreement struct {
	Coefficient measure.Value
	// Raw is the observed agreement in [0,1]: the mean over items with at least two ratings of the
	// share of their pairs of ratings that are equal. With two raters it has Wilson's interval.
	Raw measure.Value
	// Chance is the agreement that the coefficient expects by chance, on its own scale (weighted
	// where the coefficient is); it has no interval.
	Chance measure.Value
}

// AgreementInterval says which interval a coefficient shall have.
type AgreementInterval struct {
	// Level is the nominal coverage in (0,1); 0 asks for no interval.
	Level float64
	// Resamples and Seed are read by coefficients whose interval is a bootstrap over items
	// ([KrippendorffAlpha]); with 0 resamples those have none.
	Resamples int
	Seed      uint64
}

func (ci AgreementInterval) check() error {
	if ci.Level < 0 || ci.Level >= 1 || math.IsNaN(ci.Level) {
		return fmt.Errorf("metric: level %v of an interval: give a number in (0,1), or 0 for no interval", ci.Level)
	}
	if ci.Resamples < 0 {
		return fmt.Errorf("metric: %d resamples: give 0 or more", ci.Resamples)
	}
	return nil
}

// pattern is one way in which an item was rated, whoever rated it: how many ratings each category
// got. Coefficients for any number of raters depend on nothing else, so that items collapse to
// few patterns and no order of items or raters can reach a result.
type pattern struct {
	votes []int
	// ratings is the sum of votes.
	ratings int
	// items is how many items were rated so.
	items int
}

// patterns collapses the table, in an order that depends on the votes alone. of[i] is the pattern of
// item i, or absent where it has no rating.
func (r Ratings) patterns() (list []pattern, of []int) {
	seen := map[string]int{}
	of = make([]int, r.Items())
	votes, key := make([]int, r.size), []byte{}
	for i := range of {
		of[i] = absent
		clear(votes)
		ratings := 0
		for _, row := range r.codes {
			if k := row[i]; k != absent {
				votes[k]++
				ratings++
			}
		}
		if ratings == 0 {
			continue
		}
		key = key[:0]
		for _, n := range votes {
			key = binary.AppendUvarint(key, uint64(n))
		}
		p, known := seen[string(key)]
		if !known {
			p = len(list)
			seen[string(key)] = p
			list = append(list, pattern{votes: slices.Clone(votes), ratings: ratings})
		}
		list[p].items++
		of[i] = p
	}
	byVotes := make([]int, len(list))
	for p := range byVotes {
		byVotes[p] = p
	}
	slices.SortFunc(byVotes, func(a, b int) int { return slices.Compare(list[a].votes, list[b].votes) })
	sorted, place := make([]pattern, len(list)), make([]int, len(list))
	for to, from := range byVotes {
		sorted[to], place[from] = list[from], to
	}
	for i, p := range of {
		if p != absent {
			of[i] = place[p]
		}
	}
	return sorted, of
}

// agreeing is the share of pairs of ratings of the pattern that are equal; it needs two ratings.
func (p pattern) agreeing() float64 {
	equal := 0
	for _, n := range p.votes {
		equal += n * (n - 1)
	}
	return float64(equal) / float64(p.ratings*(p.ratings-1))
}

// rawAgreement gives the second half of an [Agreement].
func (r Ratings) rawAgreement(level float64) measure.Value {
	const id = "agreement.raw"
	list, _ := r.patterns()
	var sum float64
	n := 0
	for _, p := range list {
		if p.ratings >= 2 {
			sum += float64(p.items) * p.agreeing()
			n += p.items
		}
	}
	out := map[string]int{lonely: r.Items() - n}
	if n == 0 {
		return measure.Undefined(id, measure.NoItems, 0).Leaving(out)
	}
	v := measure.Of(id, sum/float64(n), n).Leaving(out)
	if r.Raters() == 2 && level > 0 {
		v = v.With(Wilson(int(sum), n, level))
	}
	return v
}

// categoriesUsed counts the categories with at least one rating among the given patterns.
func categoriesUsed(list []pattern) int {
	used := map[int]bool{}
	for _, p := range list {
		for k, n := range p.votes {
			if n > 0 {
				used[k] = true
			}
		}
	}
	return len(used)
}

// clippedTo is the interval centre ± half, cut to the range of a coefficient.
func clippedTo(low, high, centre, half, level float64, method string) measure.Interval {
	return measure.Interval{
		Lower:  math.Max(low, centre-half),
		Upper:  math.Min(high, centre+half),
		Level:  level,
		Method: method,
	}
}

// withoutSpread warns that an interval of no width is a limit of its method, not certainty.
func withoutSpread(v measure.Value) measure.Value {
	if v.Interval == nil || v.Interval.Upper-v.Interval.Lower > 1e-12 {
		return v
	}
	return v.Warn("degenerate-interval", "the interval has no width, since no item differs from the others in how it was agreed on; see the interval of the raw agreement")
}

var errTwoRaters = errors.New("metric: Cohen's kappa compares exactly two raters; use Fleiss, Krippendorff or Gwet for another number")

// Strength is the word of Landis and Koch (1977, table 2) for a coefficient in [-1,1], with words of
// its own for exactly 0 ("none") and below ("less than chance"), which that table calls poor. It
// describes; it is no test.
func Strength(coefficient float64) string {
	steps := []struct {
		to   float64
		word string
	}{{.2, "slight"}, {.4, "fair"}, {.6, "moderate"}, {.8, "substantial"}}
	switch {
	case coefficient < 0:
		return "less than chance"
	case coefficient == 0:
		return "none"
	}
	for _, s := range steps {
		if coefficient <= s.to {
			return s.word
		}
	}
	return "almost perfect"
}

// idOf joins the parts of a method id, leaving out empty ones.
func idOf(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ".")
}
