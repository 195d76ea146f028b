package consistency

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/resample"
)

// Region is where an item lies by performance and C3, both averaged over models.
type Region string

const (
	// Mastered: high performance, high C3.
	Mastered Region = "mastered"
	// Brittle: high performance, low C3: right, but not for long. It suggests that an item was memorised.
	Brittle Region = "brittle"
	// Biased: low performance, high C3: consistently wrong.
	Biased Region = "biased"
	// Unlearned: low performance, low C3.
	Unlearned Region = "unlearned"
	// Unknown: the C3 of the item is undetermined in every model that has one, so that it is in none of the
	// four regions and in no median.
	Unknown Region = "undetermined"
)

// Regions lists them.
func Regions() []Region { return []Region{Mastered, Brittle, Biased, Unlearned, Unknown} }

// Diagnosis parts the items of benchmarks into regions (Wu, Jiang and Aragam 2026, section 5.3, Figure 4):
// performance and C3 of an item are averaged over models, and cut at the medians over the items of all
// benchmarks. A value at the median is high, unless the median is the least of all values; then it is low.
//
// Medians are relative: half of the items are high, however good or bad the models are.
type Diagnosis struct {
	// MedianPerformance and MedianC3 are the cuts. A warning "ties-at-median" gives the number of items that
	// lie on one where they are more than one in ten: the rule for them decides their region then.
	MedianPerformance measure.Value   `json:"median_performance"`
	MedianC3          measure.Value   `json:"median_c3"`
	Benchmarks        []BenchmarkPart `json:"benchmarks"`
	// Items are sorted by benchmark and item.
	Items []ItemPlace `json:"items"`
}

// BenchmarkPart is what the regions say of one benchmark. Its shares are in [0,1], with exact intervals that
// take the medians as given.
type BenchmarkPart struct {
	Benchmark string `json:"benchmark"`
	// N is the number of items placed, undetermined ones included; LeftOut those without performance or C3.
	N       int                `json:"n"`
	LeftOut []measure.Excluded `json:"left_out,omitempty"`
	Regions []RegionShare      `json:"regions"`
	// Saturation is the share of mastered items among those in the four regions: they no longer tell models
	// apart. Leakage is the share of brittle ones among those of high performance, Misconception that of
	// biased ones among those of low performance. They are indications, not proofs.
	Saturation    measure.Value `json:"saturation"`
	Leakage       measure.Value `json:"leakage"`
	Misconception measure.Value `json:"misconception"`
}

// RegionShare is how many of a benchmark's items lie in a region.
type RegionShare struct {
	Region Region        `json:"region"`
	Items  int           `json:"items"`
	Share  measure.Value `json:"share"`
}

// ItemPlace is one item with the evidence for its region.
type ItemPlace struct {
	Benchmark string `json:"benchmark"`
	Item      string `json:"item"`
	Region    Region `json:"region"`
	// Performance and C3 are means over Models; C3 over those in which it is determined, or over all where
	// it is in none. C3 is unclipped.
	Performance float64 `json:"performance"`
	C3          float64 `json:"c3"`
	// Models have performance and C3; in Undetermined of them the C3 is undetermined.
	Models       int `json:"models"`
	Undetermined int `json:"undetermined"`
}

// Diagnose places every item of the table by performance and its first score. level in (0,1) is that of the
// intervals. Rows without performance or C3 are left out; an item with none left is counted.
func Diagnose(t Table, level float64) (*Diagnosis, error) {
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("consistency: level %v is not in (0,1)", level)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	d := &Diagnosis{}
	names, rows := t.benchmarks()
	leftOut := map[string]map[string]int{}
	for _, name := range names {
		var places []ItemPlace
		places, leftOut[name] = placesOf(name, rows[name])
		d.Items = append(d.Items, places...)
	}
	performance, c3 := d.cut()
	for i := range d.Items {
		d.Items[i].Region = regionOf(d.Items[i], performance, c3)
	}
	for _, name := range names {
		d.Benchmarks = append(d.Benchmarks, d.part(name, leftOut[name], level))
	}
	return d, nil
}

// placesOf averages over models, items in order.
func placesOf(benchmark string, rows []Row) ([]ItemPlace, map[string]int) {
	type sums struct {
		performance, c3, determined float64
		n, undetermined             int
		why                         record.Missing
	}
	items := map[string]*sums{}
	for _, r := range rows {
		if items[r.Item] == nil {
			items[r.Item] = &sums{}
		}
		s := items[r.Item]
		performance, judged := r.Performance.Get()
		c3, known := r.Scores[0].Get()
		switch {
		case !judged:
			s.why = cmp.Or(s.why, reasonOf(r.Performance))
			continue
		case !known:
			s.why = cmp.Or(s.why, reasonOf(r.Scores[0]))
			continue
		}
		s.n++
		s.performance += performance
		s.c3 += c3
		if r.Undetermined {
			s.undetermined++
		} else {
			s.determined += c3
		}
	}
	var places []ItemPlace
	leftOut := map[string]int{}
	for _, item := range sortedKeys(items) {
		s := items[item]
		if s.n == 0 {
			leftOut[string(s.why)]++
			continue
		}
		p := ItemPlace{
			Benchmark: benchmark, Item: item, Models: s.n, Undetermined: s.undetermined,
			Performance: s.performance / float64(s.n), C3: s.c3 / float64(s.n),
		}
		if k := s.n - s.undetermined; k > 0 {
			p.C3 = s.determined / float64(k)
		}
		places = append(places, p)
	}
	return places, leftOut
}

// cutoff is a median with the rule for values that lie on it.
type cutoff struct {
	median   float64
	highAtIt bool
}

func (c cutoff) high(x float64) bool { return x > c.median || c.highAtIt && x == c.median }

func (d *Diagnosis) cut() (performance, c3 cutoff) {
	var ps, cs []float64
	for _, p := range d.Items {
		if p.Undetermined < p.Models {
			ps, cs = append(ps, p.Performance), append(cs, p.C3)
		}
	}
	performance, d.MedianPerformance = medianOf("median.performance", ps)
	c3, d.MedianC3 = medianOf("median.c3", cs)
	return performance, c3
}

func medianOf(id string, values []float64) (cutoff, measure.Value) {
	if len(values) == 0 {
		return cutoff{median: math.Inf(1)}, measure.Undefined(id, measure.NoItems, 0)
	}
	slices.Sort(values)
	c := cutoff{median: resample.Quantile(values, .5)}
	c.highAtIt = c.median > values[0]
	v := measure.Of(id, c.median, len(values))
	ties := 0
	for _, x := range values {
		if x == c.median {
			ties++
		}
	}
	if ties*10 > len(values) {
		rule := "low, since no value is lower"
		if c.highAtIt {
			rule = "high"
		}
		v = v.Warn("ties-at-median", "%d of %d items lie on the median and count as %s", ties, len(values), rule)
	}
	return c, v
}

func regionOf(p ItemPlace, performance, c3 cutoff) Region {
	right, stable := performance.high(p.Performance), c3.high(p.C3)
	switch {
	case p.Undetermined == p.Models:
		return Unknown
	case right && stable:
		return Mastered
	case right:
		return Brittle
	case stable:
		return Biased
	}
	return Unlearned
}

func (d *Diagnosis) part(benchmark string, leftOut map[string]int, level float64) BenchmarkPart {
	b := BenchmarkPart{Benchmark: benchmark, LeftOut: measure.Exclusions(leftOut)}
	in := map[Region]int{}
	for _, p := range d.Items {
		if p.Benchmark == benchmark {
			in[p.Region]++
			b.N++
		}
	}
	for _, r := range Regions() {
		b.Regions = append(b.Regions, RegionShare{r, in[r], metric.Proportion(in[r], b.N, level).Leaving(leftOut)})
	}
	b.Saturation = metric.Proportion(in[Mastered], b.N-in[Unknown], level)
	b.Leakage = metric.Proportion(in[Brittle], in[Brittle]+in[Mastered], level)
	b.Misconception = metric.Proportion(in[Biased], in[Biased]+in[Unlearned], level)
	return b
}

// In lists the items of a benchmark in a region, the clearest first: those farthest from both medians, each
// distance as a share of its scale, the nearer of the two counting.
func (d *Diagnosis) In(benchmark string, r Region) []ItemPlace {
	performance, _ := d.MedianPerformance.Get()
	c3, _ := d.MedianC3.Get()
	var places []ItemPlace
	for _, p := range d.Items {
		if p.Benchmark == benchmark && p.Region == r {
			places = append(places, p)
		}
	}
	margin := func(p ItemPlace) float64 { return min(abs(p.Performance-performance), abs(p.C3-c3)) }
	slices.SortStableFunc(places, func(a, b ItemPlace) int {
		return cmp.Or(cmp.Compare(margin(b), margin(a)), cmp.Compare(a.Item, b.Item))
	})
	return places
}
