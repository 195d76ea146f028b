package record_test

import (
	"fmt"

	"github.com/credence-lab/credence/record"
)

func ExampleNumber() {
	for _, n := range []record.Number{record.Known(.8), record.Absent(record.NoProbability)} {
		if x, ok := n.Get(); ok {
			fmt.Println(x)
		} else {
			fmt.Println("missing:", n.Missing())
		}
	}
	// Output:
	// 0.8
	// missing: no probability
}
