package metric

import "math"

// Kernel estimators of the calibration curve weigh items by a Gaussian of their distance. What they
// need of a sample is, at each distinct confidence, the number of items and the sum of their gaps.

// masses are the items of a sample by place: n[k] items at confidence at[k], whose quality −
// confidence sums to gap[k]. Places ascend.
type masses struct {
	at, n, gap []float64
	// whole is what these are all the items of, if they are.
	whole *Prepared
}

// massesOf makes room for the masses of resamples of p, and returns the function that fills it. The
// result is valid until the next call; confidences that a resample lacks stay in it with 0 items.
func massesOf(p *Prepared) func(counts []uint32) masses {
	whole := remember(p, massesKey{}, func() masses {
		m := newMasses(len(p.groups))
		for g := range p.groups {
			m.at[len(m.at)-1-g] = p.confidence[p.groupStart(g)]
		}
		p.fill(m, p.counts)
		m.whole = p
		return m
	})
	var m masses
	return func(counts []uint32) masses {
		if p.asPrepared(counts) {
			return whole
		}
		if m.at == nil {
			m = newMasses(len(whole.at))
			copy(m.at, whole.at)
		}
		p.fill(m, counts)
		return m
	}
}

type massesKey struct{}

func newMasses(k int) masses {
	return masses{at: make([]float64, k), n: make([]float64, k), gap: make([]float64, k)}
}

// fill sets numbers and gaps of the masses at the confidences of p.
func (p *Prepared) fill(m masses, counts []uint32) {
	excessOf, last := p.excess(), len(m.at)-1
	for g, to := range p.groups {
		from := p.groupStart(g)
		n, excess := sumBin(counts[from:to], excessOf[from:to])
		m.n[last-g], m.gap[last-g] = float64(n), -excess
	}
}

func (m masses) items() float64 {
	if m.whole != nil {
		return float64(m.whole.n)
	}
	n := 0.
	for _, x := range m.n {
		n += x
	}
	return n
}

// nodes is the number of places per cell onto which many masses can be gathered.
const nodes = 16

// gathering moves masses onto Chebyshev nodes of cells of [0,1] so that sums of any function that is
// smooth on the scale of a cell stay what they were. For a Gaussian of the cell's width as standard
// deviation, and its product with a distance, 16 nodes leave an error below 1e-13 of the whole mass:
// a million places become a few hundred at no loss.
type gathering struct {
	cells     int
	chebyshev [nodes][nodes]float64 // chebyshev[k][j] = T_k at node j
	to        masses
}

func newGathering(cells int) *gathering {
	g := &gathering{cells: cells}
	size := cells * nodes
	g.to = newMasses(size)
	for j := range nodes {
		// Nodes ascend within a cell.
		angle := math.Pi * (float64(nodes-1-j) + .5) / nodes
		for k := range nodes {
			g.chebyshev[k][j] = math.Cos(float64(k) * angle)
		}
		for cell := range cells {
			g.to.at[cell*nodes+j] = (float64(cell) + (1+g.chebyshev[1][j])/2) / float64(cells)
		}
	}
	return g
}

// locate gives the cell of c in [0,1] and its place u in [-1,1] there.
func (g *gathering) locate(c float64) (cell int, u float64) {
	x := c * float64(g.cells)
	cell = min(int(x), g.cells-1)
	return cell, 2*(x-float64(cell)) - 1
}

// gather returns the masses on the nodes, valid until the next call.
func (g *gathering) gather(m masses) masses {
	if m.whole == nil {
		return g.move(m)
	}
	return remember(m.whole, gatheredKey(g.cells), func() masses {
		if g.cells < fineCells && len(m.at) > 2*fineCells*nodes {
			m = newGathering(fineCells).gather(m)
		}
		return newGathering(g.cells).move(m)
	})
}

// fineCells is the number of cells onto which very many places are gathered first, once for all
// estimators, which gather from there: a kernel of wider cells is smooth on narrow ones.
const fineCells = 1 << 12

// gatheredKey is the number of cells.
type gatheredKey int

func (g *gathering) move(m masses) masses {
	clear(g.to.n)
	clear(g.to.gap)
	var n, gap [nodes]float64 // Chebyshev moments of the current cell
	current := -1
	flush := func() {
		if current < 0 {
			return
		}
		for j := range nodes {
			var a, b float64
			for k := range nodes {
				w := g.chebyshev[k][j] * 2 / nodes
				if k == 0 {
					w = 1. / nodes
				}
				a, b = a+w*n[k], b+w*gap[k]
			}
			g.to.n[current*nodes+j], g.to.gap[current*nodes+j] = a, b
		}
		n, gap = [nodes]float64{}, [nodes]float64{}
	}
	for i, c := range m.at {
		if m.n[i] == 0 {
			continue
		}
		cell, u := g.locate(c)
		if cell != current {
			flush()
			current = cell
		}
		// T_{k+2} = 2 T_2 T_k − T_{k−2}, so that even and odd ones need not wait for each other.
		w := 2 * (2*u*u - 1)
		evenBefore, even := w/2, 1. // T_{-2} = T_2
		oddBefore, odd := u, u      // T_{-1} = T_1
		for k := 0; k < nodes; k += 2 {
			n[k] += m.n[i] * even
			gap[k] += m.gap[i] * even
			n[k+1] += m.n[i] * odd
			gap[k+1] += m.gap[i] * odd
			evenBefore, even = even, w*even-evenBefore
			oddBefore, odd = odd, w*odd-oddBefore
		}
	}
	flush()
	return g.to
}

// series turns the values of a function at the nodes, smooth on the scale of a cell, into Chebyshev
// coefficients of each cell, for value. dst has the length of values.
func (g *gathering) series(dst, values []float64) {
	for first := 0; first < len(values); first += nodes {
		for k := range nodes {
			sum := 0.
			for j, v := range values[first : first+nodes] {
				sum += v * g.chebyshev[k][j]
			}
			dst[first+k] = sum * 2 / nodes
		}
		dst[first] /= 2
	}
}

// values are those of two series at c, by Clenshaw's recurrence. Its steps wait for each other, so that
// two series take hardly longer than one.
func (g *gathering) values(first, second []float64, c float64) (float64, float64) {
	cell, u := g.locate(c)
	a, b := (*[nodes]float64)(first[cell*nodes:]), (*[nodes]float64)(second[cell*nodes:])
	var a1, a2, b1, b2 float64
	for k := nodes - 1; k > 0; k-- {
		a1, a2 = a[k]+2*u*a1-a2, a1
		b1, b2 = b[k]+2*u*b1-b2, b1
	}
	return a[0] + u*a1 - a2, b[0] + u*b1 - b2
}

// cellsFor is the number of cells no wider than a bandwidth.
func cellsFor(bandwidth float64) int { return max(1, int(math.Ceil(1/bandwidth))) }

// absIntegral is ∫|f| from the first to the last of the ascending points t, where ft are the values of
// f. It finds where f changes sign and takes the differences of an antiderivative there, whatever its
// constant. A dip to the other side and back between neighbouring points is looked for at the vertex
// of the parabola through three.
func absIntegral(t, ft []float64, f, antiderivative func(float64) float64) float64 {
	sum, before := 0., antiderivative(t[0])
	cut := func(r float64) {
		now := antiderivative(r)
		sum, before = sum+math.Abs(now-before), now
	}
	between := func(a, b, fa, fb float64) { cut(signChange(a, b, fa, fb, f)) }
	last := -1 // the latest point where f is not 0
	for i, x := range t {
		if ft[i] == 0 {
			continue
		}
		if last >= 0 {
			y, fx, fy := t[last], ft[i], ft[last]
			switch turned := fx > 0 != (fy > 0); {
			case turned && last < i-1:
				cut(t[i-1]) // f is 0 there
			case turned:
				between(y, x, fy, fx)
			case last == i-1:
				if v, fv, found := dip(t, ft, i, f); found {
					between(y, v, fy, fv)
					between(v, x, fv, fx)
				}
			}
		}
		last = i
	}
	cut(t[len(t)-1])
	return sum
}

// dip looks for a change of sign between t[i-1] and t[i], where f has the same sign.
func dip(t, ft []float64, i int, f func(float64) float64) (at, value float64, found bool) {
	for j := max(i-1, 1); j <= min(i, len(t)-2); j++ {
		a, b, c := ft[j-1], ft[j], ft[j+1]
		if d := t[j+1] - t[j]; b*(a-b) >= 0 && b*(c-b) >= 0 {
			if v := t[j] + d/2*(a-c)/(a-2*b+c); v > t[i-1] && v < t[i] {
				if fv := f(v); fv != 0 && fv > 0 != (b > 0) {
					return v, fv, true
				}
			}
		}
	}
	return 0, 0, false
}

// signChange finds where f changes its sign between a and b by false position (the Illinois rule), to
// 1e-9 of their distance: an integral cut there is off by the square of that.
func signChange(a, b, fa, fb float64, f func(float64) float64) float64 {
	width := 1e-9 * (b - a)
	kept := 0 // -1 if the last step kept a, +1 if it kept b
	for range 100 {
		m := (a*fb - b*fa) / (fb - fa)
		if !(m > a && m < b) {
			m = a + (b-a)/2
		}
		fm := f(m)
		if fm == 0 || m-a <= width || b-m <= width {
			return m
		}
		if fm > 0 == (fa > 0) {
			if a, fa = m, fm; kept > 0 {
				fb /= 2
			}
			kept = 1
		} else {
			if b, fb = m, fm; kept < 0 {
				fa /= 2
			}
			kept = -1
		}
	}
	return a + (b-a)/2
}

// standard normal density and distribution.
func normalDensity(x float64) float64      { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
func normalDistribution(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
