package resample_test

import (
	"context"
	"fmt"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/resample"
)

func ExamplePaired() {
	correct := metric.Quality{Values: []float64{1, 1, 0, 1, 0, 1, 1, 0, 1, 0}}
	scores, err := metric.PrepareJointly(correct,
		metric.Score{Name: "verbalised", Values: []float64{.9, .9, .9, .8, .5, .9, .8, .9, .9, .5}, Orientation: measure.Confidence},
		metric.Score{Name: "token", Values: []float64{.7, .4, .6, .8, .2, .9, .6, .5, .3, .1}, Orientation: measure.Confidence},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	draws, err := resample.Paired(context.Background(), scores, []metric.Statistic{metric.AUROC()},
		resample.Options{Seed: resample.SettingSeed(1, "model", "data set", "bootstrap")})
	if err != nil {
		fmt.Println(err)
		return
	}
	gap := draws.Contrast("gap.auroc", .95,
		resample.Term{Score: 0, Stat: 0, Weight: 1},
		resample.Term{Score: 1, Stat: 0, Weight: -1})
	x, _ := gap.Get()
	fmt.Printf("verbalised minus token: %.3f, 95%% interval from %.2f to %.2f over %d items\n",
		x, gap.Interval.Lower, gap.Interval.Upper, gap.N)
	fmt.Println(draws.Value(0, 0, .95).N, "items; resamples without AUROC:", draws.Value(0, 0, .95).Interval.Undefined)
	// Output:
	// verbalised minus token: -0.146, 95% interval from -0.54 to 0.10 over 10 items
	// 10 items; resamples without AUROC: 61
}
