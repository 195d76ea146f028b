package judge

import (
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// Repeatability is the share of pairs of verdicts that agree when the same judge judges the same answer
// again, averaged over answers. verdicts[i] are the verdicts on answer i, at least two of which must be
// there for the answer to count. Range [0,1], higher is steadier; 1 for a judge that always says the
// same. Two verdicts drawn at random with equal chances agree half the time. Answers with fewer than two verdicts are
// left out and counted.
func Repeatability(verdicts [][]record.Verdict) measure.Value {
	const id, few = "judge.repeatability", "fewer than 2 verdicts"
	sum, n := 0.0, 0
	for _, list := range verdicts {
		correct, judged := 0, 0
		for _, v := range list {
			if v == record.NotJudged {
				continue
			}
			judged++
			if v == record.Correct {
				correct++
			}
		}
		if judged < 2 {
			continue
		}
		n++
		apart := correct * (judged - correct)
		sum += 1 - float64(apart)/float64(judged*(judged-1)/2)
	}
	if n == 0 {
		return leaveOut(measure.Undefined(id, measure.NoItems, 0), few, len(verdicts))
	}
	return leaveOut(measure.Of(id, sum/float64(n), n), few, len(verdicts)-n)
}

// Sway is what a change that should not matter does to a judge: the order of references, or of the two
// verdicts in its question.
type Sway struct {
	// Changed is the share of answers whose verdict differs, in [0,1], lower is steadier. Its N are the
	// answers with both verdicts.
	Changed measure.Value
	// ToCorrect and ToIncorrect count the answers that changed, by where they went.
	ToCorrect, ToIncorrect int
}

// SwayOf compares the verdicts on the same answers, in the same order, before and after the change.
// It panics if there are not as many of both.
func SwayOf(before, after []record.Verdict) Sway {
	const id, one = "judge.sway", "one verdict missing"
	if len(before) != len(after) {
		panic("judge: verdicts of other answers")
	}
	var s Sway
	n := 0
	for i, v := range before {
		switch w := after[i]; {
		case v == record.NotJudged || w == record.NotJudged:
			continue
		case v != w && w == record.Correct:
			s.ToCorrect++
		case v != w:
			s.ToIncorrect++
		}
		n++
	}
	left := len(before) - n
	if n == 0 {
		s.Changed = leaveOut(measure.Undefined(id, measure.NoItems, 0), one, left)
		return s
	}
	s.Changed = leaveOut(measure.Of(id, float64(s.ToCorrect+s.ToIncorrect)/float64(n), n), one, left)
	return s
}

func leaveOut(v measure.Value, reason string, n int) measure.Value {
	if n > 0 {
		v.LeftOut = append(v.LeftOut, measure.Excluded{Reason: reason, N: n})
	}
	return v
}
