package scores_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/scores"
)

// long is a JSONL of n rows that meets a new key in each hundredth, so that the columns grow while rows
// are on their way, and that is many batches long.
func long(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"correct":%d,"s":%v,"word":"%d"`, i%2, float64(i)/float64(n), i)
		if i%100 == 99 {
			fmt.Fprintf(&text, `,"k%d":1`, i)
		}
		text.WriteString("}\n")
	}
	return text.String()
}

func TestManyBatchesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	const n = 10_000
	spec := scores.Spec{Label: "correct", Item: "none", Scores: []scores.ScoreSpec{{Column: "s"}}}
	got := must(t, "a.jsonl", long(n), spec)
	var want []float64
	for i := range n {
		want = append(want, float64(i)/n)
	}
	if diff := cmp.Diff(want, got.Scores[0].Values); diff != "" {
		t.Error(diff)
	}
}

func TestErrorFarBehindAndInFrontOfMore(t *testing.T) {
	t.Parallel()
	text := strings.Replace(long(20_000), `"s":0.25,`, `"s":"many",`, 1)
	spec := scores.Spec{Label: "correct", Item: "none", Scores: []scores.ScoreSpec{{Column: "s"}}}
	_, err := read(t, "a.jsonl", text, spec)
	if err == nil || !strings.Contains(err.Error(), "a.jsonl:5001") || !strings.Contains(err.Error(), `"many" is no number`) {
		t.Errorf("got %v, want line 5001 and its word", err)
	}
}
