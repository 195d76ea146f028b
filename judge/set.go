package judge

import (
	"fmt"
	"sync"

	"github.com/credence-lab/credence/record"
)

// Set is judges that need nothing but texts. Each score is computed once, whatever the number of its
// thresholds, and texts are cut into words once for all judges that share the words. Safe for
// concurrent use.
type Set struct {
	ids     []string
	cuts    []Cut
	scorers []scorer
	pool    sync.Pool // of *comparison
}

// scorer is a judge of the set before its thresholds.
type scorer struct {
	Entry
	at []int // where in ids its judgements stand
}

// NewSet returns the judges of the ids. An id of a judge that needs more than texts is an error that
// says what it needs; so is an id given twice.
func NewSet(ids ...string) (*Set, error) {
	s := &Set{}
	position := map[string]int{} // of a scorer
	seen := map[string]bool{}
	for i, text := range ids {
		id, err := ParseID(text)
		if err != nil {
			return nil, err
		}
		e := id.Entry()
		switch {
		case !e.FromText():
			return nil, fmt.Errorf("judge %q: needs %s, not only texts", text, e.Needs)
		case seen[id.String()]:
			return nil, fmt.Errorf("judge %q: given twice", id)
		}
		seen[id.String()] = true
		s.ids = append(s.ids, id.String())
		s.cuts = append(s.cuts, id.Cut)
		p, ok := position[id.Judge]
		if !ok {
			p = len(s.scorers)
			position[id.Judge] = p
			s.scorers = append(s.scorers, scorer{Entry: e})
		}
		s.scorers[p].at = append(s.scorers[p].at, i)
	}
	s.pool.New = func() any { return new(comparison) }
	return s, nil
}

// IDs returns the judges' ids in the order of [NewSet].
func (s *Set) IDs() []string { return append([]string(nil), s.ids...) }

// Judge returns the judgement of every judge on an answer to an item, in the order of the ids. Not
// judged, with the reason: a missing answer (record.AnswerMissing), an answer of blanks alone
// (record.EmptyAnswer), an item without a reference that holds text (record.NoReference), and what a
// judge cannot read.
func (s *Set) Judge(answer record.Answer, item record.Item) []record.Judgement {
	return s.Append(make([]record.Judgement, 0, len(s.ids)), answer, item)
}

// Append is Judge that appends to dst.
func (s *Set) Append(dst []record.Judgement, answer record.Answer, item record.Item) []record.Judgement {
	c := s.pool.Get().(*comparison)
	defer s.pool.Put(c)
	c.outcomes = s.outcomes(c, c.outcomes[:0], answer, item)
	for i, o := range c.outcomes {
		dst = append(dst, record.Judgement{Answer: answer.ID, Judge: s.ids[i], Verdict: o.Verdict, Missing: o.Missing})
	}
	return dst
}

// Outcome is a judgement without the names of judge and answer.
type Outcome struct {
	Verdict record.Verdict
	Missing record.Missing
}

// Outcomes appends to dst what Judge returns, without names: for who judges many answers and keeps them
// in columns.
func (s *Set) Outcomes(dst []Outcome, answer record.Answer, item record.Item) []Outcome {
	c := s.pool.Get().(*comparison)
	defer s.pool.Put(c)
	return s.outcomes(c, dst, answer, item)
}

func (s *Set) outcomes(c *comparison, dst []Outcome, answer record.Answer, item record.Item) []Outcome {
	missing := c.set(answer, item)
	from := len(dst)
	for range s.ids {
		dst = append(dst, Outcome{Missing: missing})
	}
	if missing != record.Present {
		return dst
	}
	out := dst[from:]
	for _, scorer := range s.scorers {
		score := scorer.measure(c)
		for _, i := range scorer.at {
			out[i].Verdict, out[i].Missing = s.cuts[i].Verdict(score)
		}
	}
	return dst
}

// Score is the score of one judge before any threshold.
type Score struct {
	// Judge is the id of the judge without threshold.
	Judge string
	// Value lies between Low and High of the judge's entry, higher for closer to correct, or is absent with a
	// reason. A judge that gives a verdict at once has 1 and 0.
	Value record.Number
}

// Scores returns the score of each judge of the set, once, in the order in which they come first.
func (s *Set) Scores(answer record.Answer, item record.Item) []Score {
	c := s.pool.Get().(*comparison)
	defer s.pool.Put(c)
	missing := c.set(answer, item)
	scores := make([]Score, len(s.scorers))
	for i, scorer := range s.scorers {
		scores[i] = Score{scorer.ID, record.Absent(record.AnswerMissing)}
		if missing == record.Present {
			scores[i].Value = scorer.measure(c)
		} else {
			scores[i].Value = record.Absent(missing)
		}
	}
	return scores
}
