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
