package protocol

import (
	"context"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/resample"
)

// Selection compares the token scores of two answers to the same question, written by the same model
// under two prompts: each tends to score higher where greedy decoding chose it ("Same Answer, Different
// Confidence", section 4.2 and appendix D, Selection).
type Selection struct {
	// First and Second name the prompts.
	First  string `json:"first"`
	Second string `json:"second"`
	// Matched is the number of questions that have both answers with a score in every context; Differ
	// the share of them in which the texts differ.
	Matched int           `json:"matched"`
	Differ  measure.Value `json:"differ"`
	// Contexts holds mean score differences, first minus second.
	Contexts []SelectionContext `json:"contexts"`
	// Contrast is the difference of Differing between the last context and the one that the second
	// answer's prompt belongs to; nil without those contexts.
	Contrast *measure.Value `json:"contrast,omitempty"`
}

// SelectionContext is one context of a [Selection].
type SelectionContext struct {
	Name string `json:"name"`
	// All is over all matched questions, Differing over those whose answers differ.
	All       measure.Value `json:"all"`
	Differing measure.Value `json:"differing"`
}

// selected keeps the quantities behind a Selection.
type selected struct {
	*Selection
	differ         resample.Quantity
	all, differing []resample.Quantity
	contrast       *resample.Quantity
}

// pair is two answers to one question with their scores in each context.
type pair struct {
	first, second []float64
	differ        bool
}

// selectionContexts are those in which the two answers are compared, as far as both were scored there.
func selectionContexts() []string { return []string{"bare", "answer-only", "guess-slot"} }

func (r *Records) selection(ctx context.Context, first, second, aggregation string, same func(a, b string) bool, o Options) (*selected, error) {
	contexts := r.scoredInBoth(first, second, aggregation)
	pairs := r.pairs(first, second, aggregation, contexts, same)
	s := &selected{Selection: &Selection{First: first, Second: second, Matched: len(pairs)}}
	var differing []pair
	for _, p := range pairs {
		if p.differ {
			differing = append(differing, p)
		}
	}
	s.Differ = metric.Proportion(len(differing), len(pairs), o.Level)
	s.differ = resample.Point(s.Differ)
	all, err := r.meansOf(ctx, pairs, len(contexts), "selection", o)
	if err != nil {
		return nil, err
	}
	some, err := r.meansOf(ctx, differing, len(contexts), "selection differing", o)
	if err != nil {
		return nil, err
	}
	for k, name := range contexts {
		a, d := all.between(k), some.between(k)
		s.all, s.differing = append(s.all, a), append(s.differing, d)
		s.Contexts = append(s.Contexts, SelectionContext{name, a.Value("selection.all", o.Level), d.Value("selection.differing", o.Level)})
	}
	if here, there := indexOf(contexts, "guess-slot"), indexOf(contexts, "answer-only"); here >= 0 && there >= 0 {
		q := s.differing[here].Minus(s.differing[there])
		v := q.Value("selection.contrast", o.Level)
		s.contrast, s.Contrast = &q, &v
	}
	return s, nil
}

// scoredInBoth lists the selection contexts that both sets of answers have scores in.
func (r *Records) scoredInBoth(first, second, aggregation string) []string {
	var list []string
	for _, context := range selectionContexts() {
		if r.scored(first, context, aggregation) && r.scored(second, context, aggregation) {
			list = append(list, context)
		}
	}
	return list
}

func (r *Records) scored(prompt, context, aggregation string) bool {
	for _, i := range r.written(prompt) {
		if _, ok := r.token(i, context, aggregation).Get(); ok {
			return true
		}
	}
	return false
}

func (r *Records) pairs(first, second, aggregation string, contexts []string, same func(a, b string) bool) []pair {
	var list []pair
	for _, i := range r.written(first) {
		k, ok := r.of(r.answers[i].ID.Item, record.Origin{Source: record.Generated, Prompt: second})
		if !ok {
			continue
		}
		p := pair{differ: !same(r.answers[i].Text, r.answers[k].Text)}
		complete := true
		for _, context := range contexts {
			x, here := r.token(i, context, aggregation).Get()
			y, there := r.token(k, context, aggregation).Get()
			complete = complete && here && there
			p.first, p.second = append(p.first, x), append(p.second, y)
		}
		if complete && len(contexts) > 0 {
			list = append(list, p)
		}
	}
	return list
}

// pairMeans are the means of both answers' scores in each context, resampled together: score 2k is the
// first answer's in context k, 2k+1 the second's.
type pairMeans struct{ *evaluation }

func (m pairMeans) between(k int) resample.Quantity {
	return m.quantity(resample.Term{Score: 2 * k, Weight: 1}, resample.Term{Score: 2*k + 1, Weight: -1})
}

func (r *Records) meansOf(ctx context.Context, pairs []pair, contexts int, purpose string, o Options) (pairMeans, error) {
	if contexts == 0 {
		return pairMeans{}, nil
	}
	scores := make([]metric.Score, 0, 2*contexts)
	for k := range contexts {
		x, y := make([]float64, len(pairs)), make([]float64, len(pairs))
		for i, p := range pairs {
			x[i], y[i] = p.first[k], p.second[k]
		}
		scores = append(scores, metric.Score{Name: "first", Values: x, Orientation: measure.Confidence}, metric.Score{Name: "second", Values: y, Orientation: measure.Confidence})
	}
	e, err := meansEvaluation(ctx, scores, len(pairs), resample.SettingSeed(o.Seed, r.setting.Model, r.setting.Dataset, purpose), o)
	return pairMeans{e}, err
}

// meansEvaluation evaluates the means of scores; labels play no part.
func meansEvaluation(ctx context.Context, scores []metric.Score, n int, seed uint64, o Options) (*evaluation, error) {
	prepared, err := metric.PrepareJointly(metric.Quality{Values: make([]float64, n)}, scores...)
	if err != nil {
		return nil, err
	}
	return newEvaluation(ctx, prepared, []metric.Statistic{metric.MeanConfidence()}, seed, o)
}

func indexOf(list []string, name string) int {
	for i, x := range list {
		if x == name {
			return i
		}
	}
	return -1
}

// SelectionSummary is a [Selection] over the settings of a group.
type SelectionSummary struct {
	Group    string             `json:"group"`
	First    string             `json:"first"`
	Second   string             `json:"second"`
	Settings int                `json:"settings"`
	Differ   measure.Value      `json:"differ"`
	Contexts []SelectionContext `json:"contexts"`
	Contrast *measure.Value     `json:"contrast,omitempty"`
}

type selectionKey struct{ what, context string }

type selections struct {
	group, first, second string
	level                float64
	means                means[selectionKey]
	contexts             []string
}

func (s *selections) add(one *selected) error {
	s.first, s.second = one.First, one.Second
	a := adder[selectionKey]{means: &s.means}
	a.add(selectionKey{what: "differ"}, one.differ)
	for k, c := range one.Contexts {
		if indexOf(s.contexts, c.Name) < 0 {
			s.contexts = append(s.contexts, c.Name)
		}
		a.add(selectionKey{"all", c.Name}, one.all[k])
		a.add(selectionKey{"differing", c.Name}, one.differing[k])
	}
	if one.contrast != nil {
		a.add(selectionKey{what: "contrast"}, *one.contrast)
	}
	return a.err
}

func (s *selections) result() SelectionSummary {
	sum := SelectionSummary{Group: s.group, First: s.first, Second: s.second, Settings: s.means.settings(selectionKey{what: "differ"})}
	sum.Differ = s.means.value(selectionKey{what: "differ"}, "mean.differ", s.level)
	for _, name := range s.contexts {
		sum.Contexts = append(sum.Contexts, SelectionContext{
			name,
			s.means.value(selectionKey{"all", name}, "mean.selection.all", s.level),
			s.means.value(selectionKey{"differing", name}, "mean.selection.differing", s.level),
		})
	}
	if s.means.settings(selectionKey{what: "contrast"}) > 0 {
		v := s.means.value(selectionKey{what: "contrast"}, "mean.selection.contrast", s.level)
		sum.Contrast = &v
	}
	return sum
}
