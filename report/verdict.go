package report

import (
	"fmt"
	"strings"

	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
)

// verdict is what a page opens with.
type verdict struct {
	// Headlines are what a reader should know if nothing else.
	Headlines []Headline
	// Contexts explains the contexts by what stands before the answer; empty where there is nothing to say.
	Contexts string
	Points   []point
	Warnings []string
}

// point is one statement: what it is about, the question behind it in plain words, and what is said.
type point struct {
	About, Asks, Term, Says string
}

// verdictOf says what holds, what flips and what cannot be said: in the words of the one setting, or
// counted over several.
func verdictOf(sections []*Section) verdict {
	switch len(sections) {
	case 0:
		return verdict{Points: []point{{About: "Nothing", Says: "This study has no setting: no model was asked."}}}
	case 1:
		firsts := firstsOf(sections)
		return verdict{Headlines(firsts), contextWords(firsts), sections[0].Points, sections[0].Warnings}
	}
	comparisons := firstsOf(sections)
	v := verdict{Headlines: Headlines(comparisons), Contexts: contextWords(comparisons)}
	for m, id := range protocol.Metrics() {
		about, question := heading(Title(id))
		v.Points = append(v.Points, point{about, question, termOf(id), countsOf(comparisons, m).words(comparisons)})
	}
	v.Points = append(v.Points, point{About: "Caution", Term: "interval", Says: cautionOver(comparisons)})
	return v
}

func firstsOf(sections []*Section) []*protocol.Comparison {
	comparisons := make([]*protocol.Comparison, len(sections))
	for i, s := range sections {
		comparisons[i] = s.first
	}
	return comparisons
}

// pointsOf turns the sentences of a comparison into statements.
func pointsOf(c *protocol.Comparison) []point {
	if c.Used == 0 {
		return []point{{About: "Nothing can be said", Term: "left-out", Says: upper(strings.TrimPrefix(Words(c)[0], "Nothing can be said: "))}}
	}
	var points []point
	for m, v := range c.Verbalised.Metrics {
		about, question := heading(Title(v.Method))
		says := strings.TrimPrefix(metricWords(c, m), asks(Title(v.Method))+": ")
		points = append(points, point{about, question, termOf(v.Method), upper(says)})
	}
	for _, sentence := range []string{levelWords(c), cautionWords(c)} {
		about, says, _ := strings.Cut(sentence, ": ")
		t := "mean"
		if about == "Caution" {
			t = "interval"
		}
		points = append(points, point{About: about, Term: t, Says: upper(says)})
	}
	return points
}

// differencePoint says what changes under another correctness rule or aggregation.
func differencePoint(first, other *protocol.Comparison) point {
	about := point{About: "Under " + other.Choice.Judge, Asks: "another correctness rule", Term: "judge", Says: "The same in words."}
	if other.Choice.Judge == first.Choice.Judge {
		about = point{About: "With " + other.Choice.Aggregation, Asks: "another aggregation of token probabilities", Term: "token", Says: about.Says}
	}
	if differences := Differences(first, other); len(differences) > 0 {
		about.Says = strings.Join(differences, " ")
	}
	return about
}

// heading splits "Ranking (AUROC: are right answers …?)" into its two parts.
func heading(title string) (about, question string) {
	if title == "BRIER" {
		return "Both in one", "Brier score: how far confidence is from what is right"
	}
	about, question, _ = strings.Cut(asks(title), " (")
	return about, strings.TrimSuffix(question, ")")
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// counts of settings by what one metric says in them.
type counts struct {
	stated, token, chance, undefined int
	resolved, point                  int
}

func countsOf(comparisons []*protocol.Comparison, m int) counts {
	var n counts
	for _, c := range comparisons {
		base := c.Contexts[0].Gaps[m]
		switch {
		case !base.Gap.Defined():
			n.undefined++
		case !base.Resolved:
			n.chance++
		case base.Better == record.VerbalisedSignal:
			n.stated++
		default:
			n.token++
		}
		switch flipIn(c, m) {
		case protocol.ResolvedFlip:
			n.resolved++
		case protocol.PointFlip:
			n.point++
		}
	}
	return n
}

// flipIn is the strongest flip of a metric over the contexts of a setting.
func flipIn(c *protocol.Comparison, m int) protocol.Flip {
	strongest := protocol.NoFlip
	for _, context := range c.Contexts[1:] {
		switch context.Gaps[m].Flip {
		case protocol.ResolvedFlip:
			return protocol.ResolvedFlip
		case protocol.PointFlip:
			strongest = protocol.PointFlip
		}
	}
	return strongest
}

func (n counts) words(comparisons []*protocol.Comparison) string {
	base := comparisons[0].Contexts[0].Name
	said := []string{
		fmt.Sprintf("In the %s context the stated score is better beyond chance in %d of %s, the token score in %d", base, n.stated, plural(len(comparisons), "setting"), n.token),
		fmt.Sprintf("in %d the two are within chance of each other", n.chance),
	}
	if n.undefined > 0 {
		said = append(said, fmt.Sprintf("in %d they cannot be compared", n.undefined))
	}
	flips := "no other context changes the better signal in any setting."
	switch {
	case n.resolved > 0:
		flips = fmt.Sprintf("the verdict flips with the context in %d, with both sides resolved", n.resolved)
		if n.point > 0 {
			flips += fmt.Sprintf(", and in %d more it changes within chance", n.point)
		}
		flips += "."
	case n.point > 0:
		flips = fmt.Sprintf("the better signal changes with the context in %d, but nowhere beyond chance.", n.point)
	}
	return strings.Join(said, "; ") + ". " + upper(flips)
}

// cautionOver says how far the numbers of items let the settings be trusted.
func cautionOver(comparisons []*protocol.Comparison) string {
	wide, none := 0, 0
	for _, c := range comparisons {
		switch width := widestGap(c); {
		case c.Used == 0:
			none++
		case width == 0 || width > .05:
			wide++
		}
	}
	var said []string
	if none > 0 {
		said = append(said, fmt.Sprintf("in %s nothing could be used", plural(none, "setting")))
	}
	if wide > 0 {
		said = append(said, fmt.Sprintf("in %d some gap may be off by more than ±0.05, for want of items", wide))
	}
	said = append(said, "each setting is one model on one set of questions, and says nothing of others; among many settings, some differ by chance")
	return upper(strings.Join(said, "; ")) + "."
}

// widestGap is half the width of the widest interval of a gap; 0 where there is none.
func widestGap(c *protocol.Comparison) float64 {
	widest := 0.0
	for _, context := range c.Contexts {
		for _, g := range context.Gaps {
			if iv := g.Gap.Interval; iv != nil {
				widest = max(widest, (iv.Upper-iv.Lower)/2)
			}
		}
	}
	return widest
}

func leadOf(sections []*Section) string {
	models, sets := map[string]bool{}, map[string]bool{}
	asked, used := 0, 0
	for _, s := range sections {
		models[s.first.Setting.Model], sets[s.first.Setting.Dataset] = true, true
		asked, used = asked+s.first.Asked, used+s.first.Used
	}
	return fmt.Sprintf("%s on %s: %s asked, %d used.", plural(len(models), "model"), plural(len(sets), "data set"), plural(asked, "item"), used)
}
