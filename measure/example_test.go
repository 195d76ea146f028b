package measure_test

import (
	"encoding/json"
	"fmt"

	"github.com/credence-lab/credence/measure"
)

func ExampleValue() {
	known := measure.Of("accuracy", .75, 40).With(measure.Interval{Lower: .59, Upper: .87, Level: .95, Method: "clopper-pearson"})
	unknown := measure.Undefined("auroc", measure.OneClass, 40)
	for _, v := range []measure.Value{known, unknown} {
		text, err := json.Marshal(v)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(string(text))
	}
	// Output:
	// {"method":"accuracy","value":0.75,"interval":{"lower":0.59,"upper":0.87,"level":0.95,"method":"clopper-pearson"},"n":40}
	// {"method":"auroc","value":null,"reason":"one class","n":40}
}
