package bayes

import (
	"math"
)

// dualAveraging finds the step size at which the mean acceptance is the target (Hoffman and Gelman,
// "The No-U-Turn Sampler", 2014, section 3.2, with its constants).
type dualAveraging struct {
	target           float64
	centre           float64 // log of ten times the first step size: long steps are cheap to try
	error, logStep   float64
	logStepAveraged  float64
	count            float64
	shrink, stablise float64
}

func newDualAveraging(target, step float64) *dualAveraging {
	return &dualAveraging{target: target, centre: math.Log(10 * step), shrink: .05, stablise: 10}
}

// learn takes the acceptance of one transition and returns the step size for the next.
func (d *dualAveraging) learn(acceptance float64) float64 {
	d.count++
	weight := 1 / (d.count + d.stablise)
	d.error = (1-weight)*d.error + weight*(d.target-acceptance)
	d.logStep = d.centre - d.error*math.Sqrt(d.count)/d.shrink
	forget := math.Pow(d.count, -.75)
	d.logStepAveraged = forget*d.logStep + (1-forget)*d.logStepAveraged
	return math.Exp(d.logStep)
}

// settled is the step size to sample with.
func (d *dualAveraging) settled() float64 { return math.Exp(d.logStepAveraged) }

// variances are running means and sums of squares (Welford).
type variances struct {
	n          float64
	mean, sumS []float64
}

func newVariances(dim int) *variances {
	return &variances{mean: make([]float64, dim), sumS: make([]float64, dim)}
}

func (v *variances) add(q []float64) {
	v.n++
	for i, x := range q {
		d := x - v.mean[i]
		v.mean[i] += d / v.n
		v.sumS[i] += d * (x - v.mean[i])
	}
}

// into writes the variances, drawn towards a small number as if five observations had it, and begins anew.
func (v *variances) into(variance []float64) {
	for i, s := range v.sumS {
		variance[i] = s/(v.n-1)*(v.n/(v.n+5)) + 1e-3*5/(v.n+5)
	}
	v.n = 0
	clear(v.mean)
	clear(v.sumS)
}

// windows are the parts of the warm-up: first only the step size is adapted, while the chain finds
// the mass of the density; then the metric too, in windows of doubling length, each of which forgets
// what came before; and at last the step size alone again. Lengths are those of Stan (reference
// manual, "HMC algorithm parameters"), scaled down for a short warm-up.
type windows struct {
	begin int   // the first transition of which the metric learns
	ends  []int // the transitions after which the metric is replaced, ascending
}

func windowsOf(warmup int) windows {
	first, last, length := 75, 50, 25
	switch {
	case warmup < 20:
		return windows{begin: warmup}
	case warmup < first+last+length:
		first, last = warmup*15/100, warmup/10
		length = warmup - first - last
	}
	w := windows{begin: first}
	stop := warmup - last
	for at := first; at < stop; length *= 2 {
		at += length
		if at+2*length > stop { // no room for the next window: this one takes what is left
			at = stop
		}
		w.ends = append(w.ends, at)
	}
	return w
}

// warmUp adapts the step size and the metric over the given number of transitions; halt is asked
// before each.
func (s *nuts) warmUp(transitions int, target float64, halt func() error) error {
	s.step = s.reasonableStep()
	averaging := newDualAveraging(target, s.step)
	w := windowsOf(transitions)
	seen := newVariances(len(s.now.q))
	for t := range transitions {
		if err := halt(); err != nil {
			return err
		}
		s.transition()
		s.step = averaging.learn(s.acceptance)
		if len(w.ends) == 0 || t < w.begin {
			continue
		}
		seen.add(s.now.q)
		if t+1 == w.ends[0] {
			w.ends = w.ends[1:]
			seen.into(s.variance)
			s.step = s.reasonableStep()
			averaging = newDualAveraging(target, s.step)
		}
	}
	if transitions > 0 {
		s.step = averaging.settled()
	}
	return nil
}

// reasonableStep doubles or halves the step size until one step crosses an acceptance of .8.
func (s *nuts) reasonableStep() float64 {
	const threshold = .8
	longer := 0
	for range 60 {
		s.start()
		s.leapfrog(1)
		accepted := s.startEnergy-s.moving.energy > math.Log(threshold) // false for NaN
		if longer == 0 {
			longer = -1
			if accepted {
				longer = 1
			}
		} else if accepted != (longer > 0) {
			break
		}
		if longer > 0 {
			s.step *= 2
		} else {
			s.step /= 2
		}
	}
	return s.step
}
