package validation

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/bayes"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/resample"
)

// Options are the choices of a validation. Level and Threshold are needed; [Defaults] has the usual ones.
type Options struct {
	// Reference is a person's name, [MajorityReference] or [PosteriorReference]; empty means the first person.
	Reference string
	Unsure    UnsureRule
	// Resamples of the bootstrap over items; 0 makes no intervals.
	Resamples int
	// Level of the intervals, in (0,1).
	Level float64
	Seed  uint64
	// Draws of each chain of the Bayesian models; 0 fits none.
	Draws int
	// Sampler of the judge model; empty means [bayes.NUTS].
	Sampler bayes.Sampler
	// Priors of the judge model, by their name among [bayes.SensiblePriors]; empty means the first, the paper's.
	Priors string
	// PriorSensitivity fits all judges together under each of [bayes.SensiblePriors], too.
	PriorSensitivity bool
	// Subsampling of ranks; no Runs, none.
	Subsampling Subsampling
	// Threshold of confidence at which error trade-offs are counted, in [0,1].
	Threshold float64
	// Progress is nil, or is told how far which part is.
	Progress func(part string, done, total int)

	fitting *fitProgress
}

// Defaults are the choices of the paper where it has them. Ours are the level, 2,000 resamples, and
// 1,000 draws of each chain.
func Defaults() Options {
	return Options{Unsure: UnsureIncorrect, Resamples: 2000, Level: .95, Seed: 1, Draws: 1000, Subsampling: PaperSubsampling(), Threshold: .5}
}

func (o Options) check() error {
	switch {
	case o.Resamples < 0:
		return fmt.Errorf("validation: %d resamples", o.Resamples)
	case !(o.Level > 0 && o.Level < 1):
		return fmt.Errorf("validation: level %v is not between 0 and 1", o.Level)
	case o.Draws < 0 || o.Draws > 0 && o.Draws < 4:
		return fmt.Errorf("validation: %d draws of each chain; 0 fits nothing, and a fit needs 4 or more", o.Draws)
	case o.Subsampling.Runs < 0 || o.Subsampling.Runs > 0 && o.Subsampling.Size < 2:
		return fmt.Errorf("validation: %d subsamples of %d items", o.Subsampling.Runs, o.Subsampling.Size)
	case !(o.Subsampling.Tolerance >= 0):
		return fmt.Errorf("validation: tolerance %v of ranks", o.Subsampling.Tolerance)
	case !(o.Threshold >= 0 && o.Threshold <= 1):
		return fmt.Errorf("validation: threshold %v is not in [0,1]", o.Threshold)
	}
	if o.priors().Name == "" {
		return fmt.Errorf("validation: there are no priors %q", o.Priors)
	}
	if s := o.judgeSampler(); s != bayes.NUTS && s != bayes.Gibbs {
		return fmt.Errorf("validation: unknown sampler %q", s)
	}
	return o.Unsure.check()
}

// priors are those of the options; without a name if there are none.
func (o Options) priors() bayes.NamedPriors {
	for _, p := range bayes.SensiblePriors() {
		if o.Priors == "" || o.Priors == p.Name {
			return p
		}
	}
	return bayes.NamedPriors{}
}

func (o Options) judgeSampler() bayes.Sampler {
	if o.Sampler == "" {
		return bayes.NUTS
	}
	return o.Sampler
}

// seed of one use of chance.
func (o Options) seed(purpose string) uint64 {
	return resample.SettingSeed(o.Seed, "", "", "validation "+purpose)
}

func (o Options) agreementInterval() metric.AgreementInterval {
	return metric.AgreementInterval{Level: o.Level, Resamples: o.Resamples, Seed: o.seed("alpha")}
}

// sampler are the options of a fit.
func (o Options) sampler(purpose string) bayes.Options {
	sampler := bayes.Options{Seed: o.seed(purpose), Draws: o.Draws, Warmup: max(o.Draws/2, 200)}
	if o.fitting != nil && o.fitting.tell != nil {
		sampler.Progress = o.fitting.step
	}
	return sampler
}

// fitProgress tells how far several fits are, one after the other, in draws of all.
type fitProgress struct {
	tell func(done, total int)
	fits int
	// finished fits, and how far the one at work was last, of how many draws each has.
	finished, last, each int
}

func (p *fitProgress) step(done, total int) {
	if done < p.last {
		p.finished++
	}
	p.last, p.each = done, total
	p.tell(min(p.finished*total+done, p.fits*total), p.fits*total)
}

func (p *fitProgress) end() {
	if p.tell != nil && p.each > 0 {
		p.tell(p.fits*p.each, p.fits*p.each)
	}
}

func (o Options) tell(part string) func(done, total int) {
	if o.Progress == nil {
		return nil
	}
	return func(done, total int) { o.Progress(part, done, total) }
}

// InputError is something that a table lacks.
type InputError struct{ What string }

func (e *InputError) Error() string { return "validation: " + e.What }

// BadInput makes the command exit with 2.
func (e *InputError) BadInput() bool { return true }

// Result is all that a validation says.
type Result struct {
	// N is the number of items of the table, Labelled of those that the reference has a label of, and
	// Positives of those that count as correct (a half where unsure counts half).
	N         int     `json:"n"`
	Labelled  int     `json:"labelled"`
	Positives float64 `json:"positives"`
	// Reference is what judges are compared with, Unsure what an unsure label counts as, and Unsures how
	// many labels of people are unsure.
	Reference string     `json:"reference"`
	Unsure    UnsureRule `json:"unsure"`
	Unsures   int        `json:"unsure_labels"`

	Quantifiers []QuantifierInfo `json:"quantifiers"`
	Agreement   Agreement        `json:"agreement"`
	Judges      []JudgeResult    `json:"judges"`
	// Matrices has AUROC first, then risk at coverage .8, coverage at risk .2, and, where there are
	// confidences, Brier.
	Matrices []Matrix `json:"matrices"`
	// Places are Tables 2 and 3.
	Places   []Place    `json:"places"`
	Likeness []Likeness `json:"likeness"`
	// Effects decompose what each judge does to each quantifier.
	Effects    []Effect     `json:"effects"`
	Subsamples []Subsampled `json:"subsamples"`
	// Side has the AUROCs under each person as the reference; empty with one person.
	Side []SideBySide `json:"side_by_side,omitempty"`
	// Fits and Confidences are nil where none were asked for.
	Fits        *Fits        `json:"fits,omitempty"`
	Confidences *Confidences `json:"confidences,omitempty"`
	Tradeoffs   []Tradeoff   `json:"tradeoffs"`
	// Outcomes has for each judge what became of each item.
	Outcomes       [][]Outcome    `json:"outcomes"`
	Recommendation Recommendation `json:"recommendation"`
	// Level is that of intervals, Seed the one given.
	Level       float64     `json:"level"`
	Seed        uint64      `json:"seed"`
	Subsampling Subsampling `json:"subsampling"`
}

// QuantifierInfo is a quantifier and which of its ends is sure.
type QuantifierInfo struct {
	Name        string `json:"name"`
	Orientation string `json:"orientation"`
}

// JudgeResult is one judge against the reference.
type JudgeResult struct {
	Name      string    `json:"name"`
	Family    string    `json:"family,omitempty"`
	Threshold *float64  `json:"threshold,omitempty"`
	Confusion Confusion `json:"confusion"`
	// Positives is how many items it accepts of those it is compared on.
	Positives float64       `json:"positives"`
	F1        measure.Value `json:"f1"`
	Accuracy  measure.Value `json:"accuracy"`
	Group     Group         `json:"group"`
	// Posterior is nil without fits.
	Posterior *Posterior `json:"posterior,omitempty"`
}

// Effect is the decomposition of what one judge does to the AUROC of one quantifier.
type Effect struct {
	Judge      string `json:"judge"`
	Quantifier string `json:"quantifier"`
	// Decomposition is nil where Reason says why there is none.
	Decomposition *Decomposition `json:"decomposition,omitempty"`
	Reason        measure.Reason `json:"reason,omitempty"`
}

// SideBySide is the evaluation with one person as the reference, Figures 13 and 14.
type SideBySide struct {
	Person   string        `json:"person"`
	AUROC    Matrix        `json:"auroc"`
	Judges   []JudgeResult `json:"judges"`
	Places   []Place       `json:"places"`
	Likeness []Likeness    `json:"likeness"`
}

// Validate computes everything from a table. It is an error if the table or an option makes no sense, if
// a fit is one, or if ctx ends first.
func Validate(ctx context.Context, t *Table, o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	ref, err := referenceOf(ctx, t, o)
	if err != nil {
		return nil, err
	}
	r := &Result{N: len(t.Items), Reference: ref.name, Unsure: o.Unsure, Level: o.Level, Seed: o.Seed, Subsampling: o.Subsampling}
	r.count(t, ref)
	if r.Labelled == 0 {
		return nil, &InputError{fmt.Sprintf("%s has no label that counts on any of %d items, with unsure as %s; compare with another reference", ref.name, r.N, o.Unsure)}
	}
	if r.Agreement, err = Agree(t.Items, t.People, o.Unsure, o.agreementInterval()); err != nil {
		return nil, err
	}
	if o.Draws > 0 {
		if err := r.fit(ctx, t, o); err != nil {
			return nil, err
		}
	}
	r.Judges = judgeResults(t, ref, r.Fits)
	e := evaluationOf(t, ref, o)
	e.stats = []metric.Statistic{metric.AUROC(), metric.RiskAtCoverage(.8), metric.CoverageAtRisk(.2)}
	if r.Matrices, err = e.matrices(ctx, o.tell("judges")); err != nil {
		return nil, err
	}
	auroc := r.Matrices[0]
	r.Places = places(auroc, groupsOf(r.Judges))
	if r.Likeness, err = likenesses(auroc); err != nil {
		return nil, err
	}
	if r.Effects, err = effects(e); err != nil {
		return nil, err
	}
	r.Subsamples = e.subsampled(o.Subsampling)
	if err := r.onConfidences(ctx, e, o); err != nil {
		return nil, err
	}
	if r.Side, err = sideBySide(ctx, t, o); err != nil {
		return nil, err
	}
	r.Recommendation = recommend(auroc, r.Judges)
	return r, nil
}

func (r *Result) count(t *Table, ref reference) {
	for _, w := range ref.weights {
		if !math.IsNaN(w) {
			r.Labelled++
			r.Positives += w
		}
	}
	for _, p := range t.People {
		for _, l := range p.Labels {
			if l == Unsure {
				r.Unsures++
			}
		}
	}
	for _, q := range t.Quantifiers {
		r.Quantifiers = append(r.Quantifiers, QuantifierInfo{q.Name, q.Orientation.String()})
	}
}

func (r *Result) fit(ctx context.Context, t *Table, o Options) (err error) {
	tell := o.tell("draws of the models")
	progress := fitProgress{tell: tell, fits: len(t.Judges) + len(t.People) + 3} // each alone, one per family, all, confidences
	if o.PriorSensitivity {
		progress.fits += len(bayes.SensiblePriors())
	}
	o.fitting = &progress
	defer progress.end()
	if r.Confidences, err = confidencesOf(ctx, t, o); err != nil {
		return err
	}
	r.Fits, err = fit(ctx, t, o)
	return err
}

func evaluationOf(t *Table, ref reference, o Options) evaluation {
	e := evaluation{reference: ref, options: o}
	for _, q := range t.Quantifiers {
		e.scores = append(e.scores, metric.Score{Name: q.Name, Values: q.Scores, Orientation: q.Orientation})
	}
	for _, j := range t.Judges {
		e.judges = append(e.judges, labelled{j.Name, UnsureMissing.weights(j.Labels)})
	}
	return e
}

func judgeResults(t *Table, ref reference, fits *Fits) []JudgeResult {
	var list []JudgeResult
	for _, j := range t.Judges {
		c := confusionOf(ref.weights, UnsureMissing.weights(j.Labels))
		list = append(list, JudgeResult{
			Name: j.Name, Family: j.Family, Threshold: j.Threshold, Confusion: c, Positives: c.Positives(),
			F1: c.F1(), Accuracy: c.Accuracy(), Group: GroupOf(c.F1()), Posterior: fits.of(j.Name),
		})
	}
	return list
}

func groupsOf(judges []JudgeResult) []Group {
	list := make([]Group, len(judges))
	for i, j := range judges {
		list[i] = j.Group
	}
	return list
}

func effects(e evaluation) ([]Effect, error) {
	complete := e.complete()
	var list []Effect
	for _, j := range e.judges {
		for _, s := range e.scores {
			confidence := Quantifier{Scores: s.Values, Orientation: s.Orientation}.confidences()
			for i, has := range complete {
				if !has {
					confidence[i] = math.NaN()
				}
			}
			d, why, err := Decompose(confidence, e.reference.weights, j.weights)
			if err != nil {
				return nil, err
			}
			effect := Effect{Judge: j.name, Quantifier: s.Name, Reason: why}
			if why == "" {
				effect.Decomposition = &d
			}
			list = append(list, effect)
		}
	}
	return list, nil
}

// complete marks the items that have every score.
func (e evaluation) complete() []bool {
	has := make([]bool, len(e.reference.weights))
	for i := range has {
		has[i] = true
		for _, s := range e.scores {
			has[i] = has[i] && !math.IsNaN(s.Values[i])
		}
	}
	return has
}

// onConfidences adds what needs confidences on one scale: Brier and the trade-offs.
func (r *Result) onConfidences(ctx context.Context, e evaluation, o Options) error {
	for _, j := range e.judges {
		r.Outcomes = append(r.Outcomes, outcomesOf(e.reference.weights, j.weights))
	}
	if r.Confidences == nil {
		return nil
	}
	e.scores = slices.Clone(e.scores)
	for q := range e.scores {
		e.scores[q].Values, e.scores[q].Orientation = r.Confidences.numbers(q), measure.Confidence
	}
	e.stats = []metric.Statistic{metric.Brier()}
	brier, err := e.matrices(ctx, nil)
	if err != nil {
		return err
	}
	r.Matrices = append(r.Matrices, brier...)
	for j, judge := range e.judges {
		for q, s := range e.scores {
			t := TradeoffOf(s.Values, r.Outcomes[j], o.Threshold)
			t.Judge, t.Quantifier = judge.name, r.Quantifiers[q].Name
			r.Tradeoffs = append(r.Tradeoffs, t)
		}
	}
	return nil
}

// sideBySide repeats the evaluation with each person as the reference, without intervals.
func sideBySide(ctx context.Context, t *Table, o Options) ([]SideBySide, error) {
	if len(t.People) < 2 {
		return nil, nil
	}
	o.Resamples = 0
	var list []SideBySide
	for _, p := range t.People {
		ref := personReference(p, o.Unsure)
		e := evaluationOf(t, ref, o)
		e.stats = []metric.Statistic{metric.AUROC()}
		m, err := e.matrices(ctx, nil)
		if err != nil {
			return nil, err
		}
		s := SideBySide{Person: p.Name, AUROC: m[0], Judges: judgeResults(t, ref, nil)}
		s.Places = places(m[0], groupsOf(s.Judges))
		if s.Likeness, err = likenesses(m[0]); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}
