package bayescheck_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/credence-lab/credence/bayes"
)

// All judges together, against 4 × 4,000 draws of numpyro.
func TestJointPosterior(t *testing.T) {
	t.Parallel()
	f := readJoint(t)
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			o := bayes.Options{Seed: 3}
			if !stress() {
				if c.Name == "with-people" {
					t.Skip("the second of two alike takes as long again; set CREDENCE_STRESS=1")
				}
				o.Warmup, o.Draws = 500, 750
			}
			d := f.data
			d.Judges = d.Judges[:c.Judges]
			p, err := bayes.FitJudges(t.Context(), d, bayes.PaperPriors(), bayes.NUTS, o)
			if err != nil {
				t.Fatal(err)
			}
			converged(t, p.Convergence)
			within(t, "mean correctness", p.MeanCorrectness, c.MeanTheta)
			for j, want := range c.Expect {
				name := d.Judges[j].Name
				for q, want := range map[bayes.Quantity]moments{
					bayes.JointTP: want.TP, bayes.JointTN: want.TN, bayes.F1: want.F1, bayes.Accuracy: want.Accuracy,
					bayes.TPR: want.P1, bayes.TNR: want.P0,
				} {
					e, ok := p.By(name, q)
					if !ok {
						t.Fatalf("no %s of %s", q, name)
					}
					if want.SD > 0 { // the reference has sensitivity and specificity of some judges only
						within(t, name+" "+string(q), e, want)
					}
				}
			}
			// The reference has means of draws of the correctness, with some 4,000 effective ones of each item.
			for i, e := range p.Correctness {
				mean, _ := e.Mean.Get()
				sd, _ := e.SD.Get()
				if math.Abs(mean-c.ThetaMean[i]) > 4*c.ThetaSD[i]/math.Sqrt(2000) {
					t.Errorf("correctness of item %d is %v, want %v", i, mean, c.ThetaMean[i])
				}
				if math.Abs(sd/c.ThetaSD[i]-1) > .08 {
					t.Errorf("deviation of the correctness of item %d is %v, want %v", i, sd, c.ThetaSD[i])
				}
			}
		})
	}
}

// Both samplers on one judge, against quadrature.
func TestOneJudgeBySampling(t *testing.T) {
	t.Parallel()
	f := readJoint(t)
	for _, sampler := range []bayes.Sampler{bayes.NUTS, bayes.Gibbs} {
		for _, j := range []int{0, 19, 47, 48} {
			judge := f.data.Judges[j]
			t.Run(fmt.Sprint(sampler, " ", judge.Name), func(t *testing.T) {
				t.Parallel()
				exact, err := bayes.FitExactly(f.data.People, judge, bayes.PaperPriors())
				if err != nil {
					t.Fatal(err)
				}
				p, err := bayes.FitJudges(t.Context(), bayes.JudgeData{People: f.data.People, Judges: []bayes.Judge{judge}},
					bayes.PaperPriors(), sampler, bayes.Options{Seed: 5})
				if err != nil {
					t.Fatal(err)
				}
				converged(t, p.Convergence)
				for q, want := range exact.Quantities {
					within(t, string(q), p.Judges[0].Quantities[q], moments{Mean: want.Mean, SD: want.SD})
				}
				within(t, "mean correctness", p.MeanCorrectness, moments{Mean: exact.MeanCorrectness.Mean, SD: exact.MeanCorrectness.SD})
			})
		}
	}
}

// NUTS and Gibbs on one threshold of each family and the people, with missing judgements and with
// several by one judge.
func TestSamplersAgree(t *testing.T) {
	t.Parallel()
	f := readJoint(t)
	keep := map[string]bool{}
	for _, name := range bayes.Representatives(f.data) {
		keep[name] = true
	}
	d := bayes.JudgeData{People: f.data.People}
	for _, j := range f.data.Judges {
		if !keep[j.Name] {
			continue
		}
		for i := range j.Counts {
			switch (i + len(d.Judges)) % 7 {
			case 0:
				j.Counts[i] = bayes.Count{}
			case 1:
				j.Counts[i].Correct++
			}
		}
		d.Judges = append(d.Judges, j)
	}
	if len(d.Judges) != 10 { // five families, exact match, two models, two people
		t.Fatalf("%d judges", len(d.Judges))
	}
	nuts, err := bayes.FitJudges(t.Context(), d, bayes.PaperPriors(), bayes.NUTS, bayes.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	gibbs, err := bayes.FitJudges(t.Context(), d, bayes.PaperPriors(), bayes.Gibbs, bayes.Options{Seed: 2, Draws: 12_000})
	if err != nil {
		t.Fatal(err)
	}
	converged(t, nuts.Convergence)
	converged(t, gibbs.Convergence)
	for j, judge := range nuts.Judges {
		for _, q := range bayes.Quantities {
			within(t, fmt.Sprint(judge.Name, " ", q), judge.Quantities[q], momentsOf(gibbs.Judges[j].Quantities[q]))
		}
	}
	within(t, "mean correctness", nuts.MeanCorrectness, momentsOf(gibbs.MeanCorrectness))
	for i, e := range nuts.Correctness {
		mean, _ := e.Mean.Get()
		sd, _ := e.SD.Get()
		gibbsMean, _ := gibbs.Correctness[i].Mean.Get()
		gibbsSD, _ := gibbs.Correctness[i].SD.Get()
		if math.Abs(mean-gibbsMean) > .01 || math.Abs(sd-gibbsSD) > .01 {
			t.Errorf("correctness of item %d is %v ± %v by NUTS, %v ± %v by Gibbs", i, mean, sd, gibbsMean, gibbsSD)
		}
	}
}

func momentsOf(e bayes.Estimate) moments {
	var m moments
	m.Mean, _ = e.Mean.Get()
	m.SD, _ = e.SD.Get()
	m.MCSE, _ = e.MCSE.Get()
	return m
}

// One judge's accuracy is .94 fitted alone and .88 among all 48, most of which are thresholds of five
// scores: the three ways of fitting are shown side by side because they differ.
func TestScopesDiffer(t *testing.T) {
	t.Parallel()
	needStress(t, "50 fits")
	f := readJoint(t)
	d := f.data
	d.Judges = d.Judges[:48]
	fits, err := bayes.FitScopes(t.Context(), d, bayes.PaperPriors(), bayes.NUTS, bayes.Options{Seed: 1, Warmup: 500, Draws: 1000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range fits.Table(bayes.Accuracy) {
		if alone, _ := row.Alone.Mean.Get(); math.Abs(alone-row.Exact.Mean) > .01 {
			t.Errorf("%s alone: %v sampled, %v exactly", row.Judge, alone, row.Exact.Mean)
		}
		if row.Judge != "llm_gpt" {
			continue
		}
		alone, _ := row.Alone.Mean.Get()
		family, _ := row.OnePerFamily.Mean.Get()
		all, _ := row.All.Mean.Get()
		t.Logf("accuracy of %s: alone %.3f, one per family %.3f, all %.3f", row.Judge, alone, family, all)
		if !(alone > all+.02) {
			t.Errorf("%s: accuracy is %v alone, %v among all", row.Judge, alone, all)
		}
	}
}
