package llm_test

import (
	"context"
	"fmt"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
)

// The same answer is scored in two contexts of one question: the bare one, and after "Answer:".
func ExampleEngine() {
	var engine llm.Engine = llmtest.NewQuiz([]llmtest.Item{{
		Question: "Which planet is red?",
		Answer:   "Mars",
		Levels:   []llmtest.Level{{Opening: "", LogProb: -1.5}, {Opening: "Answer:", LogProb: -.25}},
	}})
	defer func() { _ = engine.Close() }()
	results := engine.Do(context.Background(), []llm.Request{
		{Kind: llm.Score, Prompt: llm.Chat("Which planet is red?", ""), Answer: "Mars"},
		{Kind: llm.Score, Prompt: llm.Chat("Which planet is red?", "Answer:"), Answer: " Mars"},
	})
	for _, r := range results {
		if r.Err != nil {
			fmt.Println(r.Err)
			return
		}
		for _, t := range r.Reply.Tokens {
			fmt.Printf("%q %.2f  ", t.Piece, t.LogProb)
		}
		fmt.Println(r.Reply.Finish)
	}
	// Output:
	// "Mar" -1.50  "s" -1.50  scored
	// " Ma" -0.25  "rs" -0.25  scored
}
