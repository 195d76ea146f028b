package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/credence-lab/credence/internal/cli"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// hostileLedger has a call whose texts would take over a terminal, and a key with attempts only.
func hostileLedger(t *testing.T) (path string, call, failed ledger.Key) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "ledger.db")
	store, err := ledger.OpenSQLite(path)
	if err != nil {
		t.Fatal(err)
	}
	c := ledger.Call{
		Model: llm.Identity{Engine: "scripted", Model: "m\x1b[31m"}, Asked: time.Unix(1_750_000_000, 0), Took: time.Second,
		Request: llm.Request{Kind: llm.Generate, Prompt: llm.Chat("Two\nlines \x1b]0;title\a", "Guess:"),
			Decoding: llm.Decoding{MaxTokens: 4, Temperature: 1, Stop: []string{"\n"}}, Seed: 7, Sample: 3},
		Reply: llm.Reply{Text: "\x1b[2Jcleared \u202e", Finish: llm.FinishLength, PromptIDs: []int32{5, 6, 7}, Observed: map[string]string{"fingerprint": "fp\r1"},
			Tokens: []record.Token{{ID: 9, Piece: []byte{0x1b, 0xf0, 0x9f}, LogProb: -0.125}, {ID: 10, LogProb: math.Inf(-1)}}},
	}
	if c.Key, err = ledger.KeyOf(c.Model, c.Request, 0); err != nil {
		t.Fatal(err)
	}
	failed = ledger.Key{0xab, 0xcd}
	_, err = store.Deliver(t.Context(), ledger.Delivery{Calls: []ledger.Call{c}, Attempts: []ledger.Attempt{
		{Key: failed, Kind: llm.Score, Model: c.Model, Asked: c.Asked, Error: "refused \x1b[1A"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return path, c.Key, failed
}

func TestLedgerShowIsHarmlessAndWhole(t *testing.T) {
	t.Parallel()
	path, call, failed := hostileLedger(t)
	show := func(args ...string) string {
		var out, err bytes.Buffer
		if code := cli.Run(context.Background(), args, nil, &out, &err); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, &err)
		}
		if strings.ContainsAny(out.String(), "\x1b\a\r\u202e") {
			t.Errorf("%v prints what a terminal obeys: %q", args, out.String())
		}
		return out.String()
	}
	text := show("ledger", "show", path, call.String()[:12])
	for _, want := range []string{call.String(), `m\x1b[31m`, "3, seed 7, generation 0", "max_tokens 4, temperature 1", "length", `fingerprint=fp\r1`,
		"  Two\n  lines", `\x1b[2Jcleared \u202e`, "-0.125", "-Inf", "5 6 7"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if text := show("ledger", "show", path, failed.String()[:8]); !strings.Contains(text, "no reply") || !strings.Contains(text, `refused \x1b[1A`) {
		t.Errorf("a call without a reply:\n%s", text)
	}
	if text := show("ledger", path); !strings.Contains(text, "generate: 1 call, ") || !strings.Contains(text, "score: 0 calls, 1 attempt failed") {
		t.Errorf("counts:\n%s", text)
	}
	for _, key := range []ledger.Key{call, failed} {
		var got struct {
			Key   string
			Reply *struct {
				Text   string
				Tokens []struct {
					LogProb *float64 `json:"log_probability"`
					Bytes   []int
				}
			}
		}
		if err := json.Unmarshal([]byte(show("ledger", "show", path, key.String(), "--format", "json")), &got); err != nil {
			t.Fatal(err)
		}
		if got.Key != key.String() || (got.Reply == nil) != (key == failed) {
			t.Errorf("json %+v", got)
		}
		if got.Reply != nil && (len(got.Reply.Tokens) != 2 || got.Reply.Tokens[1].LogProb != nil || len(got.Reply.Tokens[0].Bytes) != 3) {
			t.Errorf("tokens %+v", got.Reply.Tokens)
		}
	}
}
