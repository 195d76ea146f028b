package consistency_test

import (
	"fmt"

	"github.com/credence-lab/credence/consistency"
)

func ExampleComparison_C3() {
	original := consistency.Answers("22", "22", "22", "22")
	perturbed := consistency.Answers("22", "22", "17", "612")
	r, err := consistency.CompareAnswers(original, perturbed).C3(consistency.Options{})
	if err != nil {
		panic(err)
	}
	c3, _ := r.C3.Get()
	within, _ := r.Original.Get()
	under, _ := r.Perturbed.Get()
	fmt.Printf("%s: C3 %.3f; agreement %.2f as asked, %.2f perturbed\n", r.State, c3, within, under)
	// Output: determined: C3 0.917; agreement 1.00 as asked, 0.17 perturbed
}
