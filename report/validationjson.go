package report

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/validation"
)

// HumanJudge is the judge of AUROCs under the reference in JSON.
const HumanJudge = "human"

// validationJSON is a validation as machines read it: what is asked for most in a flat form, then the rest.
type validationJSON struct {
	File        string                      `json:"file"`
	Notes       []string                    `json:"notes"`
	N           int                         `json:"n"`
	Labelled    int                         `json:"labelled"`
	Positives   float64                     `json:"positives"`
	Reference   string                      `json:"reference"`
	Unsure      validation.UnsureRule       `json:"unsure"`
	Unsures     int                         `json:"unsure_labels"`
	Level       float64                     `json:"level"`
	Seed        uint64                      `json:"seed"`
	Quantifiers []validation.QuantifierInfo `json:"quantifiers"`
	Agreement   validation.Agreement        `json:"agreement"`
	Judges      []judgeJSON                 `json:"judges"`
	AUROC       []aurocJSON                 `json:"auroc"`
	RBO         []rboJSON                   `json:"rbo"`
	Recommended *string                     `json:"recommended"`

	Recommendation validation.Recommendation `json:"recommendation"`
	Places         []validation.Place        `json:"places"`
	Matrices       []validation.Matrix       `json:"matrices"`
	Effects        []validation.Effect       `json:"effects"`
	Tradeoffs      []validation.Tradeoff     `json:"tradeoffs"`
	Subsampling    validation.Subsampling    `json:"subsampling"`
	Subsamples     []validation.Subsampled   `json:"subsamples"`
	Side           []validation.SideBySide   `json:"side_by_side"`
	Fits           *validation.Fits          `json:"fits"`
	Confidences    *validation.Confidences   `json:"confidences"`
	Items          []string                  `json:"items"`
	Outcomes       [][]validation.Outcome    `json:"outcomes"`
}

// judgeJSON is a judge with its F1 as a plain number; null where it is undefined.
type judgeJSON struct {
	Name      string               `json:"name"`
	Family    string               `json:"family"`
	Threshold *float64             `json:"threshold"`
	F1        *float64             `json:"f1"`
	Accuracy  *float64             `json:"accuracy"`
	Group     validation.Group     `json:"group"`
	N         int                  `json:"n"`
	Positives float64              `json:"positives"`
	Confusion validation.Confusion `json:"confusion"`
	// Posterior has F1 and accuracy alone, with one threshold per family, and among all.
	Posterior *validation.Posterior `json:"posterior"`
}

type aurocJSON struct {
	Quantifier string             `json:"quantifier"`
	Judge      string             `json:"judge"`
	Value      *float64           `json:"value"`
	Lower      *float64           `json:"lower"`
	Upper      *float64           `json:"upper"`
	Rank       *float64           `json:"rank"`
	Difference *float64           `json:"difference"`
	N          int                `json:"n"`
	LeftOut    []measure.Excluded `json:"left_out"`
	Reason     measure.Reason     `json:"reason"`
}

type rboJSON struct {
	Judge   string         `json:"judge"`
	Value   *float64       `json:"value"`
	Kendall *float64       `json:"kendall"`
	Tied    bool           `json:"tied"`
	Reason  measure.Reason `json:"reason"`
}

// WriteValidationJSON writes a validation as one object. What is undefined is null, with its reason.
func WriteValidationJSON(w io.Writer, p ValidationPage) error {
	r := p.Result
	view := validationJSON{
		File: p.Title, Notes: append([]string{}, p.Notes...), N: r.N, Labelled: r.Labelled, Positives: r.Positives,
		Reference: r.Reference, Unsure: r.Unsure, Unsures: r.Unsures, Level: r.Level, Seed: r.Seed,
		Quantifiers: orEmpty(r.Quantifiers), Agreement: r.Agreement, Recommendation: r.Recommendation, Places: orEmpty(r.Places), Matrices: orEmpty(r.Matrices),
		Effects: orEmpty(r.Effects), Tradeoffs: orEmpty(r.Tradeoffs), Subsampling: r.Subsampling, Subsamples: orEmpty(r.Subsamples), Side: orEmpty(r.Side),
		Fits: r.Fits, Confidences: r.Confidences, Items: orEmpty(p.Items), Outcomes: orEmpty(r.Outcomes),
		Judges: []judgeJSON{}, RBO: []rboJSON{},
	}
	if name := r.Recommendation.Judge; name != "" {
		view.Recommended = &name
	}
	for _, j := range r.Judges {
		view.Judges = append(view.Judges, judgeJSON{
			Name: j.Name, Family: j.Family, Threshold: j.Threshold, F1: pointer(j.F1), Accuracy: pointer(j.Accuracy), Group: j.Group,
			N: j.F1.N, Positives: j.Positives, Confusion: j.Confusion, Posterior: j.Posterior,
		})
	}
	auroc := r.Matrices[0]
	view.AUROC = aurocRows(auroc.Quantifiers, auroc.People, HumanJudge)
	for _, row := range auroc.Judges {
		view.AUROC = append(view.AUROC, aurocRows(auroc.Quantifiers, row, row.Judge)...)
	}
	for _, l := range r.Likeness {
		view.RBO = append(view.RBO, rboJSON{l.Judge, pointer(l.RBO), pointer(l.Kendall), l.Tied, l.RBO.Reason()})
	}
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(view); err != nil {
		return err
	}
	return out.Flush()
}

func aurocRows(quantifiers []string, row validation.Row, judge string) []aurocJSON {
	var list []aurocJSON
	for q, c := range row.Cells {
		x := aurocJSON{
			Quantifier: quantifiers[q], Judge: judge, Value: pointer(c.Value), Rank: pointer(c.Rank), Difference: pointer(c.Difference),
			N: c.Value.N, LeftOut: append([]measure.Excluded{}, c.Value.LeftOut...), Reason: c.Value.Reason(),
		}
		if iv := c.Value.Interval; iv != nil {
			x.Lower, x.Upper = &iv.Lower, &iv.Upper
		}
		list = append(list, x)
	}
	return list
}

// orEmpty is a list that is there even where it is empty: [] in JSON, and not null.
func orEmpty[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func pointer(v measure.Value) *float64 {
	x, ok := v.Get()
	if !ok {
		return nil
	}
	return &x
}
