package ledger_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/record"
)

// Ten byte-equal texts at temperature 0.9 are not certainty (easyllm#37).
// Equal samples at a temperature above 0 are warned of (R04).
func TestIdenticalSamples(t *testing.T) {
	t.Parallel()
	said := func(text string, logProbs ...float64) llm.Result {
		r := llm.Reply{Text: text}
		for _, lp := range logProbs {
			r.Tokens = append(r.Tokens, record.Token{LogProb: lp})
		}
		return llm.Result{Reply: r}
	}
	at := func(temperature float64, sample int) llm.Request {
		return with(question, func(r *llm.Request) { r.Decoding.Temperature, r.Sample, r.Seed = temperature, sample, uint64(sample) })
	}
	var reqs []llm.Request
	var results []llm.Result
	add := func(r llm.Request, res llm.Result) { reqs, results = append(reqs, r), append(results, res) }
	for n := range 10 {
		add(at(0.9, n), said("Paris", -0.1))
	}
	for n := range 3 {
		add(at(1, n), said("Oslo", -0.25, -0.5))
	}
	add(at(0, 0), said("greedy")) // equal by right
	add(at(0, 1), said("greedy"))
	add(at(0.5, 0), said("a"))
	add(at(0.5, 1), said("b"))
	add(at(0.6, 0), said("alone"))
	add(at(0.6, 1), llm.Result{Err: errors.New("failed")})
	got := ledger.IdenticalSamples(reqs, results)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	if len(got[0].At) != 10 || got[0].Temperature != 0.9 || got[0].Chance.Missing() == record.Present {
		t.Errorf("at 0.9: %+v", got[0])
	}
	if p, ok := got[1].Chance.Get(); !ok || math.Abs(p-math.Exp(-1.5)) > 1e-15 {
		t.Errorf("at 1: chance %v, want exp(-0.75) twice", got[1].Chance)
	}
	if d := cmp.Diff([]int{10, 11, 12}, got[1].At); d != "" {
		t.Error(d)
	}
}

func TestTwoFingerprintsWarn(t *testing.T) {
	t.Parallel()
	l := ledger.InMemory()
	for i, fingerprint := range []string{"fp_1", "fp_1", "fp_2"} {
		a := l.Through(llmtest.NewScripted(nil, llmtest.Observing(map[string]string{"fingerprint": fingerprint})))
		a.Do(t.Context(), []llm.Request{with(sampled, func(r *llm.Request) { r.Sample = i })})
		st, err := l.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w := st.Warnings()
		if (len(w) == 1) != (i == 2) {
			t.Errorf("after %d calls: %q", i+1, w)
		}
		if i == 2 && !strings.Contains(w[0], "fp_1") {
			t.Errorf("%q does not say what was observed", w[0])
		}
	}
}
