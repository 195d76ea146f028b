package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/credence-lab/credence/record"
)

// mostItems is how many items a page shows of a setting; the tables of the run have them all.
const mostItems = 40

// Bounds of what a page shows of one text, in characters, and of one answer, in tokens.
const (
	mostText   = 600
	mostTokens = 64
	mostListed = 6 // accepted answers
)

// itemsView are the most telling items of a setting, in groups.
type itemsView struct {
	Groups     []itemGroup
	Shown, All int
}

type itemGroup struct {
	Title, What string
	Items       []itemView
	// All is how many there are of this kind.
	All int
}

type itemView struct {
	Question, ID, Field string
	// Why the item is telling.
	Why string
	// Reply is the raw reply, Answer what was taken from it, Missing why nothing was.
	Reply, Answer, Missing string
	Truncated              bool
	Accepted               []string
	Stated                 string
	Verdicts               []verdictView
	Tokens                 []tokensView
}

// verdictView is a verdict and the judges that gave it.
type verdictView struct{ Class, Verdict, Judges string }

// tokensView is the answer's tokens in one context.
type tokensView struct {
	Context string
	Series  int
	Tokens  []tokenView
	More    int
	Score   string
	Missing string
}

type tokenView struct {
	Text, P string
	// Shade from 0 to 9 is the probability in tenths.
	Shade int
}

// told is what is known of one answer, joined by its id.
type told struct {
	answer   record.Answer
	item     record.Item
	stated   record.Reading
	scorings []record.Scoring
	tokens   []record.Reading // token scores, by context of the first comparison
	verdicts []record.Judgement

	wrong, right bool
	sure         float64 // highest confidence, stated or in the base context
	low, high    int     // contexts of the lowest and the highest token score
	shift        float64
	used         bool
}

func itemsOf(s Setting) itemsView {
	all := join(s)
	contexts := s.Comparisons[0].Choice.Contexts
	var sureWrong, shifted, missing, rest []*told
	for _, t := range all {
		switch {
		case !t.used:
			missing = append(missing, t)
		case t.wrong && t.sure >= .5:
			sureWrong = append(sureWrong, t)
		case t.shift >= .1:
			shifted = append(shifted, t)
		default:
			rest = append(rest, t)
		}
	}
	by := func(f func(*told) float64) func(a, b *told) int {
		return func(a, b *told) int { return cmp.Or(cmp.Compare(f(b), f(a)), strings.Compare(a.item.ID, b.item.ID)) }
	}
	slices.SortStableFunc(sureWrong, by(func(t *told) float64 { return t.sure }))
	slices.SortStableFunc(shifted, by(func(t *told) float64 { return t.shift }))
	slices.SortStableFunc(rest, by(func(t *told) float64 { return t.sure }))
	groups := []struct {
		title, what string
		list        []*told
		share       int
	}{
		{"Wrong, and sure of it", "the surest first", sureWrong, 16},
		{"The token score moves with the context", "the largest difference between two contexts first", shifted, 14},
		{"Left out", "answers that some value or verdict is missing of", missing, 6},
		{"Others", "the surest first", rest, 4},
	}
	lists := make([]int, len(groups))
	for i, g := range groups {
		lists[i] = len(g.list)
	}
	view := itemsView{All: len(all)}
	for i, n := range shares(lists, []int{groups[0].share, groups[1].share, groups[2].share, groups[3].share}, mostItems) {
		g := groups[i]
		if n == 0 {
			continue
		}
		group := itemGroup{Title: g.title, What: g.what, All: len(g.list)}
		for _, t := range g.list[:n] {
			group.Items = append(group.Items, t.view(contexts))
		}
		view.Groups = append(view.Groups, group)
		view.Shown += n
	}
	return view
}

// shares divides most places: each list first gets its share, then the first lists what is left.
func shares(lengths, share []int, most int) []int {
	given := make([]int, len(lengths))
	for i, n := range lengths {
		given[i] = min(n, share[i])
		most -= given[i]
	}
	for i, n := range lengths {
		more := min(n-given[i], most)
		given[i] += more
		most -= more
	}
	return given
}

func join(s Setting) []*told {
	c := s.Comparisons[0]
	items := make(map[string]record.Item, len(s.Items))
	for _, item := range s.Items {
		items[item.ID] = item
	}
	byID := make(map[record.AnswerID]*told, len(s.Answers))
	all := make([]*told, 0, len(s.Answers))
	for _, a := range s.Answers {
		t := &told{answer: a, item: items[a.ID.Item], tokens: make([]record.Reading, len(c.Choice.Contexts))}
		t.item.ID = a.ID.Item
		byID[a.ID] = t
		all = append(all, t)
	}
	for _, r := range s.Readings {
		t := byID[r.Answer]
		if t == nil {
			continue
		}
		if r.Signal == record.VerbalisedSignal && r.Protocol.Elicitation == c.Choice.Elicitation {
			t.stated = r
		}
		if i := slices.Index(c.Choice.Contexts, r.Protocol.Context); i >= 0 && r.Signal == record.TokenSignal && r.Protocol.Aggregation == c.Choice.Aggregation {
			t.tokens[i] = r
		}
	}
	for _, sc := range s.Scorings {
		if t := byID[sc.Answer]; t != nil {
			t.scorings = append(t.scorings, sc)
		}
	}
	for _, j := range s.Judgements {
		if t := byID[j.Answer]; t != nil {
			t.verdicts = append(t.verdicts, j)
		}
	}
	for _, t := range all {
		t.weigh(c.Choice.Judge)
	}
	return all
}

// weigh finds out how telling an answer is.
func (t *told) weigh(judge string) {
	for _, j := range t.verdicts {
		if j.Judge == judge {
			t.wrong, t.right = j.Verdict == record.Incorrect, j.Verdict == record.Correct
		}
	}
	stated, known := t.stated.Value.Get()
	t.used = known && (t.wrong || t.right) && t.answer.Missing == record.Present
	t.sure = stated
	low, high := math.Inf(1), math.Inf(-1)
	for i, r := range t.tokens {
		x, ok := r.Value.Get()
		if !ok {
			t.used = false
			continue
		}
		if x < low {
			low, t.low = x, i
		}
		if x > high {
			high, t.high = x, i
		}
		if i == 0 {
			t.sure = max(t.sure, x)
		}
	}
	if high > low {
		t.shift = high - low
	}
}

func (t *told) view(contexts []string) itemView {
	v := itemView{
		Question: cut(t.item.Question), ID: cut(t.item.ID), Field: cut(t.item.Field),
		Reply: cut(t.answer.Reply), Answer: cut(t.answer.Text), Missing: string(t.answer.Missing), Truncated: t.answer.Truncated,
		Stated: confidence(t.stated.Value),
		Why:    t.why(contexts),
	}
	if v.Question == "" {
		v.Question = "(question " + v.ID + ")"
	}
	if t.stated.Fallback {
		v.Stated += ", by fallback"
	}
	for i, reference := range t.item.References {
		if i == mostListed {
			v.Accepted = append(v.Accepted, fmt.Sprintf("and %d more", len(t.item.References)-mostListed))
			break
		}
		v.Accepted = append(v.Accepted, cut(reference))
	}
	v.Verdicts = verdictsOf(t.verdicts)
	for _, s := range t.scorings {
		v.Tokens = append(v.Tokens, t.tokensIn(s, contexts))
	}
	return v
}

func verdictsOf(judgements []record.Judgement) []verdictView {
	var list []verdictView
	for _, j := range judgements {
		v := verdictView{Verdict: j.Verdict.String(), Judges: j.Judge}
		switch {
		case j.Missing != record.Present:
			v.Verdict += " (" + string(j.Missing) + ")"
		case j.Verdict == record.Correct:
			v.Class = "right"
		case j.Verdict == record.Incorrect:
			v.Class = "wrong"
		}
		if i := slices.IndexFunc(list, func(w verdictView) bool { return w.Verdict == v.Verdict }); i >= 0 {
			list[i].Judges += ", " + v.Judges
			continue
		}
		list = append(list, v)
	}
	return list
}

// why says in a few words what is telling about the answer.
func (t *told) why(contexts []string) string {
	switch {
	case !t.used:
		return ""
	case t.shift >= .1:
		low, _ := t.tokens[t.low].Value.Get()
		high, _ := t.tokens[t.high].Value.Get()
		return fmt.Sprintf("token score %s in %s, %s in %s", Number(low), contexts[t.low], Number(high), contexts[t.high])
	}
	return ""
}

func (t *told) tokensIn(s record.Scoring, contexts []string) tokensView {
	i := slices.Index(contexts, s.Context)
	v := tokensView{Context: s.Context, Series: 1 + i, Missing: string(s.Missing)}
	if i >= 0 {
		v.Score = confidence(t.tokens[i].Value)
	}
	for k, token := range s.Tokens {
		if k == mostTokens {
			v.More = len(s.Tokens) - k
			break
		}
		v.Tokens = append(v.Tokens, tokenOf(token))
	}
	return v
}

func tokenOf(t record.Token) tokenView {
	p := math.Exp(t.LogProb)
	if !(p >= 0 && p <= 1) { // no engine of ours gives that, a file may
		return tokenView{Text: string(t.Piece), P: "?"}
	}
	return tokenView{Text: string(t.Piece), P: probability(p), Shade: min(9, int(10*p))}
}

// probability writes p in two digits without a leading zero; only 0 and 1 are written as such.
func probability(p float64) string {
	s := strconv.FormatFloat(p, 'f', 2, 64)
	switch {
	case p == 0 || p == 1:
		return s[:1]
	case s == "0.00":
		return "<.01"
	case s == "1.00":
		return ">.99"
	}
	return s[1:]
}

// confidence writes a reading's value or why there is none.
func confidence(n record.Number) string {
	if x, ok := n.Get(); ok {
		return Number(x)
	}
	if n.Missing() == record.Present {
		return "none"
	}
	return "none (" + string(n.Missing()) + ")"
}

// cut bounds a text that a page shows.
func cut(s string) string {
	if len(s) <= mostText || utf8.RuneCountInString(s) <= mostText {
		return s
	}
	n := 0
	for i := range s {
		if n == mostText {
			return s[:i] + fmt.Sprintf(" … (%d more characters)", utf8.RuneCountInString(s[i:]))
		}
		n++
	}
	return s
}
