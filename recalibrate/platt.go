package recalibrate

import (
	"fmt"
	"math"
)

// Platt fits a logistic map p = 1/(1+exp(A·score+B)) by maximum likelihood (Platt 1999), to full
// precision by Newton's method with backtracking (Lin, Lin and Weng 2007).
//
// Unless Plain, targets are smoothed as Platt proposes: 1 becomes (N₊+1)/(N₊+2) and 0 becomes
// 1/(N₋+2), for N₊ and N₋ correct and incorrect points. The fit then exists always; of one class it is
// the constant (n+1)/(n+2) or 1/(n+2). Plain is logistic regression: it wraps [ErrNoFit] where a
// threshold parts the classes without error, one class included, since A would be infinite.
//
// Where all scores are equal A is not determined by the points; the pair (A, B) nearest to the start
// (0, log((N₋+1)/(N₊+1))) is taken, to which gradient methods converge, with a warning. Scores must be
// finite; A may come out positive, a map that falls, also with a warning.
//
// Ridge, at least 0 and finite, adds Ridge/2·A² to the loss, as scikit-learn's LogisticRegression does
// with C = 1/Ridge: its default, Ridge 1, pulls the map of confidences far towards a constant. A then is
// finite where a threshold parts the classes, and 0 where all scores are equal, so that of one score
// the map gives its mean. B is free: plain Platt of one class still has no fit.
type Platt struct {
	Plain bool
	Ridge float64
}

// ID implements [Method].
func (m Platt) ID() string {
	id := "platt.smoothed"
	if m.Plain {
		id = "platt.plain"
	}
	if m.Ridge != 0 {
		id += fmt.Sprintf(".ridge-%g", m.Ridge)
	}
	return id
}

// Fit implements [Method]; the map is a [*PlattMap].
func (m Platt) Fit(p Points) (Map, error) {
	if !(m.Ridge >= 0) || math.IsInf(m.Ridge, 1) {
		return nil, fmt.Errorf("recalibrate: ridge %v of Platt scaling: give a number from 0", m.Ridge)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if err := p.finite("Platt scaling"); err != nil {
		return nil, err
	}
	list := p.groups()
	f := &PlattMap{fitted: fit(list)}
	if m.Plain && m.Ridge == 0 && separable(list) {
		return nil, fmt.Errorf("recalibrate: a threshold parts correct from incorrect without error, so that plain Platt scaling has no finite slope; smooth the targets: %w", ErrNoFit)
	}
	var correct, incorrect float64
	for _, g := range list {
		correct += g.weight * g.mean
		incorrect += g.weight * (1 - g.mean)
	}
	if m.Plain && (correct == 0 || incorrect == 0) {
		return nil, fmt.Errorf("recalibrate: all points are of one class, so that plain Platt scaling has no finite intercept; smooth the targets: %w", ErrNoFit)
	}
	if !m.Plain {
		smooth(list, correct, incorrect)
	}
	start := math.Log((correct + 1) / (incorrect + 1))
	if f.low == f.high {
		f.ofOneScore(list[0], start, m.Ridge > 0)
		return f, nil
	}
	f.standardise(list)
	f.newton(list, start, m.Ridge)
	if f.slope < 0 {
		f.warn("falling", "the fitted map falls: higher scores were less often correct")
	}
	return f, nil
}

// PlattMap is a fitted logistic map.
type PlattMap struct {
	fitted
	// The map is 1/(1+exp(-(slope·z+intercept))) of z = (score·2^-shift - centre)/spread, a form that
	// neither tiny nor huge scores upset.
	slope, intercept float64
	centre, spread   float64
	shift            int
}

// Parameters are A and B of p = 1/(1+exp(A·score+B)).
func (m *PlattMap) Parameters() (a, b float64) {
	return -math.Ldexp(m.slope/m.spread, -m.shift), m.slope*m.centre/m.spread - m.intercept
}

// At implements [Map].
func (m *PlattMap) At(score float64) Prediction {
	u := m.intercept
	if m.slope != 0 {
		u += m.slope * (math.Ldexp(score, -m.shift) - m.centre) / m.spread
	}
	return m.predict(score, sigmoid(u))
}

// ofOneScore solves slope·x+intercept = logit of the mean for the pair nearest to (0, start), or if flat
// for slope 0.
func (m *PlattMap) ofOneScore(g group, start float64, flat bool) {
	x, off := g.score, logit(g.mean)-start
	if flat {
		x = 0
	}
	m.spread = 1
	m.intercept = start + off/(x*x+1)
	if x != 0 {
		m.slope = off / (x + 1/x)
	}
	m.warn("constant-score", "all scores are %v: how the probability changes with the score is not determined", g.score)
}

// standardise chooses shift, centre and spread so that z has mean 0 and variance 1.
func (m *PlattMap) standardise(list []group) {
	_, m.shift = math.Frexp(math.Max(math.Abs(m.low), math.Abs(m.high)))
	var weight, sum, square float64
	for _, g := range list {
		weight += g.weight
		sum += g.weight * math.Ldexp(g.score, -m.shift)
	}
	m.centre = sum / weight
	for _, g := range list {
		d := math.Ldexp(g.score, -m.shift) - m.centre
		square += g.weight * d * d
	}
	m.spread = math.Sqrt(square / weight)
}

// newton minimises the log loss from slope 0 and the given intercept, with ridge/2·A² added.
func (m *PlattMap) newton(list []group, intercept, ridge float64) {
	// A is slope·2^-shift/spread. The bound stands for infinity, where scores are next to equal.
	if perUnit := math.Ldexp(1/m.spread, -m.shift); ridge > 0 {
		ridge = math.Min(ridge*perUnit*perUnit, 1e100)
	}
	z, t, w := make([]float64, len(list)), make([]float64, len(list)), make([]float64, len(list))
	var weight float64
	for i, g := range list {
		z[i], t[i], w[i] = (math.Ldexp(g.score, -m.shift)-m.centre)/m.spread, g.mean, g.weight
		weight += g.weight
	}
	loss := func(a, b float64) float64 {
		var sum float64
		for i := range z {
			u := a*z[i] + b
			sum += w[i] * (softplus(u) - t[i]*u)
		}
		return sum + ridge/2*a*a
	}
	a, b := 0.0, intercept
	current := loss(a, b)
	for range 200 {
		var ga, gb, haa, hab, hbb float64
		for i := range z {
			p := sigmoid(a*z[i] + b)
			r, v := w[i]*(p-t[i]), w[i]*p*(1-p)
			ga, gb = ga+r*z[i], gb+r
			haa, hab, hbb = haa+v*z[i]*z[i], hab+v*z[i], hbb+v
		}
		ga, haa = ga+ridge*a, haa+ridge
		// The ridge of Lin, Lin and Weng keeps the step finite where the sigmoid saturates.
		haa, hbb = haa+1e-12*weight, hbb+1e-12*weight
		det := haa*hbb - hab*hab
		da, db := -(hbb*ga-hab*gb)/det, -(haa*gb-hab*ga)/det
		descent := ga*da + gb*db
		if !(descent < -1e-16*weight) {
			// What is left is below rounding of the loss, but a last full step still sharpens a and b.
			m.slope, m.intercept = a+da, b+db
			return
		}
		step := 1.0
		for ; step > 1e-12; step /= 2 {
			if next := loss(a+step*da, b+step*db); next <= current+1e-4*step*descent {
				a, b, current = a+step*da, b+step*db, next
				break
			}
		}
		if step <= 1e-12 {
			break // The loss is at the floor of rounding.
		}
	}
	m.slope, m.intercept = a, b
}

// smooth puts Platt's targets in place of the means.
func smooth(list []group, correct, incorrect float64) {
	high, low := (correct+1)/(correct+2), 1/(incorrect+2)
	for i, g := range list {
		list[i].mean = g.mean*high + (1-g.mean)*low
	}
}

// separable reports whether some score parts the points so that all on one side are correct and all
// on the other incorrect; points at that score may be either.
func separable(list []group) bool {
	firstCorrect, lastCorrect := math.Inf(1), math.Inf(-1)
	firstIncorrect, lastIncorrect := math.Inf(1), math.Inf(-1)
	for _, g := range list {
		if g.mean > 0 {
			firstCorrect, lastCorrect = math.Min(firstCorrect, g.score), g.score
		}
		if g.mean < 1 {
			firstIncorrect, lastIncorrect = math.Min(firstIncorrect, g.score), g.score
		}
	}
	oneMixedScore := len(list) == 1 && list[0].mean > 0 && list[0].mean < 1
	return !oneMixedScore && (lastIncorrect <= firstCorrect || lastCorrect <= firstIncorrect)
}

func sigmoid(u float64) float64 {
	if u < 0 {
		e := math.Exp(u)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-u))
}

// softplus is log(1+exp(u)).
func softplus(u float64) float64 { return math.Max(u, 0) + math.Log1p(math.Exp(-math.Abs(u))) }

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }
