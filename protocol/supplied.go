package protocol

import (
	"context"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/resample"
)

// SuppliedSummary is what stated confidence in given answers responds to, pooled over the settings of a
// group ("Same Answer, Different Confidence", section 4.5, appendix I and Table 17). It concerns the
// level of stated confidence, not the gap.
type SuppliedSummary struct {
	Group string `json:"group"`
	// Levels are mean stated confidences, each over its own set of questions.
	Levels []SuppliedLevel `json:"levels"`
	// Pairs compare two answers to the same question.
	Pairs []SuppliedPair `json:"pairs"`
	// CanonicalMatch and AliasMatch are the shares of own correct answers that equal the canonical
	// reference and the first alias, where there is an alias.
	CanonicalMatch measure.Value `json:"canonical_match"`
	AliasMatch     measure.Value `json:"alias_match"`
	// Resupplied says what supplying the own answer again changes.
	Resupplied Resupplied `json:"resupplied"`
	// Removed counts the pairs that a person's decision on a near-correct answer removed, Undecided the
	// pairs in use whose wrong answer is near-correct and undecided.
	Removed   int `json:"removed"`
	Undecided int `json:"undecided"`
}

// SuppliedLevel is the mean stated confidence in one kind of answer.
type SuppliedLevel struct {
	Answer string        `json:"answer"`
	Mean   measure.Value `json:"mean"`
}

// SuppliedPair is the mean difference in stated confidence between two answers to the same question.
type SuppliedPair struct {
	// First and Second name the answers; Where restricts the questions (may be empty); Dataset restricts
	// them to one data set (may be empty).
	First   string `json:"first"`
	Second  string `json:"second"`
	Where   string `json:"where,omitempty"`
	Dataset string `json:"dataset,omitempty"`
	// Difference is first minus second, the pooled pairs resampled.
	Difference measure.Value `json:"difference"`
	// Higher, Same and Lower are the shares of pairs in which the first gets more, as much and less.
	Higher measure.Value `json:"higher"`
	Same   measure.Value `json:"same"`
	Lower  measure.Value `json:"lower"`
}

// Resupplied compares the stated confidence in the own answer with that in the same answer supplied.
type Resupplied struct {
	// LargestChange is the greatest absolute change of the mean in a setting, which Setting names.
	LargestChange measure.Value `json:"largest_change"`
	Setting       string        `json:"setting,omitempty"`
	// Unchanged is the share of values that stay to the digit, averaged over settings.
	Unchanged measure.Value `json:"unchanged"`
}

// The answers of the supplied part.
const (
	ownCorrect = "own, correct"
	ownWrong   = "own, wrong"
	canonical  = "canonical"
	alias      = "alias"
	otherWrong = "other model's wrong"
	offType    = "off-type"
)

// Ruling is a person's decision on a plausible wrong answer that a looser normalisation finds close to
// a reference.
type Ruling uint8

const (
	// NotNear: nothing to decide.
	NotNear Ruling = iota
	// Undecided: flagged, and nobody has decided.
	Undecided
	// JudgedCorrect: it is correct after all; its pairs are removed and counted.
	JudgedCorrect
	// JudgedWrong: it stays.
	JudgedWrong
)

// SuppliedDesign is what the supplied part needs to know beyond the records.
type SuppliedDesign struct {
	Elicitation string
	Judge       string
	// Supplied names the elicitation of given answers.
	Supplied string
	// Same says that two texts are one after normalisation.
	Same func(a, b string) bool
	// Ruling on a plausible wrong answer; nil is NotNear for all.
	Ruling func(record.AnswerID) Ruling
}

type pairKey struct{ first, second, where, dataset string }

// suppliedPool accumulates pairs over settings.
type suppliedPool struct {
	group     string
	design    SuppliedDesign
	keys      []pairKey
	pairs     map[pairKey][2][]float64
	levels    map[string][]float64
	matches   map[string]int
	matchable int
	changes   []resupplied
	removed   int
	undecided int
}

type resupplied struct {
	setting   string
	change    float64
	unchanged float64
	n         int
}

func newSuppliedPool(group string, d SuppliedDesign) *suppliedPool {
	return &suppliedPool{group: group, design: d, pairs: map[pairKey][2][]float64{}, levels: map[string][]float64{}, matches: map[string]int{}}
}

// given is one answer with its stated confidence; there is false where either is missing.
type given struct {
	text   string
	stated float64
	there  bool
}

// rated is one question with all its rated answers.
type rated struct {
	dataset                             string
	own, again, canonical, alias, wrong given
	offType                             given
	correct, judged, listed, ruledOut   bool
	undecided                           bool
}

func (p *suppliedPool) add(r *Records, items map[string]record.Item) {
	change := resupplied{setting: r.setting.String()}
	for _, i := range r.written(p.design.Elicitation) {
		q := p.rate(r, i, items)
		p.addLevels(q)
		p.addPairs(q)
		if q.own.there && q.again.there {
			change.n++
			change.change += q.again.stated - q.own.stated
			if q.again.stated == q.own.stated {
				change.unchanged++
			}
		}
	}
	if change.n > 0 {
		change.change /= float64(change.n)
		change.unchanged /= float64(change.n)
		p.changes = append(p.changes, change)
	}
}

func (p *suppliedPool) rate(r *Records, i int, items map[string]record.Item) rated {
	answer := r.answers[i]
	item := answer.ID.Item
	q := rated{dataset: r.setting.Dataset, own: p.given(r, i, p.design.Elicitation), again: p.given(r, i, p.design.Supplied)}
	label, why := r.label(i, p.design.Judge)
	q.judged, q.correct = why == record.Present, label == 1
	at := func(source record.Source, role record.Role) given {
		if k, ok := r.of(item, record.Origin{Source: source, Role: role}); ok {
			return p.given(r, k, p.design.Supplied)
		}
		return given{}
	}
	q.canonical, q.alias = at(record.Reference, record.Canonical), at(record.Reference, record.Alias)
	q.wrong, q.offType = at(record.Supplied, record.PlausibleWrong), at(record.Supplied, record.OffType)
	if q.wrong.there && p.design.Ruling != nil {
		ruling := p.design.Ruling(record.AnswerID{Setting: r.setting, Item: item, Origin: record.Origin{Source: record.Supplied, Role: record.PlausibleWrong}})
		q.ruledOut, q.undecided = ruling == JudgedCorrect, ruling == Undecided
	}
	q.listed = q.wrong.there && slices.ContainsFunc(items[item].Incorrect, func(s string) bool { return p.design.Same(s, q.wrong.text) })
	return q
}

func (p *suppliedPool) given(r *Records, i int, elicitation string) given {
	x, ok := r.statedOf(i, elicitation).Value.Get()
	return given{r.answers[i].Text, x, ok && r.answers[i].Missing == record.Present}
}

func (p *suppliedPool) addLevels(q rated) {
	level := func(name string, g given) {
		if g.there {
			p.levels[name] = append(p.levels[name], g.stated)
		}
	}
	if q.judged && q.correct {
		level(ownCorrect, q.own)
	}
	if q.judged && !q.correct {
		level(ownWrong, q.own)
	}
	level(canonical, q.canonical)
	level(alias, q.alias)
	if !q.ruledOut {
		level(otherWrong, q.wrong)
	}
	level(offType, q.offType)
}

func (p *suppliedPool) addPairs(q rated) {
	same := p.design.Same
	if q.canonical.there && q.alias.there {
		p.pair(canonical, alias, "", q, q.canonical, q.alias)
		where := "the strings differ"
		if same(q.canonical.text, q.alias.text) {
			where = "the strings are the same"
		}
		p.pair(canonical, alias, where, q, q.canonical, q.alias)
	}
	if q.judged && q.correct && q.own.there && q.canonical.there {
		p.match(q)
		if !same(q.own.text, q.canonical.text) {
			p.pair(ownCorrect, canonical, "written differently", q, q.own, q.canonical)
		}
	}
	if !q.wrong.there {
		return
	}
	if q.ruledOut {
		p.removed++
		return
	}
	if q.undecided {
		p.undecided++
	}
	if q.canonical.there {
		p.pair(canonical, otherWrong, "", q, q.canonical, q.wrong)
		if q.listed {
			p.pair(canonical, otherWrong, "the wrong answer is a listed option", q, q.canonical, q.wrong)
		}
	}
	if q.alias.there {
		p.pair(alias, otherWrong, "", q, q.alias, q.wrong)
	}
	if q.judged && !q.correct && q.own.there && q.canonical.there {
		const where = "the own answer is wrong"
		p.pair(ownWrong, otherWrong, where, q, q.own, q.wrong)
		p.pair(ownWrong, canonical, where, q, q.own, q.canonical)
		p.pair(canonical, otherWrong, where, q, q.canonical, q.wrong)
	}
}

func (p *suppliedPool) match(q rated) {
	if !q.alias.there {
		return
	}
	p.matchable++
	if p.design.Same(q.own.text, q.canonical.text) {
		p.matches[canonical]++
	}
	if p.design.Same(q.own.text, q.alias.text) {
		p.matches[alias]++
	}
}

// pair files a pair under all data sets together and under its own.
func (p *suppliedPool) pair(first, second, where string, q rated, x, y given) {
	for _, dataset := range []string{"", q.dataset} {
		key := pairKey{first, second, where, dataset}
		values, ok := p.pairs[key]
		if !ok {
			p.keys = append(p.keys, key)
		}
		values[0], values[1] = append(values[0], x.stated), append(values[1], y.stated)
		p.pairs[key] = values
	}
}

func (p *suppliedPool) result(ctx context.Context, o Options) (SuppliedSummary, error) {
	sum := SuppliedSummary{Group: p.group, Removed: p.removed, Undecided: p.undecided}
	for _, name := range []string{ownCorrect, ownWrong, canonical, alias, otherWrong, offType} {
		v, err := p.mean(ctx, "stated", "level "+name, o, p.levels[name])
		if err != nil {
			return SuppliedSummary{}, err
		}
		sum.Levels = append(sum.Levels, SuppliedLevel{name, v})
	}
	for _, key := range p.order() {
		pair, err := p.compare(ctx, key, o)
		if err != nil {
			return SuppliedSummary{}, err
		}
		sum.Pairs = append(sum.Pairs, pair)
	}
	sum.CanonicalMatch = metric.Proportion(p.matches[canonical], p.matchable, o.Level)
	sum.AliasMatch = metric.Proportion(p.matches[alias], p.matchable, o.Level)
	sum.Resupplied = p.resupplied()
	return sum, nil
}

// order has a comparison over all data sets before its parts; with one data set the parts are left out.
func (p *suppliedPool) order() []pairKey {
	datasets := map[string]bool{}
	for _, key := range p.keys {
		datasets[key.dataset] = true
	}
	var list []pairKey
	for _, key := range p.keys {
		if key.dataset != "" {
			continue
		}
		list = append(list, key)
		for _, part := range p.keys {
			if len(datasets) > 2 && part.dataset != "" && part.first == key.first && part.second == key.second && part.where == key.where {
				list = append(list, part)
			}
		}
	}
	return list
}

func (p *suppliedPool) compare(ctx context.Context, key pairKey, o Options) (SuppliedPair, error) {
	x, y := p.pairs[key][0], p.pairs[key][1]
	difference, err := p.mean(ctx, "stated.difference", key.first+" against "+key.second+" "+key.where+" "+key.dataset, o, x, y)
	if err != nil {
		return SuppliedPair{}, err
	}
	higher, same, lower := 0, 0, 0
	for i := range x {
		switch {
		case x[i] > y[i]:
			higher++
		case x[i] < y[i]:
			lower++
		default:
			same++
		}
	}
	share := func(k int) measure.Value { return metric.Proportion(k, len(x), o.Level) }
	return SuppliedPair{key.first, key.second, key.where, key.dataset, difference, share(higher), share(same), share(lower)}, nil
}

// mean is the mean of values, or of the paired differences of two lists, with a bootstrap of the pool.
func (p *suppliedPool) mean(ctx context.Context, id, purpose string, o Options, lists ...[]float64) (measure.Value, error) {
	n := len(lists[0])
	if n == 0 {
		return measure.Undefined("mean."+id, measure.NoItems, 0), nil
	}
	var scores []metric.Score
	terms := []resample.Term{{Score: 0, Weight: 1}}
	for k, values := range lists {
		scores = append(scores, metric.Score{Name: id, Values: values, Orientation: measure.Confidence})
		if k > 0 {
			terms = append(terms, resample.Term{Score: k, Weight: -1})
		}
	}
	e, err := meansEvaluation(ctx, scores, n, resample.SettingSeed(o.Seed, p.group, "pooled", purpose), o)
	if err != nil {
		return measure.Value{}, err
	}
	return e.quantity(terms...).Value("mean."+id, o.Level), nil
}

func (p *suppliedPool) resupplied() Resupplied {
	out := Resupplied{
		LargestChange: measure.Undefined("largest-mean-change", measure.NoItems, 0),
		Unchanged:     measure.Undefined("mean.unchanged", measure.NoItems, 0),
	}
	largest, unchanged, n := -1., 0., 0
	for _, c := range p.changes {
		n += c.n
		unchanged += c.unchanged / float64(len(p.changes))
		if math.Abs(c.change) > largest {
			largest, out.Setting = math.Abs(c.change), c.setting
		}
	}
	if n > 0 {
		out.LargestChange = measure.Of("largest-mean-change", largest, n)
		out.Unchanged = measure.Of("mean.unchanged", unchanged, n)
	}
	return out
}
