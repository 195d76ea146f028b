package metric

import (
	"fmt"
	"math"
)

// TopLabel turns class probabilities into what calibration statistics take: the confidence of item i
// is its largest probability, and its quality is 1 if that class is labels[i]. The columns define the
// classes, whether or not a label names them. Of equal probabilities the first is taken.
//
// It is an error if the lengths differ, a row has no or another number of classes, a probability is
// not in [0,1], or a label is no column.
func TopLabel(probabilities [][]float64, labels []int) (confidence, quality []float64, err error) {
	if len(probabilities) != len(labels) {
		return nil, nil, fmt.Errorf("metric: %d rows of probabilities but %d labels", len(probabilities), len(labels))
	}
	for i, row := range probabilities {
		if len(row) == 0 || len(row) != len(probabilities[0]) {
			return nil, nil, fmt.Errorf("metric: row %d has %d classes, row 0 has %d", i, len(row), len(probabilities[0]))
		}
		if labels[i] < 0 || labels[i] >= len(row) {
			return nil, nil, fmt.Errorf("metric: label %d is %d; there are classes 0..%d", i, labels[i], len(row)-1)
		}
		top := 0
		for class, p := range row {
			if math.IsNaN(p) || p < 0 || p > 1 {
				return nil, nil, fmt.Errorf("metric: row %d, class %d: probability %v is not in [0,1]", i, class, p)
			}
			if p > row[top] {
				top = class
			}
		}
		hit := 0.
		if top == labels[i] {
			hit = 1
		}
		confidence, quality = append(confidence, row[top]), append(quality, hit)
	}
	return confidence, quality, nil
}
