package ledger_test

import (
	"context"
	"fmt"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/record"
)

// A scripted model is asked twice through a ledger; the second time nothing reaches it.
func ExampleLedger_Through() {
	item := record.Item{ID: "1", Question: "Which planet is red?", References: []string{"Mars"}}
	model := llmtest.NewQuiz([]llmtest.Item{llmtest.Confident(item, true, .8)})
	l := ledger.InMemory()
	defer func() { _ = l.Close() }()
	ask := l.Through(model)
	request := llm.Request{Kind: llm.Generate, Prompt: llm.Chat(item.Question, ""), Decoding: llm.Decoding{MaxTokens: 32}}
	for range 2 {
		for _, result := range ask.Do(context.Background(), []llm.Request{request}) {
			if result.Err != nil {
				fmt.Println(result.Err)
				return
			}
			fmt.Printf("%q\n", result.Reply.Text)
		}
		counts := ask.Counts()
		fmt.Println("made", counts.Made, "reused", counts.Reused)
	}
	// Output:
	// "Guess: Mars\nProbability: 0.8"
	// made 1 reused 0
	// "Guess: Mars\nProbability: 0.8"
	// made 1 reused 1
}
