package openai_test

import (
	"errors"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
)

// TestScoresInText scores on servers that take context and answer as one text: where no token spans their
// border the values are those of the answer's tokens, and where one does there is no number.
func TestScoresInText(t *testing.T) {
	t.Parallel()
	model := llmtest.NewScripted(nil, llmtest.ContextOf(512))
	for _, dialect := range []openai.Dialect{openai.LlamaCppPython, openai.TGI} {
		e := serve(t, dialect, model, fake.Lies{})
		if !e.Capabilities().Score || dialect == openai.LlamaCppPython && e.Capabilities().Chat {
			t.Fatalf("%s: %+v", dialect, e.Capabilities())
		}
		for answer, spans := range map[string]bool{" yes": false, " 東京 yes": false, "\nno": false, "yes": true} {
			req := llm.Request{Kind: llm.Score, Prompt: llm.Prompt{Text: "The sky is blue"}, Answer: answer}
			got, want := e.Do(t.Context(), []llm.Request{req})[0], model.Do(t.Context(), []llm.Request{req})[0]
			if spans {
				if !errors.Is(got.Err, llm.ErrNotSupported) {
					t.Errorf("%s: %q: %+v", dialect, answer, got)
				}
				continue
			}
			if got.Err != nil || len(got.Reply.Tokens) != len(want.Reply.Tokens) {
				t.Fatalf("%s: %q: %+v", dialect, answer, got)
			}
			for i, tok := range got.Reply.Tokens {
				if tok.LogProb != want.Reply.Tokens[i].LogProb {
					t.Errorf("%s: %q: token %d has %v, want %v", dialect, answer, i, tok.LogProb, want.Reply.Tokens[i].LogProb)
				}
			}
		}
	}
}

// A server that was not started to tell the prompt's values does not score, and says so before the first call.
func TestServersThatCouldScore(t *testing.T) {
	t.Parallel()
	for dialect, lies := range map[openai.Dialect]fake.Lies{openai.TGI: {NoLogProbs: true}, openai.LlamaCppPython: {IgnoreEcho: true}} {
		e := serve(t, dialect, llmtest.NewScripted(nil), lies)
		if can := e.Capabilities(); can.Score || !can.Chat || !can.Generate || e.Identity().Settings["scoring"] != "" {
			t.Errorf("%s: %+v, %v", dialect, can, e.Identity())
		}
	}
}
