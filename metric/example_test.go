package metric_test

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
)

func ExamplePrepare() {
	confidence := []float64{.9, .8, .8, .6, .3}
	correct := []float64{1, 1, 0, 1, 0}
	p, err := metric.Prepare(confidence, correct, measure.Confidence)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range []metric.Statistic{metric.AUROC(), metric.ECE(10, metric.LeftClosed)} {
		v := s.On(p)
		x, defined := v.Get()
		fmt.Printf("%s = %.3f (%s is better) over %d items, defined: %t\n", v.Method, x, s.Better, v.N, defined)
	}
	// Output:
	// auroc = 0.750 (higher is better) over 5 items, defined: true
	// ece.equal-width.10.left-closed = 0.280 (lower is better) over 5 items, defined: true
}

// A statistic that does not exist says why, and what is missing is counted.
func ExampleStatistic_On() {
	p, err := metric.PrepareJointly(
		metric.Quality{Values: []float64{1, 1, 1}},
		metric.Score{Name: "token", Values: []float64{.9, math.NaN(), .7}, Orientation: measure.Confidence},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	v := metric.AUROC().On(p[0])
	_, defined := v.Get()
	fmt.Println(defined, v.Reason(), v.N, v.LeftOut)
	// Output:
	// false one class 2 [{no token 1}]
}
