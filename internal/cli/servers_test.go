package cli_test

import (
	"net/http/httptest"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai/fake"
)

// checked is what the checks of a server ask: a model that is surer of what it says than of what nobody says.
var checked = llmtest.Item{
	Question: "Name the planets of the solar system, one after another.",
	Answer:   "Mercury, Venus",
	Replies: []llmtest.Reply{{Choices: []llmtest.Choice{
		{Text: "Mercury, Venus", Weight: 3}, {Text: "Jupiter", Weight: 2}, {Text: "Neptune and", Weight: 2}, {Text: "All of", Weight: 2}, {Text: "Eight of", Weight: 2},
	}}},
	Levels: []llmtest.Level{{LogProb: -.2}, {Answer: "Xylophone quota", LogProb: -7}},
}

// servers starts local servers for the scripts, which find their addresses in variables: VLLM answers truly,
// LIAR has forced every answer that it scores before it looks at it, PLAIN scores none.
func servers(t *testing.T) func(*testscript.Env) error {
	t.Helper()
	planted, err := plantedItems()
	if err != nil {
		t.Fatal(err)
	}
	planted = append(planted, checked)
	addresses := map[string]string{}
	for name, server := range map[string]*fake.Server{
		"VLLM":  fake.New("vllm", llmtest.NewQuiz(planted, llmtest.ContextOf(2048)), fake.Lies{}),
		"LIAR":  fake.New("llama-server", llmtest.NewQuiz(planted, llmtest.ContextOf(2048)), fake.Lies{Processed: true}),
		"PLAIN": fake.New("plain", llmtest.NewQuiz(planted, llmtest.ContextOf(2048)), fake.Lies{}),
	} {
		at := httptest.NewServer(server)
		t.Cleanup(at.Close)
		addresses[name] = at.URL
	}
	return func(env *testscript.Env) error {
		for name, url := range addresses {
			env.Setenv(name, url)
		}
		return nil
	}
}
