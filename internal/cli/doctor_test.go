package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llamacpp"
)

func examined(nats float64) engineReport {
	m := &llamacpp.Matrix{Threads: 2, Rows: []llamacpp.MatrixRow{
		{Case: "2 threads", Tokens: 60, Compared: 16, Exact: true, Seconds: 1},
		{Case: "8 together", Tokens: 60, Compared: 48, Nats: nats, Exact: nats == 0, Seconds: 2.5},
	}}
	return engineReport{Model: "m", Identity: llm.Identity{Engine: "llamacpp", Model: "m.gguf", Mode: "exact"}, Threads: 2,
		Exact: m.Exact(), Nats: m.Nats(), Matrix: m, Seconds: 4, PeakBytes: 123e6}
}

func TestTheEngineIsReported(t *testing.T) {
	t.Parallel()
	for want, nats := range map[string]float64{
		"Exact: all values are equal to the last bit":         0,
		"Not exact: values move by up to 0.031 nats":          .031,
		"60      8 together  48        0.031       not exact": .031,
		"this measurement took 123 MB at most":                0,
	} {
		var b bytes.Buffer
		if err := writeEngineReport(&b, examined(nats)); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v; %q is not in:\n%s", err, want, &b)
		}
	}
}

// The JSON has rows and numbers on its first level, for scripts.
func TestTheEngineReportIsFlat(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(examined(.5))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Exact   *bool
		Nats    float64
		Threads int
		Rows    []struct{ Tokens int }
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Exact == nil || *got.Exact || got.Nats != .5 || got.Threads != 2 || len(got.Rows) != 2 {
		t.Errorf("%s", raw)
	}
}

func TestExactnessInWords(t *testing.T) {
	t.Parallel()
	for nats, want := range map[float64]string{0: "all 2 cases equal to the last bit", .031: "1 of 2 cases equal to the last bit, the others up to 0.031 nats apart: values are not reproducible"} {
		if got := exactnessWords(examined(nats).Matrix); !strings.HasSuffix(got, want) {
			t.Errorf("%g nats: %q", nats, got)
		}
	}
}
