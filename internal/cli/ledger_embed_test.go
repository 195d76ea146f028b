package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/internal/cli"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
)

// The first numbers of an embedding are shown to people, all of them in JSON, to the last bit.
func TestLedgerShowsEmbeddings(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	store, err := ledger.OpenSQLite(path)
	if err != nil {
		t.Fatal(err)
	}
	vector := []float32{1. / 3, -0.25, 1e-38, 0, 0, 0, 0, 0.5, 2. / 3}
	c := ledger.Call{Model: llm.Identity{Engine: "scripted", Model: "m"}, Asked: time.Unix(1_750_000_000, 0),
		Request: llm.Request{Kind: llm.Embed, Prompt: llm.Prompt{Text: "a text"}},
		Reply:   llm.Reply{Embedding: vector, Finish: llm.FinishEmbedded}}
	if c.Key, err = ledger.KeyOf(c.Model, c.Request, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Deliver(t.Context(), ledger.Delivery{Calls: []ledger.Call{c}}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	show := func(args ...string) string {
		var out, errOut bytes.Buffer
		if code := cli.Run(context.Background(), append([]string{"ledger", "show", path, c.Key.String()}, args...), nil, &out, &errOut); code != 0 {
			t.Fatalf("exit code %d: %s", code, &errOut)
		}
		return out.String()
	}
	if text := show(); !strings.Contains(text, "embedding of 9 dimensions\n  0.33333334 -0.25 1e-38 0 0 0 0 0.5 …\n") {
		t.Errorf("shows\n%s", text)
	}
	var got struct{ Reply struct{ Embedding []float32 } }
	if err := json.Unmarshal([]byte(show("--format", "json")), &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(vector, got.Reply.Embedding); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
