package bayes_test

import (
	"math"
	"testing"

	"github.com/credence-lab/credence/bayes"
)

// The values of 400 × 400 nodes computed by scipy; the rule here has as many nodes as are exact.
func TestOneJudgeByQuadrature(t *testing.T) {
	t.Parallel()
	type moments struct{ Mean, SD float64 }
	var file struct {
		PeopleCorrect   string `json:"people_correct"`
		PeopleIncorrect string `json:"people_incorrect"`
		Cases           []struct {
			Name, Y string
			PPrior  []float64 `json:"p_prior"`
			Expect  struct {
				TP, TN, P1, P0, Accuracy moments
				ThetaMean                moments `json:"theta_mean"`
				LogMarginal              float64 `json:"log_marginal_likelihood"`
			}
		}
	}
	read(t, "single.json", &file)
	people := make([]bayes.Votes, len(file.PeopleCorrect))
	for i := range people {
		people[i] = bayes.Votes{Correct: float64(file.PeopleCorrect[i] - '0'), Incorrect: float64(file.PeopleIncorrect[i] - '0')}
	}
	if len(file.Cases) < 10 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		prior := bayes.Beta{A: c.PPrior[0], B: c.PPrior[1]}
		got, err := bayes.FitExactly(people, bayes.Judge{Name: c.Name, Counts: counts(c.Y)}, bayes.JudgePriors{Sensitivity: prior, Specificity: prior})
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, got bayes.Moments, want moments) {
			if math.Abs(got.Mean-want.Mean) > 1e-9 || math.Abs(got.SD-want.SD) > 1e-9 {
				t.Errorf("%s: %s is %v, want %v", c.Name, what, got, want)
			}
		}
		check("joint TP", got.Quantities[bayes.JointTP], c.Expect.TP)
		check("joint TN", got.Quantities[bayes.JointTN], c.Expect.TN)
		check("sensitivity", got.Quantities[bayes.TPR], c.Expect.P1)
		check("specificity", got.Quantities[bayes.TNR], c.Expect.P0)
		check("accuracy", got.Quantities[bayes.Accuracy], c.Expect.Accuracy)
		check("mean correctness", got.MeanCorrectness, c.Expect.ThetaMean)
		if d := got.LogMarginal - c.Expect.LogMarginal; math.Abs(d) > 1e-9 {
			t.Errorf("%s: log marginal likelihood is off by %g", c.Name, d)
		}
	}
}
