package recalibrate

import (
	"math"
	"slices"
	"sort"
)

// Isotonic fits the non-decreasing map of least squared error, by pooling adjacent violators (Ayer et
// al. 1955; Zadrozny and Elkan 2002 for calibration). Points of equal score are averaged first.
// Between fitted scores the map is linear; outside their range it keeps the value at the nearest end.
// Infinite scores are allowed; next to one the map is a step. With one class it is constant 0 or 1.
type Isotonic struct{}

// ID implements [Method].
func (Isotonic) ID() string { return "isotonic" }

// Fit implements [Method]; the map is an [*IsotonicMap].
func (Isotonic) Fit(p Points) (Map, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	list := p.groups()
	m := &IsotonicMap{fitted: fit(list)}
	for _, b := range pool(list) {
		// Inside a block the map is flat: its ends say all.
		for _, x := range slices.Compact([]float64{list[b.from].score, list[b.to-1].score}) {
			m.x, m.y = append(m.x, x), append(m.y, b.mean)
		}
	}
	m.dropInner()
	return m, nil
}

// IsotonicMap is a fitted isotonic map.
type IsotonicMap struct {
	fitted
	x, y []float64
}

// Thresholds are the corners of the map: scores ascending, and the probability at each. The slices
// are copies.
func (m *IsotonicMap) Thresholds() (scores, probabilities []float64) {
	return slices.Clone(m.x), slices.Clone(m.y)
}

// At implements [Map].
func (m *IsotonicMap) At(score float64) Prediction {
	k := sort.SearchFloat64s(m.x, score)
	switch {
	case k == len(m.x):
		return m.predict(score, m.y[k-1])
	case k == 0 || m.x[k] == score:
		return m.predict(score, m.y[k])
	case math.IsInf(m.x[k-1], -1):
		return m.predict(score, m.y[k])
	case math.IsInf(m.x[k], 1):
		return m.predict(score, m.y[k-1])
	}
	// Halved, the widest range of scores does not overflow.
	part := (score/2 - m.x[k-1]/2) / (m.x[k]/2 - m.x[k-1]/2)
	return m.predict(score, m.y[k-1]+part*(m.y[k]-m.y[k-1]))
}

// dropInner removes corners between two of the same value, which can arise where blocks tie.
func (m *IsotonicMap) dropInner() {
	x, y := m.x[:0:0], m.y[:0:0]
	for i := range m.x {
		if i > 0 && i < len(m.x)-1 && m.y[i-1] == m.y[i] && m.y[i] == m.y[i+1] {
			continue
		}
		x, y = append(x, m.x[i]), append(y, m.y[i])
	}
	m.x, m.y = x, y
}

// block is a run of groups from..to-1 that share one value.
type block struct {
	from, to     int
	weight, mean float64
}

// pool merges neighbouring groups until their means do not decrease.
func pool(list []group) []block {
	var blocks []block
	for i, g := range list {
		b := block{from: i, to: i + 1, weight: g.weight, mean: g.mean}
		for len(blocks) > 0 && blocks[len(blocks)-1].mean >= b.mean {
			last := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			if last.mean != b.mean {
				b.mean = (last.weight*last.mean + b.weight*b.mean) / (last.weight + b.weight)
			}
			b.from, b.weight = last.from, last.weight+b.weight
		}
		blocks = append(blocks, b)
	}
	return blocks
}
