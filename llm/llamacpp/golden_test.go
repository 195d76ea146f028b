package llamacpp

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// golden are the last log-probabilities of a text of ours by one model with one CPU variant.
type golden struct {
	Text     string
	IDs      []int32
	LogProbs []float64
}

// The portable variant gives the same values on every machine that can run it, but for what the system's
// mathematical library rounds otherwise. A llama.cpp that computes otherwise, or an engine that reads other
// positions, does not get past this. CREDENCE_UPDATE=1 writes the file anew.
func TestGoldenLogProbabilities(t *testing.T) {
	e := open(t, partsOf(t, smollm))
	if cpu := e.Identity().Settings["cpu"]; cpu != portableNames[runtime.GOARCH] {
		t.Skipf("this machine runs the CPU variant %s; the values are those of %s", cpu, portableNames[runtime.GOARCH])
	}
	ids := passage(t, e, 0, 60)
	got := golden{Text: "passage.txt, first 60 tokens"}
	for _, tok := range do(t, e, forced(t, e, ids, tail))[0].Tokens {
		got.IDs, got.LogProbs = append(got.IDs, tok.ID), append(got.LogProbs, tok.LogProb)
	}
	path := filepath.Join("testdata", "golden-"+smollm+"-"+portableNames[runtime.GOARCH]+".json")
	raw, err := os.ReadFile(path)
	if os.Getenv("CREDENCE_UPDATE") != "" {
		if raw, err = json.MarshalIndent(got, "", " "); err == nil {
			err = os.WriteFile(path, append(raw, '\n'), 0o600)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no values for this architecture")
	}
	if err != nil {
		t.Fatal(err)
	}
	var want golden
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	for i := range want.IDs {
		if got.IDs[i] != want.IDs[i] || math.Abs(got.LogProbs[i]-want.LogProbs[i]) > .01 {
			t.Errorf("token %d: %d at %v, want %d at %v", i, got.IDs[i], got.LogProbs[i], want.IDs[i], want.LogProbs[i])
		}
	}
}
