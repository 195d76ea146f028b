package judge

import "github.com/credence-lab/credence/measure"

// Tally counts a judge's preferences between two answers. A tie is a verdict and stays in the denominator.
type Tally struct {
	Win, Lose, Tie int
	// NotJudged are left out of the rates and counted beside them.
	NotJudged int
}

// Rates returns the shares of wins, losses and ties among all verdicts, in [0,1], which add up to 1, and
// the adjusted win rate: wins and half the ties. Undefined without a verdict.
func (t Tally) Rates() (win, lose, tie, adjusted measure.Value) {
	n := t.Win + t.Lose + t.Tie
	rate := func(id string, x float64) measure.Value {
		if n == 0 {
			return leaveOut(measure.Undefined(id, measure.NoItems, 0), "not judged", t.NotJudged)
		}
		return leaveOut(measure.Of(id, x/float64(n), n), "not judged", t.NotJudged)
	}
	return rate("judge.win-rate", float64(t.Win)),
		rate("judge.loss-rate", float64(t.Lose)),
		rate("judge.tie-rate", float64(t.Tie)),
		rate("judge.win-rate.adjusted", float64(t.Win)+float64(t.Tie)/2)
}
