package bayes_test

import (
	"fmt"

	"github.com/credence-lab/credence/bayes"
)

// Two people labelled five answers; a judge accepted the first four.
func ExampleFitExactly() {
	people := []bayes.Votes{{Correct: 2}, {Correct: 2}, {Correct: 2}, {Incorrect: 2}, {Incorrect: 2}}
	judge := bayes.Judge{Name: "token-f1@0.3", Counts: []bayes.Count{{Correct: 1}, {Correct: 1}, {Correct: 1}, {Correct: 1}, {Incorrect: 1}}}

	p, err := bayes.FitExactly(people, judge, bayes.PaperPriors())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range []bayes.Quantity{bayes.TPR, bayes.TNR, bayes.JointTP} {
		m := p.Quantities[q]
		fmt.Printf("%-8s %.3f ± %.3f\n", q, m.Mean, m.SD)
	}
	// Output:
	// tpr      0.774 ± 0.184
	// tnr      0.489 ± 0.249
	// joint.tp 0.447 ± 0.126
}
