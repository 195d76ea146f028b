package cli

import (
	"strings"
	"testing"

	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// A call is shown in the width that there is: names and values beside each other, tokens as a table or a list.
func TestACallIsShownInTheWidthThatThereIs(t *testing.T) {
	t.Parallel()
	c := &ledger.Call{
		Model: llm.Identity{Engine: "llama-server", Version: "b10434", Model: "a model with a long name", Settings: map[string]string{"cpu": "haswell", "scoring": "forced step"}},
		Request: llm.Request{Kind: llm.Generate, Prompt: llm.Chat("Hm?", ""),
			Decoding: llm.Decoding{MaxTokens: 64, Temperature: 1, TopK: 40, TopP: 0.9, MinP: 0.01, RepetitionPenalty: 1.1}},
		Reply: llm.Reply{Text: "Yes", Finish: llm.FinishEnd, PromptIDs: make([]int32, 100),
			Tokens: []record.Token{{ID: 151643, Piece: []byte("東京\n"), LogProb: -0.12345678901234566}, {ID: 9, Piece: []byte("s"), LogProb: -3}}},
	}
	const keyBytes = 64 // which stand alone, however narrow
	for _, width := range []int{42, 60, 80, 120} {
		text := ledgerCall{call: c}.table(width)
		for line := range strings.Lines(text) {
			if n := termsafe.Width(strings.TrimSuffix(line, "\n")); n > width && !strings.Contains(line, strings.Repeat("0", keyBytes)) {
				t.Errorf("%d columns in a width of %d: %q", n, width, line)
			}
		}
		for _, want := range []string{"-0.12345678901234566", "151643", `"東京\n"`, "0.8839", "forced step", "min_p"} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("%q is not in the width of %d:\n%s", want, width, text)
			}
		}
	}
}
