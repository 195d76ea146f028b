package llmtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/credence-lab/credence/llm"
)

// What a server is sent as ids is the prompt that they were made of, and a token has the value after ids that
// it has in a reply.
func TestServedAsIDs(t *testing.T) {
	t.Parallel()
	s := NewScripted(nil)
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab \n東🌍"))).Filter(func(s string) bool { return s != "" })
	rapid.Check(t, func(t *rapid.T) {
		p := llm.Prompt{Text: text.Draw(t, "text"), NoBOS: rapid.Bool().Draw(t, "bare")}
		if rapid.Bool().Draw(t, "chat") {
			p = llm.Prompt{Opening: rapid.Just("").Draw(t, "opening")}
			for range rapid.IntRange(1, 3).Draw(t, "turns") {
				role := rapid.SampledFrom([]llm.Role{llm.System, llm.User, llm.Assistant}).Draw(t, "role")
				p.Messages = append(p.Messages, llm.Message{Role: role, Content: text.Draw(t, "content")})
			}
		}
		ids := Render(p)
		got, err := PromptOf(ids)
		if d := cmp.Diff(p, got); d != "" || err != nil {
			t.Fatalf("%v: %s", err, d)
		}
		answer := text.Draw(t, "answer")
		forced := s.Do(t.Context(), []llm.Request{{Kind: llm.Score, Prompt: p, Answer: answer}})[0]
		if forced.Err != nil {
			t.Fatal(forced.Err)
		}
		for i, tok := range forced.Reply.Tokens {
			if x, err := s.LogProbAfter(ids, tok.ID); err != nil || x != tok.LogProb || PieceOf(tok.ID) != string(tok.Piece) {
				t.Fatalf("token %d: %v, %v; want %v", i, x, err, tok.LogProb)
			}
			ids = append(ids, tok.ID)
		}
	})
}

func TestIDsThatAreNoPrompt(t *testing.T) {
	t.Parallel()
	user := Render(llm.Prompt{Messages: []llm.Message{{Role: llm.User, Content: "a"}}})
	for name, ids := range map[string][]int32{
		"none": nil, "a beginning alone": {BeginID}, "no open turn": user[:len(user)-1], "text between turns": append(append([]int32{}, user[:len(user)-1]...), IDs("x")...),
	} {
		if p, err := PromptOf(ids); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if got := ParsedIDs("a" + EndOfTurn + "b"); len(got) != 3 || got[1] != EndOfTurnID {
		t.Errorf("%v", got)
	}
}
