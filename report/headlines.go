package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
)

// Headline is one of the three things most worth knowing of a study.
type Headline struct {
	// Asks is the question behind it, Says the answer.
	Asks, Says string
}

// Headlines are the three things most worth knowing, found by rule from the first comparison of each
// setting: which signal ranks better and by how much, what moving the token score to another context
// does, and what the numbers do not show. docs/format.md states the rules.
func Headlines(comparisons []*protocol.Comparison) []Headline {
	comparisons = slices.DeleteFunc(slices.Clone(comparisons), func(c *protocol.Comparison) bool { return c == nil || c.Used == 0 || len(c.Contexts) == 0 })
	switch len(comparisons) {
	case 0:
		return nil
	case 1:
		c := comparisons[0]
		return []Headline{{asksRanking, rankingSays(c)}, {asksContext, contextSays(c)}, {asksLimits, limitsSay(c)}}
	}
	return []Headline{
		{asksRanking, countsOf(comparisons, ranking(comparisons[0])).winners(comparisons) + widestSays(comparisons)},
		{asksContext, contextOver(comparisons)},
		{asksLimits, cautionOver(comparisons)},
	}
}

const (
	asksRanking = "Which score ranks right answers above wrong ones better?"
	asksContext = "Does it matter where the token score is read?"
	asksLimits  = "Why not to trust this too far?"
)

// ranking is the index of AUROC among the metrics of a comparison.
func ranking(c *protocol.Comparison) int {
	return max(0, slices.IndexFunc(c.Verbalised.Metrics, func(v measure.Value) bool { return Title(v.Method) == "AUROC" }))
}

// rankingSays names the contexts that each score wins, and gives the numbers of the one with the largest
// gap among them; where neither wins anywhere, those of the base.
func rankingSays(c *protocol.Comparison) string {
	m, at, largest := ranking(c), 0, 0.0
	for i, context := range c.Contexts {
		g := context.Gaps[m]
		if x, ok := g.Gap.Get(); ok && g.Resolved && math.Abs(x) > largest {
			largest, at = math.Abs(x), i
		}
	}
	context := c.Contexts[at]
	g := context.Gaps[m]
	if !g.Gap.Defined() {
		return fmt.Sprintf("That cannot be said: %s.", reasonWords(c, g.Gap.Reason()))
	}
	numbers := fmt.Sprintf("AUROC %s stated, %s token in %s (.5 is a coin toss, 1 perfect); gap %s",
		short(c.Verbalised.Metrics[m]), short(context.Token.Metrics[m]), context.Name, SignedEstimate(g.Gap))
	stated, token := resolvedIn(c, m, record.VerbalisedSignal), resolvedIn(c, m, record.TokenSignal)
	switch {
	case len(stated) > 0 && len(token) > 0:
		return fmt.Sprintf("It depends on the context: the stated score in %s, the token score in %s. Furthest apart: %s.", plain(stated), plain(token), numbers)
	case len(stated) > 0:
		return fmt.Sprintf("The stated score, in %s: %s.", of(stated, c), numbers)
	case len(token) > 0:
		return fmt.Sprintf("The token score, in %s: %s.", of(token, c), numbers)
	}
	return "Neither, beyond chance: " + numbers + "."
}

// of names contexts, or says that they are all.
func of(names []string, c *protocol.Comparison) string {
	if len(names) == len(c.Contexts) && len(names) > 1 {
		return fmt.Sprintf("all %d contexts", len(names))
	}
	return plain(names)
}

func reasonWords(c *protocol.Comparison, why measure.Reason) string {
	if why != measure.OneClass {
		return string(why)
	}
	if x, ok := c.Accuracy.Get(); ok && x > 0 {
		return fmt.Sprintf("all %d answers are right, so there is nothing to rank", c.Used)
	}
	return fmt.Sprintf("all %d answers are wrong, so there is nothing to rank", c.Used)
}

// order is that in which metrics are looked through: ranking first, then as they come.
func order(c *protocol.Comparison) []int {
	first := ranking(c)
	list := []int{first}
	for m := range c.Verbalised.Metrics {
		if m != first {
			list = append(list, m)
		}
	}
	return list
}

// contextSays takes the strongest change: a flip with both sides resolved, a shift beyond chance, a flip
// within chance; of several, that of the ranking, then the larger.
func contextSays(c *protocol.Comparison) string {
	if len(c.Contexts) == 1 {
		return fmt.Sprintf("That was not looked at: the study has the %s context only.", c.Contexts[0].Name)
	}
	base := c.Contexts[0]
	for _, m := range order(c) {
		if i := largestShift(c, m, func(g protocol.Gap) bool { return g.Flip == protocol.ResolvedFlip }); i > 0 {
			return fmt.Sprintf("Yes, the verdict turns: by %s the %s score is better in %s (gap %s), the %s score in %s (%s), both beyond chance.%s",
				Title(base.Gaps[m].Metric), signalWord(base.Gaps[m].Better), base.Name, SignedEstimate(base.Gaps[m].Gap),
				signalWord(c.Contexts[i].Gaps[m].Better), c.Contexts[i].Name, SignedEstimate(c.Contexts[i].Gaps[m].Gap), levels(c))
		}
	}
	for _, m := range order(c) {
		if i := largestShift(c, m, func(g protocol.Gap) bool { return g.Shift != nil && protocol.Resolves(*g.Shift) }); i > 0 {
			return fmt.Sprintf("Yes: from %s to %s the %s gap moves by %s, beyond chance%s.%s",
				base.Name, c.Contexts[i].Name, Title(base.Gaps[m].Metric), SignedEstimate(*c.Contexts[i].Gaps[m].Shift), turn(base.Gaps[m], c.Contexts[i].Gaps[m]), levels(c))
		}
	}
	for _, m := range order(c) {
		if i := largestShift(c, m, func(g protocol.Gap) bool { return g.Flip == protocol.PointFlip }); i > 0 {
			return fmt.Sprintf("Perhaps: between %s and %s the sign of the %s gap changes, but on %s not beyond chance.%s",
				base.Name, c.Contexts[i].Name, Title(base.Gaps[m].Metric), plural(c.Used, "item"), levels(c))
		}
	}
	return "No change of the gap between contexts is beyond chance here." + levels(c)
}

// turn says what a shift does to the better score, where that is not a flip beyond chance.
func turn(base, here protocol.Gap) string {
	switch {
	case here.Flip == protocol.PointFlip:
		return ", and its sign changes, which alone may be chance"
	case base.Resolved && here.Resolved:
		return ", without changing which score is better"
	}
	return ", though in one of the two no score is better beyond chance"
}

// largestShift is the context, not the base, with the largest shift among those that count; 0 if none.
func largestShift(c *protocol.Comparison, m int, counts func(protocol.Gap) bool) int {
	at, largest := 0, -1.0
	for i, context := range c.Contexts[1:] {
		g := context.Gaps[m]
		if g.Shift == nil || !counts(g) {
			continue
		}
		if x, ok := g.Shift.Get(); ok && math.Abs(x) > largest {
			at, largest = 1+i, math.Abs(x)
		}
	}
	return at
}

// levels says between which means the token score moves, since a threshold moves with it.
func levels(c *protocol.Comparison) string {
	low, high := -1, -1
	mean := func(i int) float64 { x, _ := c.Contexts[i].Token.Mean.Get(); return x }
	for i, context := range c.Contexts {
		if !context.Token.Mean.Defined() {
			continue
		}
		if low < 0 || mean(i) < mean(low) {
			low = i
		}
		if high < 0 || mean(i) > mean(high) {
			high = i
		}
	}
	if low == high || mean(high)-mean(low) < .1 {
		return ""
	}
	return fmt.Sprintf(" For the same answers the token score averages from %s (%s) to %s (%s): a cut-off set in one context does not carry over to another.",
		Percent(mean(low)), c.Contexts[low].Name, Percent(mean(high)), c.Contexts[high].Name)
}

// mostTied is the number of different stated values up to which ties are worth a word.
const mostTied = 10

// limitsSay lists what weakens the numbers, the most serious first: replies that could not be read, answers
// left out, one class, wide intervals, ties; and always that no person judged, and one model was asked.
func limitsSay(c *protocol.Comparison) string {
	var said []string
	if x, ok := c.ParseRate.Get(); ok && x < .9 {
		said = append(said, fmt.Sprintf("only %s of the replies could be read, perhaps the easier ones", Percent(x)))
	}
	if out := c.Asked - c.Used; out > 0 && 10*out > c.Asked {
		said = append(said, fmt.Sprintf("%d of %d items are left out (%s)", out, c.Asked, LeftOut(c.LeftOut)))
	}
	switch wide := widestGap(c); {
	case wide == 0:
		said = append(said, fmt.Sprintf("on %s no interval could be made, and every difference may be chance", plural(c.Used, "item")))
	case wide > .05:
		said = append(said, fmt.Sprintf("on %s a gap may be off by ±%s", plural(c.Used, "item"), Number(wide)))
	}
	if n := c.Verbalised.Distinct; n > 0 && n <= mostTied && n < c.Used {
		said = append(said, fmt.Sprintf("the model states only %s, so that many answers tie and their ranking blurs", probabilities(n)))
	}
	said = append(said, fmt.Sprintf("the rule %s said what is right, and no person checked it", c.Choice.Judge), "it is one model on one set of questions")
	return upper(strings.Join(said, "; ")) + "."
}

func probabilities(n int) string {
	if n == 1 {
		return "one probability"
	}
	return fmt.Sprintf("%d different probabilities", n)
}

// widestSays names the setting in which the two scores rank most differently.
func widestSays(comparisons []*protocol.Comparison) string {
	m := ranking(comparisons[0])
	at, largest := -1, 0.0
	for i, c := range comparisons {
		if g := c.Contexts[0].Gaps[m]; g.Resolved {
			if x, _ := g.Gap.Get(); math.Abs(x) > largest {
				at, largest = i, math.Abs(x)
			}
		}
	}
	if at < 0 {
		return ""
	}
	c := comparisons[at]
	g := c.Contexts[0].Gaps[m]
	return fmt.Sprintf(" They are furthest apart on %s, where the %s score is better: AUROC gap %s.", c.Setting, signalWord(g.Better), SignedEstimate(g.Gap))
}

// winners counts the settings that each signal wins in the base context.
func (n counts) winners(comparisons []*protocol.Comparison) string {
	said := fmt.Sprintf("In the %s context the stated score, beyond chance, in %d of %s; the token score in %d; neither in %d",
		comparisons[0].Contexts[0].Name, n.stated, plural(len(comparisons), "setting"), n.token, n.chance)
	if n.undefined > 0 {
		said += fmt.Sprintf("; not to be said in %d", n.undefined)
	}
	return said + "."
}

// contextOver counts flips over the settings, ranking first.
func contextOver(comparisons []*protocol.Comparison) string {
	var said []string
	any := false
	for _, m := range order(comparisons[0]) {
		n := countsOf(comparisons, m)
		any = any || n.resolved+n.point > 0
		said = append(said, fmt.Sprintf("by %s in %d beyond chance and in %d more within it", Title(comparisons[0].Contexts[0].Gaps[m].Metric), n.resolved, n.point))
	}
	if !any {
		return "In no setting does another context change which score is better."
	}
	return fmt.Sprintf("Another context than %s changes which score is better: ", comparisons[0].Contexts[0].Name) + strings.Join(said, "; ") + fmt.Sprintf(" (of %s).", plural(len(comparisons), "setting"))
}

// WriteHeadlines writes the three things most worth knowing, numbered; nothing where nothing could be used.
func WriteHeadlines(w io.Writer, width int, comparisons []*protocol.Comparison) error {
	p := newPrinter(w, width)
	list := Headlines(comparisons)
	if len(list) == 0 {
		return nil
	}
	p.wrapped("Most worth knowing (stated: the probability that the model writes; token: that of its answer's own tokens)", "")
	for i, h := range list {
		p.wrapped(fmt.Sprintf("%d. %s %s", 1+i, h.Asks, termsafe.String(h.Says)), "   ")
	}
	if words := contextWords(comparisons); words != "" {
		p.wrapped("Contexts: "+words+".", "  ")
	}
	p.line("")
	return p.err
}

// contextHints say of the built-in contexts what stands before the answer; docs/format.md says it in full.
var contextHints = map[string]string{
	"bare":                   "the question alone",
	"answer-slot":            "the question, and the model's turn opened by \"Answer:\"",
	"guess-slot":             "the prompt that asks for a guess and its probability, opened by \"Guess:\"",
	"guess-slot-percent":     "the same, from 0 to 100",
	"answer-only":            "a prompt that asks for a guess alone, opened by \"Answer:\"",
	"answer-only-generating": "the same, as answers are written under it",
}

// contextWords explains the contexts of a study by what stands before the answer.
func contextWords(comparisons []*protocol.Comparison) string {
	var said []string
	for _, context := range comparisons[len(comparisons)-1].Contexts {
		if hint, ok := contextHints[context.Name]; ok {
			said = append(said, context.Name+", "+hint)
		}
	}
	return strings.Join(said, "; ")
}
