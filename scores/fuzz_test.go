package scores_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/scores"
)

// FuzzRead: whatever the bytes, an error that says where, or columns of one length whose missing values
// all have a reason; and evaluating them does not fail.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"correct,s\n1,0.5\n0,0.25\n", "correct,s\n1,-inf\nNA,NaN\n0,-1\n", `{"correct":true,"s":NaN}`, "id,correct,s,t\n1,C,50,\n2,I,90,0.1\n",
		"correct,lp\n1,\"[-1,null]\"\n", "correct,s\n0.5,1e308\n1,-1e308\n",
	} {
		f.Add([]byte(s), "s", "id")
		f.Add([]byte(s), "mean(lp):log-probability", "")
		f.Add([]byte(s), "", "")
	}
	metrics, err := scores.Metrics([]string{scores.AllMetrics})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, score, by string) {
		r, err := table.New(bytes.NewReader(data), "a", table.Options{})
		if err != nil {
			return
		}
		defer r.Close()
		var spec scores.Spec
		if score != "" {
			spec.Scores = []scores.ScoreSpec{scores.ParseScore(score)}
		}
		if by != "" {
			spec.By = []string{by}
		}
		tab, err := scores.Read(r, spec)
		if err != nil {
			var e *table.Error
			if !errors.As(err, &e) || e.Position.File == "" {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		for _, c := range append(tab.Scores, tab.Label) {
			if len(c.Values) != tab.Rows || c.Why != nil && len(c.Why) != tab.Rows {
				t.Fatalf("%q has %d values and %d reasons in %d rows", c.Name, len(c.Values), len(c.Why), tab.Rows)
			}
			for i, x := range c.Values {
				if math.IsNaN(x) && (c.Why == nil || c.Why[i] == "") {
					t.Fatalf("%q: row %d is missing without a reason", c.Name, i)
				}
			}
		}
		if _, err := scores.Evaluate(t.Context(), tab, scores.Options{Metrics: metrics, Level: .95}); err != nil {
			t.Fatal(err)
		}
	})
}
