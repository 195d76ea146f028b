package consistency

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/resample"
)

// Design says what a survey computes of a study.
type Design struct {
	// Sources of perturbations, Kernels and Estimators: of each the first makes the main C3, and the others are
	// compared with it one at a time.
	Sources    []string    `json:"sources"`
	Kernels    []Kernel    `json:"kernels"`
	Estimators []Estimator `json:"estimators"`
	// CosineFloor is [Options].Floor under the cosine.
	CosineFloor float64 `json:"cosine_floor"`
	// Paraphrased and SelfReport say which baselines there are beside self-consistency.
	Paraphrased bool `json:"paraphrased"`
	SelfReport  bool `json:"self_report"`
	// Bins of the calibration error; Alpha is the significance for leaks; Tolerance that of convergence, read
	// after Trials.
	Bins      int     `json:"bins"`
	Alpha     float64 `json:"alpha"`
	Tolerance float64 `json:"tolerance"`
	Trials    []int   `json:"trials"`
	// Level of all intervals. Resamples of items, and of the samples of an item; 0 makes no intervals of items
	// and no permutation tests.
	Level         float64 `json:"level"`
	Resamples     int     `json:"resamples"`
	ItemResamples int     `json:"item_resamples"`
	Seed          uint64  `json:"-"`
	// Models with what is known of their size and release, for trends.
	Models []ModelFacts `json:"models,omitempty"`
}

// ModelFacts is what trends order models by; what is not known is empty.
type ModelFacts struct {
	Model string `json:"model"`
	// Parameters in thousands of millions.
	Parameters float64 `json:"parameters,omitempty"`
	// Released is a date as [Month] reads it.
	Released string `json:"released,omitempty"`
}

func (d Design) main() variant { return variant{0, d.Kernels[0], d.Estimators[0]} }

func (d Design) options(v variant) Options {
	o := Options{Estimator: v.estimator}
	if v.kernel == Cosine {
		o.Floor = d.CosineFloor
	}
	return o
}

func (d Design) resampling(n int, model, benchmark, purpose string) Resampling {
	return Resampling{Level: d.Level, N: max(1, n), Seed: resample.SettingSeed(d.Seed, model, benchmark, "consistency."+purpose)}
}

// variant is one way to a C3.
type variant struct {
	source    int
	kernel    Kernel
	estimator Estimator
}

// variants are the main C3 and those that differ from it in one choice, each once.
func (d Design) variants() []variant {
	list := []variant{d.main()}
	add := func(v variant) {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	for s := range d.Sources {
		v := d.main()
		v.source = s
		add(v)
	}
	for _, k := range d.Kernels {
		v := d.main()
		v.kernel = k
		add(v)
	}
	for _, e := range d.Estimators {
		v := d.main()
		v.estimator = e
		add(v)
	}
	return list
}

// Answer is one judged answer of a trial.
type Answer struct {
	// Text is the answer; Form is what [Indicator] compares, such as the text in its normal form.
	Text, Form string
	// Missing says why there is no answer.
	Missing record.Missing
	// Perturbation stood before the question; empty for the question as it stands.
	Perturbation string
	// Correct is 0 or 1, or missing.
	Correct record.Number
	// Vector is the embedding of the text; nil where there is none.
	Vector []float64
}

// Answered is one item as one model answered it.
type Answered struct {
	Model, Benchmark, Item string
	Original               []Answer
	// Perturbed is by the sources of the design.
	Perturbed   [][]Answer
	Paraphrased []Answer
	// Stated is the self-report, in [0,1].
	Stated record.Number
	// Verdicts of the judge on the answers; nil where none was asked.
	Verdicts *Verdicts
}

// Scored is one item with all its values.
type Scored struct {
	Model, Benchmark, Item string
	// Performance is the mean correctness of the original samples, in [0,1].
	Performance measure.Value
	// SelfConsistency and Paraphrasing are agreements under the main kernel, ModalShare the share of the most
	// frequent original answer.
	SelfConsistency, Paraphrasing, ModalShare measure.Value
	Stated                                    record.Number
	// Variants are the C3s, the main one first.
	Variants []Variant
}

// Variant is one C3 of an item.
type Variant struct {
	Source    string
	Kernel    Kernel
	Estimator Estimator
	Result
	// P is the permutation p value of equal distributions; the zero Value where it was not asked for.
	P measure.Value
}

// Survey is what a study's trials say of consistency.
type Survey struct {
	Design Design `json:"design"`
	// States count the items of each model on each benchmark by the state of each C3.
	States []StateCount `json:"states"`
	// Evaluations against performance: with the baselines first, then over sources, kernels and estimators where
	// there are several.
	Evaluations []NamedEvaluation `json:"evaluations"`
	// Neutrality of each source on each benchmark, and Influences of the single perturbations of each source.
	Neutrality  []SourceNeutrality `json:"neutrality"`
	Influences  []SourceInfluences `json:"influences"`
	Convergence []NamedConvergence `json:"convergence"`
	Diagnosis   *Diagnosis         `json:"diagnosis"`
	Trends      []NamedTrend       `json:"trends,omitempty"`
	// How perturbations, paraphrases and verdicts were found; whoever collected them adds it.
	Sources     []SourceFacts     `json:"sources,omitempty"`
	Paraphrases []ParaphraseFacts `json:"paraphrases,omitempty"`
	Judged      []JudgeFacts      `json:"judged,omitempty"`
	// Calibrations are those that a K of Sources is from.
	Calibrations []Calibration `json:"calibrations,omitempty"`
}

// Main are the states under the first source, kernel and estimator of the design, one for each model on each
// benchmark.
func (s *Survey) Main() []StateCount {
	main := s.Design.main()
	return slices.DeleteFunc(slices.Clone(s.States), func(c StateCount) bool {
		return c.Source != s.Design.Sources[main.source] || c.Kernel != main.kernel || c.Estimator != main.estimator
	})
}

// StateCount is how far the items of one model on one benchmark have a C3.
type StateCount struct {
	Model     string    `json:"model"`
	Benchmark string    `json:"benchmark"`
	Source    string    `json:"source"`
	Kernel    Kernel    `json:"kernel"`
	Estimator Estimator `json:"estimator"`
	Items     int       `json:"items"`
	// Determined, Undetermined and Missing add up to Items; Significant of the determined ones have a permutation
	// p value below the design's Alpha, not adjusted for their number.
	Determined   int `json:"determined"`
	Undetermined int `json:"undetermined"`
	Missing      int `json:"missing"`
	Significant  int `json:"significant"`
	// Means over the items that have them: C3 unclipped and clipped, over determined items; agreements and
	// performance over all.
	C3              measure.Value `json:"c3"`
	Clipped         measure.Value `json:"c3_clipped"`
	WithinOriginal  measure.Value `json:"within_original"`
	WithinPerturbed measure.Value `json:"within_perturbed"`
	Cross           measure.Value `json:"cross"`
	Performance     measure.Value `json:"performance"`
}

// NamedEvaluation is an evaluation over one kind of choice.
type NamedEvaluation struct {
	// Over is "baselines", "sources", "kernels" or "estimators".
	Over string `json:"over"`
	*Evaluation
}

// SourceNeutrality is the neutrality of the perturbations of one source on one benchmark.
type SourceNeutrality struct {
	Source    string `json:"source"`
	Benchmark string `json:"benchmark"`
	*Neutrality
}

// SourceInfluences are the perturbations of one source that leak or mislead, and as many again that come
// nearest to it; the others are counted.
type SourceInfluences struct {
	Source string `json:"source"`
	// Perturbations is how many there are, Effects how many have each effect.
	Perturbations int            `json:"perturbations"`
	Effects       map[Effect]int `json:"effects"`
	Shown         []Influence    `json:"shown"`
}

// NamedConvergence is how the main C3 of a model settles on a benchmark.
type NamedConvergence struct {
	Model     string `json:"model"`
	Benchmark string `json:"benchmark"`
	Convergence
}

// NamedTrend is a value over models.
type NamedTrend struct {
	// Value is "mean c3", or the id of a metric of the C3; By is "release" or "parameters".
	Value     string `json:"value"`
	By        string `json:"by"`
	Benchmark string `json:"benchmark"`
	Trend
}

// Conduct computes a survey and the values of every item, in the order of the list. Errors: a design or answers
// that contradict themselves, or ctx ending first.
func Conduct(ctx context.Context, d Design, list []Answered) (*Survey, []Scored, error) {
	if len(d.Sources) == 0 || len(d.Kernels) == 0 || len(d.Estimators) == 0 {
		return nil, nil, fmt.Errorf("consistency: a design without source, kernel or estimator")
	}
	c := &conduct{Design: d, list: list, out: Survey{Design: d}}
	for _, step := range []func(context.Context) error{c.items, c.evaluate, c.checks, c.converge, c.diagnose, c.trends} {
		if err := step(ctx); err != nil {
			return nil, nil, err
		}
	}
	return &c.out, c.scored, nil
}

// conduct is the work on one survey.
type conduct struct {
	Design
	list   []Answered
	scored []Scored
	// mains are the main comparisons of the list.
	mains []*Comparison
	out   Survey
}

func (c *conduct) items(ctx context.Context) error {
	for _, a := range c.list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(a.Perturbed) != len(c.Sources) {
			return fmt.Errorf("consistency: item %q of %q: answers of %d sources, the design has %d", a.Item, a.Benchmark, len(a.Perturbed), len(c.Sources))
		}
		s, main, err := c.item(a)
		if err != nil {
			return fmt.Errorf("item %s of %s, model %s: %w", a.Item, a.Benchmark, a.Model, err)
		}
		c.scored, c.mains = append(c.scored, s), append(c.mains, main)
	}
	c.states()
	return nil
}

// item scores one item.
func (c *conduct) item(a Answered) (Scored, *Comparison, error) {
	s := Scored{Model: a.Model, Benchmark: a.Benchmark, Item: a.Item, Performance: performance(a.Original), Stated: a.Stated, ModalShare: ModalShare(samplesOf(a.Original))}
	comparisons := map[variant]*Comparison{}
	var main *Comparison
	for i, v := range c.variants() {
		key := variant{source: v.source, kernel: v.kernel}
		if comparisons[key] == nil {
			compared, err := compare(v.kernel, a.Original, a.Perturbed[v.source], a.Verdicts)
			if err != nil {
				return Scored{}, nil, err
			}
			comparisons[key] = compared
		}
		one, err := c.variant(a, v, comparisons[key], i == 0)
		if err != nil {
			return Scored{}, nil, err
		}
		s.Variants = append(s.Variants, one)
	}
	main = comparisons[variant{source: 0, kernel: c.Kernels[0]}]
	var err error
	if s.SelfConsistency, err = main.Agreement("self-consistency", Original); err != nil {
		return Scored{}, nil, err
	}
	paraphrased, err := compare(c.Kernels[0], a.Paraphrased, nil, a.Verdicts)
	if err != nil {
		return Scored{}, nil, err
	}
	s.Paraphrasing, err = paraphrased.Agreement("paraphrasing-consistency", Original)
	return s, main, err
}

func (c *conduct) variant(a Answered, v variant, compared *Comparison, main bool) (Variant, error) {
	out := Variant{Source: c.Sources[v.source], Kernel: v.kernel, Estimator: v.estimator}
	o := c.options(v)
	var err error
	if out.Result, err = compared.C3(o); err != nil || c.ItemResamples == 0 || !out.C3.Defined() {
		return out, err
	}
	r := c.resampling(c.ItemResamples, a.Model, a.Benchmark, "item."+a.Item)
	with, err := compared.Bootstrap(o, r)
	if err != nil {
		return out, err
	}
	out.C3.Interval = with.Interval
	out.C3.Warnings = with.Warnings
	if main || v.estimator == c.Estimators[0] {
		out.P, err = compared.PermutationP(r)
	}
	return out, err
}

// compare compares answers under a kernel.
func compare(k Kernel, original, perturbed []Answer, verdicts *Verdicts) (*Comparison, error) {
	switch k {
	case Indicator:
		return CompareAnswers(formsOf(original), formsOf(perturbed)), nil
	case Cosine:
		return CompareEmbeddings(vectorsIn(original), vectorsIn(perturbed))
	case Equivalent, Clustered:
		if verdicts == nil {
			verdicts = &Verdicts{}
		}
		return CompareJudged(samplesOf(original), samplesOf(perturbed), verdicts), nil
	}
	return nil, fmt.Errorf("consistency: unknown kernel %q", k)
}

func samplesOf(list []Answer) []Sample {
	samples := make([]Sample, len(list))
	for i, a := range list {
		samples[i] = Sample{a.Text, a.Missing}
	}
	return samples
}

func formsOf(list []Answer) []Sample {
	samples := make([]Sample, len(list))
	for i, a := range list {
		samples[i] = Sample{a.Form, a.Missing}
	}
	return samples
}

func vectorsIn(list []Answer) [][]float64 {
	rows := make([][]float64, len(list))
	for i, a := range list {
		if a.Missing == record.Present {
			rows[i] = a.Vector
		}
	}
	return rows
}

// performance is the mean correctness of the judged answers (rule: missing is never wrong, and counted).
func performance(list []Answer) measure.Value {
	sum, n, leftOut := 0., 0, map[string]int{}
	for _, a := range list {
		x, ok := a.Correct.Get()
		if !ok {
			leftOut[string(reasonOf(a.Correct))]++
			continue
		}
		sum, n = sum+x, n+1
	}
	if n == 0 {
		return measure.Undefined("performance", measure.NoItems, 0).Leaving(leftOut)
	}
	return measure.Of("performance", sum/float64(n), n).Leaving(leftOut)
}

// numberOf is a value as a number with its reason.
func numberOf(v measure.Value) record.Number {
	if x, ok := v.Get(); ok {
		return record.Known(x)
	}
	if v.Reason() == "" {
		return record.Absent("not asked for")
	}
	return record.Absent(record.Missing(v.Reason()))
}

// settings are the numbers of the items of each model on each benchmark, in the order of the list.
func (c *conduct) settings() (keys [][2]string, at map[[2]string][]int) {
	at = map[[2]string][]int{}
	for i, s := range c.scored {
		key := [2]string{s.Model, s.Benchmark}
		if at[key] == nil {
			keys = append(keys, key)
		}
		at[key] = append(at[key], i)
	}
	return keys, at
}

func (c *conduct) states() {
	keys, at := c.settings()
	for _, key := range keys {
		for v, of := range c.variants() {
			s := StateCount{Model: key[0], Benchmark: key[1], Source: c.Sources[of.source], Kernel: of.kernel, Estimator: of.estimator}
			m := means{resampling: c.resampling(c.Resamples, key[0], key[1], "means"), values: map[string][]float64{}, leftOut: map[string]map[string]int{}}
			for _, i := range at[key] {
				c.count(&s, &m, c.scored[i], v)
			}
			s.C3, s.Clipped = m.of("c3"), m.of("c3-clipped")
			s.WithinOriginal, s.WithinPerturbed, s.Cross, s.Performance = m.of("within-original"), m.of("within-perturbed"), m.of("cross"), m.of("performance")
			c.out.States = append(c.out.States, s)
		}
	}
}

func (c *conduct) count(s *StateCount, m *means, item Scored, v int) {
	r := item.Variants[v]
	s.Items++
	switch r.State {
	case Determined:
		s.Determined++
		if p, ok := r.P.Get(); ok && p < c.Alpha {
			s.Significant++
		}
	case Undetermined:
		s.Undetermined++
	default:
		s.Missing++
	}
	if r.State == Undetermined {
		m.leave("c3", string(Undetermined))
		m.leave("c3-clipped", string(Undetermined))
	} else {
		m.add("c3", r.C3)
		m.add("c3-clipped", r.Clipped)
	}
	m.add("within-original", r.Original)
	m.add("within-perturbed", r.Perturbed)
	m.add("cross", r.Cross)
	m.add("performance", item.Performance)
}

// means gathers values by name.
type means struct {
	resampling Resampling
	values     map[string][]float64
	leftOut    map[string]map[string]int
}

func (m *means) add(name string, v measure.Value) {
	if x, ok := v.Get(); ok {
		m.values[name] = append(m.values[name], x)
		return
	}
	m.leave(name, string(v.Reason()))
}

func (m *means) leave(name, why string) { m.leftOut[name] = merge(m.leftOut[name], why, 1) }

func (m *means) of(name string) measure.Value {
	return meanOfItems("mean."+name, m.values[name], m.resampling).Leaving(m.leftOut[name])
}

// scoreColumn is a named score with its value of an item.
type scoreColumn struct {
	Score
	of func(Scored) record.Number
}

func (c *conduct) c3Column(name string, v int) scoreColumn {
	return scoreColumn{Score{name, Clipped}, func(s Scored) record.Number { return numberOf(s.Variants[v].C3) }}
}

// table joins columns; the state is that of the first.
func (c *conduct) table(columns []scoreColumn) Table {
	var t Table
	for _, col := range columns {
		t.Scores = append(t.Scores, col.Score)
	}
	for _, s := range c.scored {
		r := Row{Model: s.Model, Benchmark: s.Benchmark, Item: s.Item, Performance: numberOf(s.Performance), Undetermined: s.Variants[0].State == Undetermined}
		for _, col := range columns {
			r.Scores = append(r.Scores, col.of(s))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func (c *conduct) baselines() []scoreColumn {
	list := []scoreColumn{
		c.c3Column("c3", 0),
		{Score{"self-consistency", Clipped}, func(s Scored) record.Number { return numberOf(s.SelfConsistency) }},
	}
	if c.Paraphrased {
		list = append(list, scoreColumn{Score{"paraphrasing", Clipped}, func(s Scored) record.Number { return numberOf(s.Paraphrasing) }})
	}
	if c.SelfReport {
		list = append(list, scoreColumn{Score{"self-report", AsIs}, func(s Scored) record.Number { return s.Stated }})
	}
	return list
}

func (c *conduct) evaluate(ctx context.Context) error {
	add := func(over string, columns []scoreColumn) error {
		e, err := Evaluate(ctx, c.table(columns), EvaluationOptions{Bins: c.Bins, Resampling: Resampling{Level: c.Level, N: max(1, c.Resamples), Seed: c.Seed}})
		if err == nil {
			c.out.Evaluations = append(c.out.Evaluations, NamedEvaluation{over, e})
		}
		return err
	}
	if err := add("baselines", c.baselines()); err != nil {
		return err
	}
	var sources, kernels, estimators []scoreColumn
	main := c.main()
	for i, v := range c.variants() {
		if v.kernel == main.kernel && v.estimator == main.estimator {
			sources = append(sources, c.c3Column("c3, "+c.Sources[v.source], i))
		}
		if v.source == main.source && v.estimator == main.estimator {
			kernels = append(kernels, c.c3Column("c3, "+string(v.kernel), i))
		}
		if v.source == main.source && v.kernel == main.kernel {
			estimators = append(estimators, c.c3Column("c3, "+string(v.estimator), i))
		}
	}
	// Tables 8 and 9 have the baselines beside the C3s; those of another kernel would be of another kernel too.
	for _, one := range []struct {
		over            string
		columns, beside []scoreColumn
	}{{"sources", sources, c.baselines()[1:]}, {"kernels", kernels, nil}, {"estimators", estimators, c.baselines()[1:]}} {
		if len(one.columns) < 2 {
			continue
		}
		if err := add(one.over, append(one.columns, one.beside...)); err != nil {
			return err
		}
	}
	return nil
}

// trialsOf are the judged answers to the items of a benchmark, all benchmarks where it is empty, with and
// without the perturbations of a source.
func (c *conduct) trialsOf(source int, benchmark string) []Trial {
	var list []Trial
	for _, a := range c.list {
		if benchmark != "" && a.Benchmark != benchmark {
			continue
		}
		for _, of := range [][]Answer{a.Original, a.Perturbed[source]} {
			for _, x := range of {
				list = append(list, Trial{Model: a.Model, Item: a.Benchmark + "/" + a.Item, Perturbation: x.Perturbation, Correct: x.Correct})
			}
		}
	}
	return list
}

// mostShown bounds the perturbations of a source that a survey lists although nothing is shown of them.
const mostShown = 10

func (c *conduct) checks(context.Context) error {
	var benchmarks []string
	for _, a := range c.list {
		if !slices.Contains(benchmarks, a.Benchmark) {
			benchmarks = append(benchmarks, a.Benchmark)
		}
	}
	for s, source := range c.Sources {
		for _, b := range benchmarks {
			n, err := CheckNeutrality(c.trialsOf(s, b), c.resampling(c.Resamples, "", b, "neutrality."+source))
			if err != nil {
				return err
			}
			c.out.Neutrality = append(c.out.Neutrality, SourceNeutrality{source, b, n})
		}
		found, err := FindLeaks(c.trialsOf(s, ""), c.Alpha)
		if err != nil {
			return err
		}
		c.out.Influences = append(c.out.Influences, shownOf(source, found))
	}
	return nil
}

// shownOf keeps what leaks or misleads and the next nearest to it.
func shownOf(source string, found []Influence) SourceInfluences {
	out := SourceInfluences{Source: source, Perturbations: len(found), Effects: map[Effect]int{}}
	nearest := slices.Clone(found)
	least := func(in Influence) float64 {
		x, _ := in.HelpsP.Get()
		y, _ := in.HurtsP.Get()
		return min(x, y)
	}
	slices.SortStableFunc(nearest, func(a, b Influence) int { return cmp.Compare(least(a), least(b)) })
	other := 0
	for _, in := range nearest {
		out.Effects[in.Effect]++
		if in.Effect != Leaks && in.Effect != Misleads {
			if other++; other > mostShown {
				continue
			}
		}
		out.Shown = append(out.Shown, in)
	}
	return out
}

func (c *conduct) converge(context.Context) error {
	if len(c.Trials) < 2 {
		return nil
	}
	keys, at := c.settings()
	for _, key := range keys {
		var items []*Comparison
		for _, i := range at[key] {
			items = append(items, c.mains[i])
		}
		found, err := ConvergeC3(items, c.options(c.main()), c.Trials, c.Tolerance, c.resampling(max(1, c.Resamples), key[0], key[1], "convergence"))
		if err != nil {
			return err
		}
		c.out.Convergence = append(c.out.Convergence, NamedConvergence{key[0], key[1], found})
	}
	return nil
}

func (c *conduct) diagnose(context.Context) (err error) {
	c.out.Diagnosis, err = Diagnose(c.table([]scoreColumn{c.c3Column("c3", 0)}), c.Level)
	return err
}

// trends order models by release and by size, where the design knows them.
func (c *conduct) trends(context.Context) error {
	for _, by := range []struct {
		name string
		at   func(ModelFacts) (float64, bool, error)
	}{
		{"release", func(m ModelFacts) (float64, bool, error) {
			if m.Released == "" {
				return 0, false, nil
			}
			x, err := Month(m.Released)
			return x, true, err
		}},
		{"parameters", func(m ModelFacts) (float64, bool, error) { return m.Parameters, m.Parameters > 0, nil }},
	} {
		places := map[string]float64{}
		for _, m := range c.Models {
			x, known, err := by.at(m)
			if err != nil {
				return err
			}
			if known {
				places[m.Model] = x
			}
		}
		if len(places) < 2 {
			continue
		}
		if err := c.trendsBy(by.name, places); err != nil {
			return err
		}
	}
	return nil
}

func (c *conduct) trendsBy(by string, places map[string]float64) error {
	points := map[[2]string][]TrendPoint{}
	var keys [][2]string
	put := func(value, benchmark, model string, v measure.Value) {
		at, known := places[model]
		if !known {
			return
		}
		key := [2]string{value, benchmark}
		if points[key] == nil {
			keys = append(keys, key)
		}
		points[key] = append(points[key], TrendPoint{Model: model, At: at, Value: v})
	}
	for _, s := range c.out.Main() {
		put("mean c3", s.Benchmark, s.Model, s.C3)
	}
	for _, b := range c.out.Evaluations[0].PerModel {
		for _, row := range b.Metrics[:2] { // the calibration error and AUROC
			put(row.Metric, b.Benchmark, b.Model, row.Values[0])
		}
	}
	for _, key := range keys {
		t, err := TrendOf(points[key], c.resampling(max(1, c.Resamples), "", key[1], "trend."+by+"."+key[0]))
		if err != nil {
			return err
		}
		c.out.Trends = append(c.out.Trends, NamedTrend{key[0], by, key[1], t})
	}
	return nil
}
