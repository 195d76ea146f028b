package protocol

import (
	"slices"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/resample"
)

// Step is one edit of the prompt ablation along a stated path. How much an edit moves depends on the
// path, so it is never a share of the whole ("Same Answer, Different Confidence", appendix C).
type Step struct {
	// Path is "answer" or "guess" after the marker that stays, or empty for edits beside the paths.
	Path string `json:"path,omitempty"`
	Edit string `json:"edit"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Cell is one cell of the prompt ablation: a user prompt, and the marker that opens the assistant turn.
type Cell struct {
	Prompt  string `json:"prompt"`
	Marker  string `json:"marker"`
	Context string `json:"context"`
}

// Cells are the four prompts with "Answer:", then "Guess:" each.
func Cells() []Cell {
	return []Cell{
		{"question alone", "Answer:", "answer-slot"}, {"question alone", "Guess:", "question-guess"},
		{"answer-only instruction", "Answer:", "answer-only"}, {"answer-only instruction", "Guess:", "answer-only-guess"},
		{"confidence prompt without its probability request", "Answer:", "template-answer"}, {"confidence prompt without its probability request", "Guess:", "template-guess"},
		{"confidence prompt", "Answer:", "confidence-answer"}, {"confidence prompt", "Guess:", "guess-slot"},
	}
}

// Steps lists the edits, first those of the path on which "Answer:" stays, then those of "Guess:".
func Steps() []Step {
	return []Step{
		{"answer", "Answer: opens the assistant turn", "bare", "answer-slot"},
		{"answer", "answer-only instruction", "answer-slot", "answer-only"},
		{"answer", "rest of the output template", "answer-only", "template-answer"},
		{"answer", "probability request", "template-answer", "confidence-answer"},
		{"answer", "Answer: becomes Guess:", "confidence-answer", "guess-slot"},
		{"guess", "Answer: becomes Guess:, question alone", "answer-slot", "question-guess"},
		{"guess", "answer-only instruction", "question-guess", "answer-only-guess"},
		{"guess", "rest of the output template", "answer-only-guess", "template-guess"},
		{"guess", "probability request", "template-guess", "guess-slot"},
		{"", "Answer: becomes Guess:, answer-only instruction", "answer-only", "answer-only-guess"},
		{"", "all edits at once", "answer-slot", "guess-slot"},
	}
}

// StepSummary is what one edit moves, over settings.
type StepSummary struct {
	Step
	// Token is the mean change of the token score's metric, MeanAbsShift the mean |Δg|, Positive the
	// number of settings in which the token score's metric rises; by metric, in the order of [Metrics].
	Token        []measure.Value `json:"token"`
	MeanAbsShift []measure.Value `json:"mean_abs_shift"`
	Positive     []int           `json:"positive"`
	Settings     int             `json:"settings"`
}

type stepKey struct {
	step, metric int
	size         bool
}

// stepMeans accumulates the steps of settings that have all contexts of a step.
type stepMeans struct {
	means    means[stepKey]
	positive map[stepKey]int
}

func (s *stepMeans) add(c *compared) error {
	if s.positive == nil {
		s.positive = map[stepKey]int{}
	}
	a := adder[stepKey]{means: &s.means}
	for i, step := range Steps() {
		from, to := slices.Index(c.Choice.Contexts, step.From), slices.Index(c.Choice.Contexts, step.To)
		if from < 0 || to < 0 {
			continue
		}
		for m := range ranked() {
			// The token score's metric rises where g falls.
			change := c.quantity(
				resample.Term{Score: 1 + to, Stat: m, Weight: 1}, resample.Term{Score: 1 + from, Stat: m, Weight: -1})
			a.add(stepKey{i, m, false}, change)
			a.add(stepKey{i, m, true}, change.Abs())
			if x, ok := change.Get(); ok && x > 0 {
				s.positive[stepKey{step: i, metric: m}]++
			}
		}
	}
	return a.err
}

func (s *stepMeans) result(level float64) []StepSummary {
	var list []StepSummary
	for i, step := range Steps() {
		if s.means.settings(stepKey{i, 0, false}) == 0 {
			continue
		}
		sum := StepSummary{Step: step, Settings: s.means.settings(stepKey{i, 0, false})}
		for m, stat := range ranked() {
			sum.Token = append(sum.Token, s.means.value(stepKey{i, m, false}, "step."+stat.ID, level))
			sum.MeanAbsShift = append(sum.MeanAbsShift, s.means.value(stepKey{i, m, true}, "abs-shift."+stat.ID, level))
			sum.Positive = append(sum.Positive, s.positive[stepKey{step: i, metric: m}])
		}
		list = append(list, sum)
	}
	return list
}
