package prompt_test

import (
	"fmt"

	"github.com/credence-lab/credence/prompt"
)

// One answer, placed in two contexts: what is scored is the text after the bar.
func ExampleSet_Place() {
	prompts := prompt.Default()
	for _, c := range []prompt.Context{prompt.BareContext, prompt.AnswerSlot} {
		before, answer, err := prompts.Place(c, prompt.Chat, "Which planet is red?", "Mars")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: user %q, assistant %q|%q\n", c.Name, before.Messages[0].Content, before.Opening, answer)
	}
	// Output:
	// bare: user "Which planet is red?\nAnswer:", assistant ""|"Mars"
	// answer-slot: user "Which planet is red?", assistant "Answer:"|" Mars"
}

func ExampleParser_Parse() {
	strict, err := prompt.NewParser("strict", prompt.Unit)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, reply := range []string{"Guess: Mars\nProbability: 85%", "Guess: Mars\nProbability: 0.7 to 0.9"} {
		parsed := strict.Parse(reply, false)
		if p, ok := parsed.Probability.Get(); ok {
			fmt.Println(parsed.Guess, p)
		} else {
			fmt.Println(parsed.Guess, parsed.Probability.Missing())
		}
	}
	// Output:
	// Mars 0.85
	// Mars malformed probability
}
