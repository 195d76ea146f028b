package consistency

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/resample"
)

// Resampling says how chance is used.
type Resampling struct {
	// Level is the nominal coverage of intervals, in (0,1).
	Level float64
	// N is the number of resamples or permutations, at least 1.
	N int
	// Seed decides all draws; see [resample.SettingSeed].
	Seed uint64
}

func (r Resampling) check() error {
	switch {
	case !(r.Level > 0 && r.Level < 1):
		return fmt.Errorf("consistency: level %v is not in (0,1)", r.Level)
	case r.N < 1:
		return fmt.Errorf("consistency: %d resamples asked for; ask for at least one", r.N)
	}
	return nil
}

// random is a stream of its own for each purpose.
func (r Resampling) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(r.Seed, stream)) }

// Streams of one seed.
const (
	streamBootstrap uint64 = iota + 1
	streamPermutation
	streamItems
)

// Bootstrap is C3 with a percentile interval: the answers of each set are drawn anew with replacement, r.N
// times. Pairs of a drawn answer with its own copy are left out of the agreements, since they would make both
// sets look more alike within than across: the resampled values then lie around C3 itself. (Only [BiasedMMD]
// counts them, by its definition, and its interval lies low.) The interval is of the
// unclipped value and may leave [0,1]. Undefined as C3 is. Errors: an unknown estimator, a bad level or number.
func (c *Comparison) Bootstrap(o Options, r Resampling) (measure.Value, error) {
	result, err := c.C3(o)
	if err != nil {
		return measure.Value{}, err
	}
	if err := r.check(); err != nil || !result.C3.Defined() {
		return result.C3, err
	}
	e, _ := o.estimator()
	f, random := c.formOf(e).dense(), r.random(streamBootstrap)
	x, y := make([]float64, c.n+c.m), make([]float64, c.n+c.m)
	values, undefined := make([]float64, 0, r.N), 0
	for range r.N {
		drawInto(x[:c.n], random)
		drawInto(y[c.n:], random)
		// One answer drawn every time leaves no pair to agree.
		if v := e.c3(f.sums(x, y)); finite(v) {
			values = append(values, v)
		} else {
			undefined++
		}
	}
	return percentile(result.C3, values, undefined, r), nil
}

func drawInto(weights []float64, random *rand.Rand) {
	clear(weights)
	for range weights {
		weights[random.IntN(len(weights))]++
	}
}

// percentile puts the interval of the resampled values beside v.
func percentile(v measure.Value, values []float64, undefined int, r Resampling) measure.Value {
	if len(values) == 0 {
		return v.Warn("no-interval", "%s", measure.NoDraws)
	}
	slices.Sort(values)
	v = v.With(measure.Interval{
		Lower: resample.Quantile(values, (1-r.Level)/2), Upper: resample.Quantile(values, (1+r.Level)/2),
		Level: r.Level, Method: string(resample.Percentile), Resamples: r.N, Undefined: undefined,
	})
	if undefined*20 > r.N {
		v = v.Warn("undefined-draws", "undefined on %d of %d resamples, which the interval leaves out", undefined, r.N)
	}
	if values[0] == values[len(values)-1] {
		v = v.Warn("degenerate-interval", "every resample gave %v: the interval understates what is not known", values[0])
	}
	return v
}

// Jackknife is C3 with the normal interval C3 ± z·s of the given level in (0,1). s² adds up, for each set of
// n answers, (n − 1)/n times the squared deviations of the values without one answer from their mean (Arvesen
// 1969, two samples). It draws nothing and costs n + m evaluations. With fewer than three answers in a set
// there is no interval, warning "no-interval"; one of no width has the warning "degenerate-interval".
func (c *Comparison) Jackknife(o Options, level float64) (measure.Value, error) {
	result, err := c.C3(o)
	if err != nil {
		return measure.Value{}, err
	}
	if err := (Resampling{Level: level, N: 1}).check(); err != nil {
		return measure.Value{}, err
	}
	v := result.C3
	x, ok := v.Get()
	if !ok {
		return v, nil
	}
	if c.n < 3 || c.m < 3 {
		return v.Warn("no-interval", "a jackknife needs three answers of each kind; there are %d and %d", c.n, c.m), nil
	}
	e, _ := o.estimator()
	f := c.formOf(e).dense()
	wx, wy := c.ones()
	without := func(weights []float64, from, to int) float64 {
		values := make([]float64, 0, to-from)
		for i := from; i < to; i++ {
			weights[i] = 0
			values = append(values, e.c3(f.sums(wx, wy)))
			weights[i] = 1
		}
		return float64(len(values)-1) / float64(len(values)) * squaredDeviations(values)
	}
	half := distuv.UnitNormal.Quantile((1+level)/2) * math.Sqrt(without(wx, 0, c.n)+without(wy, c.n, c.n+c.m))
	v = v.With(measure.Interval{Lower: x - half, Upper: x + half, Level: level, Method: "jackknife.two-sample"})
	if half == 0 {
		v = v.Warn("degenerate-interval", "no single answer changes the value: the interval understates what is not known")
	}
	return v, nil
}

func squaredDeviations(values []float64) float64 {
	mean, sum := 0., 0.
	for _, x := range values {
		mean += x / float64(len(values))
	}
	for _, x := range values {
		sum += (x - mean) * (x - mean)
	}
	return sum
}

// PermutationP is the p value of the two sets having one distribution: the share of N relabellings, the
// observed one counted in, whose unbiased MMD² is at least as large (Gretton et al. 2012, section 8). In
// (0,1], never below 1/(N + 1); small values speak against equality. Its method is
// "p.permutation.mmd2.unbiased.KERNEL". Undefined as C3 is.
func (c *Comparison) PermutationP(r Resampling) (measure.Value, error) {
	if r.N < 1 {
		return measure.Value{}, fmt.Errorf("consistency: %d permutations asked for; ask for at least one", r.N)
	}
	id := "p.permutation." + string(UnbiasedMMD) + "." + string(c.kernel)
	if why := c.undefined(); why != "" {
		return measure.Undefined(id, why, c.n+c.m).Leaving(c.leftOut), nil
	}
	f, random := c.form.dense(), r.random(streamPermutation)
	x, y := c.ones()
	observed := UnbiasedMMD.c3(f.sums(x, y))
	const rounding = 1e-12 // equal sets in another order must count as equal
	extreme := 1
	for range r.N {
		random.Shuffle(len(x), func(i, j int) {
			x[i], x[j] = x[j], x[i]
			y[i], y[j] = y[j], y[i]
		})
		if UnbiasedMMD.c3(f.sums(x, y)) <= observed+rounding {
			extreme++
		}
	}
	return measure.Of(id, float64(extreme)/float64(r.N+1), c.n+c.m).Leaving(c.leftOut), nil
}
