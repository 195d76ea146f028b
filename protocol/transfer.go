package protocol

import (
	"errors"
	"fmt"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/recalibrate"
	"github.com/credence-lab/credence/resample"
)

// MapTransfer says what a calibration map of the token score is worth in another context ("Same Answer,
// Different Confidence", appendix G, Calibration transfer): cross-fitted with 5 folds and 10 splits.
type MapTransfer struct {
	// Method is "isotonic" or "platt".
	Method string `json:"method"`
	// From is the context in which the map is fitted, To that in which it is used; equal for a map that
	// stays.
	From string `json:"from"`
	To   string `json:"to"`
	// Brier is the mean Brier score of the mapped scores over all splits, in [0,1], lower is better.
	Brier measure.Value `json:"brier"`
	// Penalty is Brier minus that of a map fitted in To; nil for a map that stays. PositiveSplits is the
	// number of the Splits in which it is above 0.
	Penalty        *measure.Value `json:"penalty,omitempty"`
	Splits         int            `json:"splits"`
	PositiveSplits int            `json:"positive_splits,omitempty"`
}

const (
	transferFolds  = 5
	transferSplits = 10
)

var transferMethods = []struct {
	name   string
	method recalibrate.Method
}{
	{"isotonic", recalibrate.Isotonic{}},
	{"platt", recalibrate.Platt{}},
}

// transfers of one setting between the base and the guess slot; none where the guess slot is not
// scored or is the base.
func (a *Aligned) transfers(o Options) ([]MapTransfer, error) {
	contexts := readIn(a.choice.Contexts)
	if len(contexts) < 2 || len(a.rows) == 0 {
		return nil, nil
	}
	seed := resample.SettingSeed(o.Seed, a.setting.Model, a.setting.Dataset, "calibration transfer")
	var list []MapTransfer
	for _, by := range transferMethods {
		for _, to := range contexts {
			own, err := a.mapped(by.method, to, to, seed)
			if err != nil {
				return nil, err
			}
			for _, from := range contexts {
				here := own
				if from != to {
					if here, err = a.mapped(by.method, from, to, seed); err != nil {
						return nil, err
					}
				}
				t := MapTransfer{Method: by.name, From: a.choice.Contexts[from], To: a.choice.Contexts[to]}
				t.weigh(here, own, len(a.rows))
				list = append(list, t)
			}
		}
	}
	return list, nil
}

// splitBriers are the Brier scores of each split, or why there are none.
type splitBriers struct {
	scores []float64
	why    measure.Reason
}

// mapped fits in one context and applies in another; the splits depend on the seed alone.
func (a *Aligned) mapped(m recalibrate.Method, from, to int, seed uint64) (splitBriers, error) {
	labels := a.labels()
	if len(labels) < 2 {
		return splitBriers{why: measure.TooFew}, nil
	}
	fitted, err := recalibrate.CrossFit(m, recalibrate.Points{Scores: a.column(1 + from), Targets: labels}, a.column(1+to),
		recalibrate.Split{Folds: transferFolds, Repeats: transferSplits, Seed: seed})
	if errors.Is(err, recalibrate.ErrNoFit) {
		return splitBriers{why: measure.OneClass}, nil
	}
	if err != nil {
		return splitBriers{}, fmt.Errorf("%s: calibration transfer: %w", a.setting, err)
	}
	var b splitBriers
	for _, predictions := range fitted.Predictions {
		sum := 0.
		for i, p := range predictions {
			sum += (p.P - labels[i]) * (p.P - labels[i])
		}
		b.scores = append(b.scores, sum/float64(len(labels)))
	}
	return b, nil
}

// weigh fills in the scores of a map, beside those of the map that stays in To.
func (t *MapTransfer) weigh(here, own splitBriers, n int) {
	brier, penalty := "brier."+t.Method, "brier-penalty."+t.Method
	t.Splits = len(here.scores)
	why := here.why
	if why == "" {
		why = own.why
	}
	if why != "" {
		t.Brier = measure.Undefined(brier, why, n)
		if t.From != t.To {
			v := measure.Undefined(penalty, why, n)
			t.Penalty = &v
		}
		return
	}
	mean, worse := 0., 0.
	for r, x := range here.scores {
		mean += x / float64(len(here.scores))
		worse += (x - own.scores[r]) / float64(len(here.scores))
		if x > own.scores[r] {
			t.PositiveSplits++
		}
	}
	t.Brier = measure.Of(brier, mean, n)
	if t.From != t.To {
		v := measure.Of(penalty, worse, n)
		t.Penalty = &v
	}
}

// MapTransferSummary is a [MapTransfer] over the settings of a group.
type MapTransferSummary struct {
	Group    string         `json:"group"`
	Method   string         `json:"method"`
	From     string         `json:"from"`
	To       string         `json:"to"`
	Settings int            `json:"settings"`
	Brier    measure.Value  `json:"brier"`
	Penalty  *measure.Value `json:"penalty,omitempty"`
	// Positive counts the settings with a penalty above 0, Always those in which every split has one.
	Positive int `json:"positive,omitempty"`
	Always   int `json:"always,omitempty"`
}

type transferKey struct {
	method, from, to string
	penalty          bool
}

type transferMeans struct {
	group            string
	level            float64
	means            means[transferKey]
	positive, always map[transferKey]int
}

func (s *transferMeans) add(list []MapTransfer) error {
	if s.positive == nil {
		s.positive, s.always = map[transferKey]int{}, map[transferKey]int{}
	}
	a := adder[transferKey]{means: &s.means}
	for _, t := range list {
		key := transferKey{t.Method, t.From, t.To, false}
		a.add(key, resample.Point(t.Brier))
		if t.Penalty == nil {
			continue
		}
		penalty := key
		penalty.penalty = true
		a.add(penalty, resample.Point(*t.Penalty))
		if x, ok := t.Penalty.Get(); ok && x > 0 {
			s.positive[key]++
			if t.PositiveSplits == t.Splits {
				s.always[key]++
			}
		}
	}
	return a.err
}

func (s *transferMeans) result() []MapTransferSummary {
	var list []MapTransferSummary
	for _, key := range s.means.keys {
		if key.penalty {
			continue
		}
		sum := MapTransferSummary{
			Group: s.group, Method: key.method, From: key.from, To: key.to, Settings: s.means.settings(key),
			Brier: s.means.value(key, "mean.brier."+key.method, s.level), Positive: s.positive[key], Always: s.always[key],
		}
		if penalty := (transferKey{key.method, key.from, key.to, true}); key.from != key.to {
			v := s.means.value(penalty, "mean.brier-penalty."+key.method, s.level)
			sum.Penalty = &v
		}
		list = append(list, sum)
	}
	return list
}
