package metric_test

import (
	"testing"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
)

func TestLevelsCountEveryItemOfAnAtom(t *testing.T) {
	t.Parallel()
	p, err := metric.Prepare([]float64{.9, .9, .9, .3}, []float64{1, 1, 1, 0}, measure.Confidence)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s    metric.Statistic
		want float64
	}{{metric.Accuracy(), .75}, {metric.MeanConfidence(), .75}} {
		if got, ok := c.s.On(p).Get(); !ok || got != c.want {
			t.Errorf("%s = %v, %v; want %v", c.s.ID, got, ok, c.want)
		}
	}
}
