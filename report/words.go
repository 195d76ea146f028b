package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
)

// Title is the short name of a metric id: "ece.equal-width.10.left-closed" is "ECE".
func Title(id string) string {
	family, _, _ := strings.Cut(id, ".")
	return strings.ToUpper(family)
}

// Words says in sentences what a comparison shows: for each metric which signal is better where and
// whether that changes with the context, then how far the number of items lets it be trusted.
func Words(c *protocol.Comparison) []string {
	if c.Used == 0 {
		return []string{fmt.Sprintf("Nothing can be said: of %d items none could be used (%s).", c.Asked, LeftOut(c.LeftOut))}
	}
	var sentences []string
	for m := range c.Verbalised.Metrics {
		sentences = append(sentences, metricWords(c, m))
	}
	return append(sentences, levelWords(c), cautionWords(c))
}

// Differences says what another comparison of the same setting, under another correctness rule or
// aggregation, shows that first does not: the sentences of its metrics that read differently.
func Differences(first, other *protocol.Comparison) []string {
	switch {
	case other.Used == 0 && first.Used == 0:
		return nil
	case other.Used == 0:
		return Words(other)
	}
	var sentences []string
	for m := range other.Verbalised.Metrics {
		if says := metricWords(other, m); first.Used == 0 || says != metricWords(first, m) {
			sentences = append(sentences, says)
		}
	}
	return sentences
}

// asks says what each metric is about, in words that need no paper.
func asks(title string) string {
	switch title {
	case "ECE":
		return "Calibration (ECE: does .8 mean right 8 times in 10?)"
	case "AUROC":
		return "Ranking (AUROC: are right answers rated above wrong ones?)"
	case "AURC":
		return "Selection (AURC: errors among the surest answers)"
	}
	return title
}

// metricWords says where which signal is better beyond chance, and whether the context changes that.
func metricWords(c *protocol.Comparison, m int) string {
	var stated, token, chance, undefined []string
	for _, context := range c.Contexts {
		switch g := context.Gaps[m]; {
		case !g.Gap.Defined():
			undefined = append(undefined, context.Name)
		case !g.Resolved:
			chance = append(chance, context.Name)
		case g.Better == record.VerbalisedSignal:
			stated = append(stated, context.Name)
		default:
			token = append(token, context.Name)
		}
	}
	var parts []string
	if len(token) > 0 {
		parts = append(parts, "the token score is better in "+and(token))
	}
	if len(stated) > 0 {
		parts = append(parts, "the stated score is better in "+and(stated))
	}
	switch {
	case len(chance) == len(c.Contexts):
		parts = append(parts, "in no context can the two scores be told apart beyond chance")
	case len(chance) > 0:
		parts = append(parts, "within chance in "+and(chance))
	}
	if len(undefined) > 0 {
		parts = append(parts, fmt.Sprintf("no comparison in %s (%s)", and(undefined), c.Contexts[0].Gaps[m].Gap.Reason()))
	}
	if change := changeWords(c, m); change != "" {
		parts = append(parts, change)
	}
	return asks(Title(c.Verbalised.Metrics[m].Method)) + ": " + strings.Join(parts, "; ") + "."
}

// changeWords says what moving from the base context does.
func changeWords(c *protocol.Comparison, m int) string {
	var flips, points, moved []string
	for _, context := range c.Contexts[1:] {
		g := context.Gaps[m]
		switch {
		case g.Flip == protocol.ResolvedFlip:
			flips = append(flips, context.Name)
		case g.Shift != nil && protocol.Resolves(*g.Shift):
			moved = append(moved, context.Name)
		case g.Flip == protocol.PointFlip:
			points = append(points, context.Name)
		}
	}
	base := c.Contexts[0].Name
	var parts []string
	if len(flips) > 0 {
		parts = append(parts, fmt.Sprintf("the verdict flips between %s and %s, both sides resolved", base, plain(flips)))
	}
	if len(moved) > 0 {
		parts = append(parts, fmt.Sprintf("from %s to %s the gap moves beyond chance", base, plain(moved)))
	}
	if len(points) > 0 {
		parts = append(parts, fmt.Sprintf("between %s and %s its sign changes, but not beyond chance on %d items", base, plain(points), c.Used))
	}
	return strings.Join(parts, "; ")
}

func signalWord(s record.Signal) string {
	if s == record.VerbalisedSignal {
		return "stated"
	}
	return string(s)
}

// levelWords compares the levels of the scores with accuracy: the plainest sign of over- and underconfidence.
func levelWords(c *protocol.Comparison) string {
	accuracy, ok := c.Accuracy.Get()
	if !ok {
		return "Accuracy is undefined (" + string(c.Accuracy.Reason()) + ")."
	}
	parts := []string{"stated " + level(c.Verbalised.Mean)}
	for _, context := range c.Contexts {
		parts = append(parts, context.Name+" "+level(context.Token.Mean))
	}
	return fmt.Sprintf("Level: %s of the answers are right; the mean confidence is %s.", Percent(accuracy), strings.Join(parts, ", "))
}

func level(v measure.Value) string {
	x, ok := v.Get()
	if !ok {
		return "undefined"
	}
	return Percent(x)
}

// cautionWords says how wide the widest interval of a gap is, since that is what the number of items allows.
func cautionWords(c *protocol.Comparison) string {
	widest, title := 0.0, ""
	for _, context := range c.Contexts {
		for _, g := range context.Gaps {
			if iv := g.Gap.Interval; iv != nil && (iv.Upper-iv.Lower)/2 > widest {
				widest, title = (iv.Upper-iv.Lower)/2, Title(g.Metric)
			}
		}
	}
	if title == "" {
		return fmt.Sprintf("Caution: used %d without intervals of any width; every difference may be chance.", c.Used)
	}
	// An interval's width falls with the square root of n.
	need := int(math.Ceil(float64(c.Used) * math.Pow(widest/.05, 2)))
	if need <= c.Used {
		return fmt.Sprintf("Caution: this is one model on %d items; intervals are within 0.05 of the gaps and say nothing of other models or questions.", c.Used)
	}
	return fmt.Sprintf("Caution: on %d items a gap is known to about ±%s (%s); for ±0.05 it would take about %d items. It is one model and one set of questions.",
		c.Used, Number(widest), title, roundUp(need))
}

// roundUp rounds to one digit below the leading one, so that an estimate does not look exact.
func roundUp(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit - 1) / unit * unit
}

func and(names []string) string {
	if len(names) == 1 {
		return "the " + names[0] + " context"
	}
	return "the contexts " + plain(names)
}

// plain joins names as a sentence does.
func plain(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
