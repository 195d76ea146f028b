package consistency

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
)

// TrendPoint is a value of one model: its mean C3, or the AUROC or calibration error of its C3.
type TrendPoint struct {
	Model string `json:"model"`
	// At is the number of parameters, or the month of release as [Month] gives it.
	At    float64       `json:"at"`
	Value measure.Value `json:"value"`
}

// Trend is a value over models, by size or release (Wu, Jiang and Aragam 2026, Figures 1 and 2).
type Trend struct {
	// Points are sorted by At; models without a value are left out, and counted in Correlation.
	Points []TrendPoint `json:"points"`
	// Correlation is Spearman's over models, in [-1,1], positive where the value rises. Its n is the number of
	// models: it says nothing of other families.
	Correlation measure.Value `json:"correlation"`
	// P is the two-sided permutation p value of no monotone relation, in (0,1].
	P measure.Value `json:"p"`
}

// Month is a date "2025-04" or "2025-04-14" as months since the year 0.
func Month(date string) (float64, error) {
	parts := strings.Split(date, "-")
	if len(parts) == 2 || len(parts) == 3 {
		year, wrongYear := strconv.ParseUint(parts[0], 10, 16)
		month, wrongMonth := strconv.ParseUint(parts[1], 10, 8)
		if wrongYear == nil && wrongMonth == nil && len(parts[0]) == 4 && month >= 1 && month <= 12 {
			return float64(year*12 + month - 1), nil
		}
	}
	return 0, fmt.Errorf("consistency: release %q is no month; write it as 2025-04", date)
}

// TrendOf puts models in order. With fewer than three models, or where all stand at one place or have one
// value, there is no correlation. r.N is the number of permutations.
func TrendOf(points []TrendPoint, r Resampling) (Trend, error) {
	if err := r.check(); err != nil {
		return Trend{}, err
	}
	var t Trend
	leftOut := map[string]int{}
	for _, p := range points {
		switch {
		case !finite(p.At):
			return Trend{}, fmt.Errorf("consistency: model %q stands at %v", p.Model, p.At)
		case !p.Value.Defined():
			leftOut[string(p.Value.Reason())]++
		default:
			t.Points = append(t.Points, p)
		}
	}
	slices.SortFunc(t.Points, func(a, b TrendPoint) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Model, b.Model)) })
	var err error
	t.Correlation, t.P, err = monotone(t.Points, r)
	t.Correlation = t.Correlation.Leaving(leftOut)
	return t, err
}

func monotone(points []TrendPoint, r Resampling) (correlation, p measure.Value, err error) {
	const id, idP = "trend.spearman", "p.permutation.spearman.two-sided"
	n := len(points)
	if n < 3 {
		return measure.Undefined(id, measure.TooFew, n), measure.Undefined(idP, measure.TooFew, n), nil
	}
	at, values := make([]float64, n), make([]float64, n)
	for i, point := range points {
		at[i] = point.At
		values[i], _ = point.Value.Get()
	}
	places := metric.Ranks(at, metric.Lower, 0)
	for i := range places {
		places[i] /= float64(n) // ranks as qualities in [0,1]
	}
	spearman := func() (float64, measure.Reason, error) {
		prepared, err := metric.Prepare(values, places, measure.Confidence)
		if err != nil {
			return 0, "", err
		}
		x, why := metric.Spearman().Evaluator(prepared)(prepared.Counts())
		return x, why, nil
	}
	observed, why, err := spearman()
	if err != nil || why != "" {
		return measure.Undefined(id, why, n), measure.Undefined(idP, why, n), err
	}
	random, extreme := r.random(streamPermutation), 1
	for range r.N {
		random.Shuffle(n, func(i, j int) { places[i], places[j] = places[j], places[i] })
		x, _, err := spearman()
		if err != nil {
			return correlation, p, err
		}
		if abs(x) >= abs(observed)-1e-12 {
			extreme++
		}
	}
	return measure.Of(id, observed, n), measure.Of(idP, float64(extreme)/float64(r.N+1), n), nil
}

func abs(x float64) float64 { return max(x, -x) }
