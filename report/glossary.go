package report

import (
	"strings"

	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/protocol"
)

// term is an entry of the glossary at the end of every page.
type term struct {
	ID, Name, What string
}

// glossary explains what the page's numbers mean, in words for someone who has not read the papers.
func glossary() []term {
	list := []term{
		{"stated", "Stated confidence", "The probability that the model itself gives for its answer, in digits or words, when it is asked for one. Also called verbalised."},
		{"token", "Token confidence", "What the model's own token probabilities say of the same answer, word for word. The usual number is the geometric mean of the probabilities of the answer's tokens."},
		{"context", "Context", "The text before the answer when its tokens are scored. The answer stays the same; only what stands before it changes. The first context is the base that the others are compared with."},
		{"gap", "Gap g", "The metric of the stated score minus the metric of the token score, on the same answers. Under ECE and AURC, where less is better, a gap above 0 speaks for the token score; under AUROC, where more is better, it speaks for the stated score."},
		{"shift", "Shift", "How far the gap moves from the base context to another one. The stated score is the same in both, so a shift is a change of the token score alone."},
		{"flip", "Flip", "The better signal changes between the base context and another one. It is resolved where both gaps have intervals that exclude 0; otherwise it may be chance."},
		{"interval", "Interval [a, b]", "Where the value would lie for other items like these, at the stated level: for the metrics from a paired bootstrap over items, for shares in closed form. It says nothing about other models or other kinds of question. An interval of a gap or shift that excludes 0 is called resolved, or beyond chance."},
		{"n", "n, used", "The number of answers behind a value. All values of a setting are over the same answers, those that have a stated probability, a token score in every context and a verdict, so that differences are differences of scores and never of items."},
		{"left-out", "Left out", "Answers that lack one of those, counted under the first reason that applies. Missing is never counted as wrong."},
		{"parse-rate", "Parse rate", "The share of all items asked whose reply gave both an answer and a probability that could be read. Where it is low, the answers that remain may be the easy ones."},
		{"fallback", "By fallback", "The share of those probabilities that were not where they were asked for, and were taken from elsewhere in the reply."},
		{"accuracy", "Accuracy", "The share of the used answers that the judge finds correct."},
		{"mean", "Mean confidence", "The average of a score. Above accuracy the model is overconfident on the whole, below it underconfident."},
		{"judge", "Judge", "The rule that says whether an answer is correct. Containment asks whether answer and accepted answer contain one another after normalisation, exact whether they are equal."},
		{"reliability", "Reliability diagram", "For the answers of about one confidence, the share that is right. On the dashed line confidence is honest; below it the model is overconfident. A dot's area shows the number of answers, the line through it the interval of the share (Wilson)."},
		{"atoms", "Atom table", "The reliability diagram in numbers, a row for each value that the score takes. A score with more than 20 values, or with a value for almost every answer, is shown in ten bins of equal width, those of ECE."},
		{"histogram", "Scores by label", "How many right answers (upwards, filled) and wrong answers (downwards, open) have each confidence. A score that knows right from wrong has the filled bars on the right and the open ones on the left."},
		{"risk-coverage", "Risk and coverage", "If only the surest answers are given (coverage), how many of those are wrong (risk). The lower the line, the better; its mean height is AURC."},
		{"roc", "ROC", "For every threshold, the share of right answers above it against the share of wrong answers above it. The nearer to the upper left corner, the better; the area below is AUROC, and the dashed line is what guessing gives."},
		{"token-colours", "Tokens", "The answer cut into the model's tokens, each with the probability that the model gave it at its place; the darker, the likelier. The score beside them is what the tokens amount to."},
	}
	for _, id := range protocol.Metrics() {
		list = append(list, metricTerm(id))
	}
	return list
}

// metricTerm explains a metric by its own definition, after what it asks in plain words.
func metricTerm(id string) term {
	t := term{ID: termOf(id), Name: Title(id)}
	s, err := metric.ByID(id)
	if err != nil {
		t.What = "A metric of this study: " + id + "."
		return t
	}
	if plain := plainWords[Title(id)]; plain != "" {
		t.What = plain + " "
	}
	better := "More is better."
	if s.Better == metric.Lower {
		better = "Less is better."
	}
	t.What += better + " Exactly: " + s.Definition + " Id " + id + "; source: " + s.Source + "."
	return t
}

var plainWords = map[string]string{
	"ECE":   "Expected calibration error: of the answers with confidence .8, are 8 in 10 right? The average distance between confidence and share right.",
	"AUROC": "Does the score rate right answers above wrong ones? The probability that a right answer has more confidence than a wrong one; .5 is a coin toss.",
	"AURC":  "How many errors are left if only the surest answers are given, averaged over how many are given.",
	"BRIER": "The mean squared distance between confidence and correctness; calibration and ranking in one number.",
}

// termOf is the glossary's id of a metric.
func termOf(id string) string {
	return "m-" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, id)
}
