package ledger_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// releasedCalls are what testdata/v1.db holds: 45 prompts (so that a dictionary was learned), each
// with a sample, a second sample of some, and scored answers. They never change.
func releasedCalls(t *testing.T) (calls []ledger.Call, attempt ledger.Attempt) {
	t.Helper()
	model := llm.Identity{Engine: "llamacpp", Version: "b1", Model: "model.gguf", Weights: "00ff00ff", Mode: "exact", Settings: map[string]string{"cpu": "haswell"}}
	add := func(r llm.Request, reply llm.Reply, generation int) {
		n := len(calls)
		c := ledger.Call{Model: model, Request: r, Reply: reply, Generation: generation,
			Asked: time.UnixMilli(1_790_000_000_000 + int64(n)).UTC(), Took: time.Duration(n) * time.Millisecond}
		c.Key = keyOf(t, model, r, generation)
		calls = append(calls, c)
	}
	for n := range 45 {
		r := llm.Request{Kind: llm.Generate, Seed: math.MaxUint64, Sample: 1,
			Prompt:   llm.Chat(fmt.Sprintf("State in one word what number %d is, and how sure you are.", n), "Guess:"),
			Decoding: llm.Decoding{MaxTokens: 8, Temperature: 0.5, TopK: 40, TopP: 0.9, MinP: 0.01, RepetitionPenalty: 1.1, Stop: []string{"\n"}}}
		reply := llm.Reply{Text: fmt.Sprint(" ", n), Finish: llm.FinishStop, Reproducible: true, PromptIDs: []int32{151644, 872, int32(n), 77091},
			Tokens: []record.Token{{ID: 220, Piece: []byte(" "), LogProb: -0.5}, {ID: int32(n), Piece: fmt.Append(nil, n), LogProb: -math.Pi}, {ID: 198, Piece: []byte("\n"), LogProb: -1e-9}}}
		add(r, reply, 0)
		if n%15 == 0 {
			r.Sample = 2
			reply.Text, reply.Finish, reply.Observed = "\xf0 and more than its tokens", llm.FinishEnd, map[string]string{"fingerprint": "fp"}
			add(r, reply, 0)
			add(r, llm.Reply{Finish: llm.FinishLength}, 1)
			add(llm.Request{Kind: llm.Score, Prompt: llm.Prompt{Text: "2 + 2 =", NoBOS: true}, Answer: fmt.Sprint(" ", n)},
				llm.Reply{Finish: llm.FinishScored, PromptIDs: []int32{}, Tokens: []record.Token{{ID: -1, Piece: []byte{0xff}, LogProb: math.Inf(-1)}}}, 0)
		}
	}
	attempt = ledger.Attempt{Key: ledger.Key{1, 2, 3}, Kind: llm.Score, Model: model, Asked: time.UnixMilli(1_790_000_000_000).UTC(), Took: time.Second, Error: "connection refused"}
	return calls, attempt
}

// releasedMark is what ledgers have from schema version 2 on.
var releasedMark = ledger.Done{Scope: ledger.Digest{1}, Item: ledger.Digest{2}, Calls: ledger.Digest{3}, Complete: true}

// Ledgers of every released schema are opened, upgraded and read back whole.
func TestReleasedLedgers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/v*.db")
	if err != nil || len(files) == 0 {
		t.Fatalf("no released ledgers: %v", err)
	}
	calls, attempt := releasedCalls(t)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "ledger.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, open := range []func(string) (ledger.Store, error){ledger.OpenSQLiteReadOnly, ledger.OpenSQLite} {
			s, err := open(path)
			if err != nil {
				t.Fatal(err)
			}
			readReleased(t, file, s, calls, attempt)
			closeStore(t, s)
		}
	}
}

func readReleased(t *testing.T, file string, s ledger.Store, calls []ledger.Call, attempt ledger.Attempt) {
	t.Helper()
	for _, want := range calls {
		got, ok, err := s.Call(t.Context(), want.Key)
		if err != nil || !ok {
			t.Errorf("%s: call %v: %v, %v", file, want.Key, ok, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
	attempts, err := s.Attempts(t.Context(), attempt.Key)
	if d := cmp.Diff([]ledger.Attempt{attempt}, attempts); d != "" || err != nil {
		t.Errorf("%s: %v %s", file, err, d)
	}
	if st, err := s.Stats(t.Context()); err != nil || st.Calls() != len(calls) || st.Prompts != 46 {
		t.Errorf("%s: %d calls of %d prompts, %v", file, st.Calls(), st.Prompts, err)
	}
	want := map[ledger.Digest]ledger.Done{}
	if file != filepath.Join("testdata", "v1.db") {
		want[releasedMark.Item] = releasedMark
	}
	if got, err := s.Done(t.Context(), releasedMark.Scope); err != nil || len(got) != len(want) || got[releasedMark.Item] != want[releasedMark.Item] {
		t.Errorf("%s: marks %v, %v", file, got, err)
	}
}

// TestWriteReleasedLedger makes the file of the present schema, once, when LEDGER_WRITE_RELEASED is set.
func TestWriteReleasedLedger(t *testing.T) {
	if os.Getenv("LEDGER_WRITE_RELEASED") == "" {
		t.Skip("only for a new schema version")
	}
	path := fmt.Sprintf("testdata/v%d.db", ledger.SchemaVersion())
	if _, err := os.Stat(path); err == nil {
		t.Fatalf("%s is released and stays as it is", path)
	}
	s, err := ledger.OpenSQLite(path)
	if err != nil {
		t.Fatal(err)
	}
	calls, attempt := releasedCalls(t)
	for _, c := range calls {
		if _, err := s.Deliver(t.Context(), ledger.Delivery{Calls: []ledger.Call{c}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Deliver(t.Context(), ledger.Delivery{Attempts: []ledger.Attempt{attempt}, Done: []ledger.Done{releasedMark}}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
}
