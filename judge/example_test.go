package judge_test

import (
	"fmt"

	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/record"
)

func ExampleJudge_Judge() {
	answer := record.Answer{Text: "the river Danube"}
	for _, j := range judge.All() {
		fmt.Println(j.ID(), j.Judge(answer, []string{"Danube", "Donau"}).Verdict)
	}
	// Output:
	// containment.ascii correct
	// containment.unicode correct
	// exact.ascii incorrect
	// exact.unicode incorrect
}

// One pass over the texts, as many judgements as there are ids.
func ExampleSet_Judge() {
	set, err := judge.NewSet("exact-match", "token-f1@0.3", "token-f1@0.9", "rouge-l.unicode@0.3", "bleu@0.1")
	if err != nil {
		fmt.Println(err)
		return
	}
	item := record.Item{References: []string{"State of Wyoming", "Wyoming"}}
	for _, j := range set.Judge(record.Answer{Text: "It is Wyoming"}, item) {
		fmt.Println(j.Judge, j.Verdict)
	}
	_, err = judge.NewSet("rougeL@0.3")
	fmt.Println(err)
	// Output:
	// exact-match incorrect
	// token-f1@0.3 correct
	// token-f1@0.9 incorrect
	// rouge-l.unicode@0.3 correct
	// bleu@0.1 incorrect
	// judge "rougeL@0.3": unknown: did you mean "rouge-l"?
}
