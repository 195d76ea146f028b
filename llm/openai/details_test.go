package openai_test

import (
	"math"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
)

// Alternatives come with each token where a server has a field for them, and the end of turn where it tells it.
func TestServersTellDetails(t *testing.T) {
	t.Parallel()
	planted := []llmtest.Item{{Question: "Which?", Reply: "two words"}}
	for _, c := range []struct {
		dialect openai.Dialect
		end     bool
	}{{openai.Plain, false}, {openai.OpenAI, false}, {openai.LlamaServer, true}} {
		e := serve(t, c.dialect, llmtest.NewQuiz(planted, llmtest.ContextOf(512)), fake.Lies{})
		ask := llm.Request{Kind: llm.Generate, Prompt: llm.Chat("Which?", ""), Decoding: llm.Decoding{MaxTokens: 9}, Details: llm.Details{Alternatives: 3, End: true}}
		result := e.Do(t.Context(), []llm.Request{ask})[0]
		told := result.Reply.Told
		if result.Err != nil || told == nil || len(told.Alternatives) != len(result.Reply.Tokens) {
			t.Errorf("%s: %+v, %v", c.dialect, told, result.Err)
			continue
		}
		for i, list := range told.Alternatives {
			found := false
			for _, x := range list {
				found = found || math.Abs(x-result.Reply.Tokens[i].LogProb) < 1e-6
			}
			if len(list) != 3 || !found {
				t.Errorf("%s: token %d of %v has the alternatives %v", c.dialect, i, result.Reply.Tokens[i].LogProb, list)
			}
		}
		if (told.End != nil) != c.end || c.end && (math.Abs(told.End.LogProb+.01) > 1e-6 || len(told.End.Alternatives) != 3) {
			t.Errorf("%s: end of turn %+v", c.dialect, told.End)
		}
		ask.Details = llm.Details{}
		if r := e.Do(t.Context(), []llm.Request{ask})[0]; r.Err != nil || r.Reply.Told != nil {
			t.Errorf("%s: told unasked: %+v, %v", c.dialect, r.Reply.Told, r.Err)
		}
	}
}
