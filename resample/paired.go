package resample

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
)

// DefaultN is the number of resamples drawn where none is given, that of "Same Answer, Different
// Confidence", Appendix A.
const DefaultN = 10_000

// Options are the choices of a bootstrap.
type Options struct {
	// N is the number of resamples; 0 means [DefaultN].
	N int
	// Seed decides all draws; see [SettingSeed].
	Seed uint64
	// Method is the kind of interval; empty means [Percentile]. BCa evaluates every statistic once
	// more for each item left out.
	Method Method
	// Clusters is nil, or names the cluster of every input row (not of every item kept). Then whole
	// clusters are drawn, as many as there are, and the number of items varies from draw to draw.
	Clusters []string
	// Progress is nil, or is called now and then with the number of resamples done, never
	// concurrently.
	Progress func(done, total int)
}

// Draws are the values of every statistic of every score on the same resamples of one setting.
// They are read-only and safe for use by several goroutines.
type Draws struct {
	scores  []*metric.Prepared
	stats   []metric.Statistic
	options Options
	units   units
	// point[c] and values[c] belong to the cell c = score·len(stats) + stat. values[c][r] is NaN where
	// the statistic is undefined on resample r.
	point  []outcome
	values [][]float64
	// jackknife[c] has a value for each unit left out, see [units.without]; nil but for BCa.
	jackknife [][]float64
}

// outcome is what an evaluator returns.
type outcome struct {
	x   float64
	why measure.Reason
}

func (o outcome) float() float64 {
	if o.why != "" {
		return math.NaN()
	}
	return o.x
}

// Paired draws o.N resamples of the items and evaluates all stats of all scores on each.
//
// It is an error if there is no score or no statistic, if the scores were not prepared jointly (they
// must rest on the same rows), if an option makes no sense, or if ctx ends first.
func Paired(ctx context.Context, scores []*metric.Prepared, stats []metric.Statistic, o Options) (*Draws, error) {
	if o.N == 0 {
		o.N = DefaultN
	}
	if o.Method == "" {
		o.Method = Percentile
	}
	if err := check(scores, stats, o); err != nil {
		return nil, err
	}
	d := &Draws{scores: scores, stats: stats, options: o, units: unitsOf(scores[0], o.Clusters)}
	d.options.Clusters, d.options.Progress = nil, nil
	cells := len(scores) * len(stats)
	d.point, d.values = make([]outcome, cells), make([][]float64, cells)
	w := d.newWorker()
	for c := range d.point {
		d.point[c] = w.at(c, scores[c/len(stats)].Counts())
		d.values[c] = make([]float64, o.N)
	}
	if d.units.items == 0 {
		d.options.N = 0
		d.values = make([][]float64, cells)
		return d, nil
	}
	if err := d.inParallel(ctx, o.N, o.Progress, (*worker).resample); err != nil {
		return nil, err
	}
	if o.Method == BCa {
		return d, d.leaveOneOut(ctx)
	}
	return d, nil
}

func check(scores []*metric.Prepared, stats []metric.Statistic, o Options) error {
	switch {
	case len(scores) == 0:
		return fmt.Errorf("resample: no score given")
	case len(stats) == 0:
		return fmt.Errorf("resample: no statistic given")
	case o.N < 0:
		return fmt.Errorf("resample: %d resamples asked for", o.N)
	case !slices.Contains([]Method{Percentile, Basic, BCa}, o.Method):
		return fmt.Errorf("resample: unknown interval method %q", o.Method)
	}
	rows := scores[0].Rows()
	for _, p := range scores[1:] {
		if !slices.Equal(rows, p.Rows()) {
			return fmt.Errorf("resample: %s and %s do not rest on the same rows; prepare them with metric.PrepareJointly", scores[0].Name(), p.Name())
		}
	}
	if n := len(rows); o.Clusters != nil && n > 0 && len(o.Clusters) <= int(rows[n-1]) {
		return fmt.Errorf("resample: %d cluster names but input row %d is used; name the cluster of every input row", len(o.Clusters), rows[n-1])
	}
	return nil
}

// units are what is drawn: items, or clusters of them.
type units struct {
	items int
	n     int
	of    []int32 // unit of each item; nil if each is its own
}

func unitsOf(p *metric.Prepared, clusters []string) units {
	u := units{items: p.N(), n: p.N()}
	if clusters == nil {
		return u
	}
	number := map[string]int32{}
	u.of = make([]int32, u.items)
	for item, row := range p.Rows() {
		k, known := number[clusters[row]]
		if !known {
			k = int32(len(number))
			number[clusters[row]] = k
		}
		u.of[item] = k
	}
	u.n = len(number)
	return u
}

// worker has the scratch of one goroutine.
type worker struct {
	draws      *Draws
	evaluators []metric.Evaluator
	units      []uint32   // multiplicity of each unit
	items      []uint32   // multiplicity of each item
	atoms      [][]uint32 // multiplicity of each atom, by score
}

func (d *Draws) newWorker() *worker {
	w := &worker{draws: d, units: make([]uint32, d.units.n), items: make([]uint32, d.units.items)}
	if d.units.of == nil {
		w.items = w.units
	}
	for _, p := range d.scores {
		w.atoms = append(w.atoms, make([]uint32, p.Atoms()))
		for _, s := range d.stats {
			w.evaluators = append(w.evaluators, s.Evaluator(p))
		}
	}
	return w
}

func (w *worker) at(cell int, counts []uint32) outcome {
	x, why := w.evaluators[cell](counts)
	return outcome{x, why}
}

// resample draws resample r and evaluates everything on it.
func (w *worker) resample(r int) {
	g := generatorOf(w.draws.options.Seed, r)
	g.tally(w.units)
	for item, unit := range w.draws.units.of {
		w.items[item] = w.units[unit]
	}
	for s, p := range w.draws.scores {
		p.Collapse(w.atoms[s], w.items)
		for k := range w.draws.stats {
			cell := s*len(w.draws.stats) + k
			w.draws.values[cell][r] = w.at(cell, w.atoms[s]).float()
		}
	}
}

// chunk is how much work a goroutine takes at a time. Results do not depend on it.
const chunk = 8

// inParallel calls task for 0..n-1, each goroutine with a worker of its own.
func (d *Draws) inParallel(ctx context.Context, n int, progress func(done, total int), task func(*worker, int)) error {
	var next, done atomic.Int64
	var telling sync.Mutex
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+chunk-1)/chunk) {
		group.Go(func() {
			w := d.newWorker()
			for ctx.Err() == nil {
				from := int(next.Add(chunk)) - chunk
				if from >= n {
					return
				}
				to := min(from+chunk, n)
				for i := from; i < to && ctx.Err() == nil; i++ { // a million items may take a second
					task(w, i)
				}
				if progress != nil && ctx.Err() == nil {
					telling.Lock()
					progress(int(done.Add(int64(to-from))), n)
					telling.Unlock()
				}
			}
		})
	}
	group.Wait()
	return ctx.Err()
}
