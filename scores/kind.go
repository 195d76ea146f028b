package scores

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/measure"
)

// Kind is what the numbers of a score are.
type Kind string

const (
	// Confidence is a probability of being correct, in [0,1].
	Confidence Kind = "confidence"
	// Percent is a probability of being correct, in [0,100].
	Percent Kind = "percent"
	// LogProbability is the natural logarithm of a probability, at most 0. Higher is surer.
	LogProbability Kind = "log-probability"
	// Logit is the log odds of being correct, any real number. Higher is surer.
	Logit Kind = "logit"
	// Uncertainty is any number; higher is less sure. It has no probability, so metrics of
	// calibration are undefined on it.
	Uncertainty Kind = "uncertainty"
)

// Kinds are all kinds, for help texts.
func Kinds() []Kind { return []Kind{Confidence, Percent, LogProbability, Logit, Uncertainty} }

// ParseKind finds a kind by its name.
func ParseKind(name string) (Kind, error) {
	if k := Kind(name); slices.Contains(Kinds(), k) {
		return k, nil
	}
	return "", fmt.Errorf("unknown kind of score %q; the kinds are %s", name, join(Kinds()))
}

func join(kinds []Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// Orientation says which end of the raw numbers is the good one.
func (k Kind) Orientation() measure.Orientation {
	if k == Uncertainty {
		return measure.Uncertainty
	}
	return measure.Confidence
}

// Probability turns a raw number into a probability of being correct. Log-probabilities that rounding
// left a little above 0 become 1. It must not be asked of an [Uncertainty].
func (k Kind) Probability(x float64) float64 {
	switch k {
	case Percent:
		return x / 100
	case LogProbability:
		return math.Min(1, math.Exp(x))
	case Logit:
		return 1 / (1 + math.Exp(-x))
	}
	return x
}

// bent says that Probability is not a mere change of scale: near its ends different numbers may get
// one probability, so that ranks must be taken from the raw numbers.
func (k Kind) bent() bool { return k == LogProbability || k == Logit }

// extent is what the values of a column have in common.
type extent struct {
	n        int // values that are there
	min, max float64
	integers bool
	binary   bool // all are 0 or 1
}

func newExtent() extent {
	return extent{min: math.Inf(1), max: math.Inf(-1), integers: true, binary: true}
}

func (e *extent) add(x float64) {
	e.n++
	e.min, e.max = min(e.min, x), max(e.max, x)
	e.integers = e.integers && x == math.Trunc(x)
	e.binary = e.binary && (x == 0 || x == 1)
}

// roundingAbove is how far above 0 a log-probability may come to lie by rounding in 32 bits.
const roundingAbove = 1e-5

// Words in the names of columns, in lower case, that tell their kind.
var (
	uncertaintyWords = []string{"entropy", "uncertain", "perplexity", "variance", "surprisal", "nll", "neg_log", "negative_log", "neglog"}
	logWords         = []string{"logprob", "log_prob", "log-prob", "loglik", "log_lik", "log-lik", "logp", "lnprob", "log prob"}
	percentWords     = []string{"percent", "pct"}
	confidenceWords  = []string{"confidence", "conf", "prob", "stated", "verbal", "certain"}
)

func hasAny(name string, words []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
}

// guess tells the kind of a column from its name and values, and from what it was told. ok is false
// where more than one kind would do, or none.
func guess(name string, e extent) (k Kind, from string, ok bool) {
	switch {
	case e.n == 0:
		return "", "", false
	case hasAny(name, uncertaintyWords):
		return Uncertainty, "its name", true
	case hasAny(name, []string{"logit"}):
		return Logit, "its name", true
	case hasAny(name, logWords) && e.max <= roundingAbove:
		return LogProbability, "its name", true
	case hasAny(name, percentWords) && e.min >= 0 && e.max <= 100 && e.max > 1:
		return Percent, "its name", true
	case e.min >= 0 && e.max <= 1:
		return Confidence, "its values, which lie in [0,1]", true
	case e.max <= roundingAbove && e.min < 0:
		return LogProbability, "its values, none of which is above 0", true
	case e.min >= 0 && e.max <= 100 && hasAny(name, confidenceWords):
		return Percent, "its name and its values, which lie in [0,100]", true
	}
	return "", "", false
}

// contradiction says why values of this extent are not of kind k, and what they look like; empty if
// they may be. atMax says that the largest value is the one to point at, not the smallest.
func (k Kind) contradiction(e extent) (problem string, looksLike Kind, atMax bool) {
	if e.n == 0 {
		return "", "", false
	}
	likely, _, _ := guess("", e)
	switch k {
	case Confidence:
		if e.min < 0 || e.max > 1 {
			if likely == "" && e.min >= 0 && e.max <= 100 {
				likely = Percent
			}
			return "a confidence lies in [0,1]", likely, e.max > 1
		}
	case Percent:
		switch {
		case e.min < 0 || e.max > 100:
			return "a percentage lies in [0,100]", likely, e.max > 100
		case e.max <= 1 && e.max > 0:
			return "no percentage is above 1", Confidence, true
		}
	case LogProbability:
		if e.max > roundingAbove {
			return "a log-probability is at most 0", likely, true
		}
	}
	return "", "", false
}

// doubt is a softer [Kind.contradiction]: possible, but worth a second look.
func (k Kind) doubt(e extent) string {
	const enough = 10
	switch {
	case e.n < enough:
	case k == Uncertainty && e.max <= 0 && e.min < 0:
		return "no value is above 0, as if they were log-probabilities, of which higher is surer"
	case k == Logit && e.min >= 0 && e.max <= 1 && !e.binary:
		return "all values lie in [0,1], as if they were confidences"
	}
	return ""
}
