package llamacpp

import (
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
)

// The suite asks for about a thousand tokens, so it runs on the small models: one with a chat template
// and no token before the text, one without template that puts one there.
func TestConformance(t *testing.T) {
	for model, specials := range map[string]map[string]int32{
		smollm: {"<|im_end|>": 2, "<|im_start|>": 1},
		gemma:  {"<bos>": 2, "<eos>": 1},
	} {
		t.Run(model, func(t *testing.T) {
			if model == gemma && !stress() {
				t.Skip("only with CREDENCE_STRESS: the base model is slow to load")
			}
			c := partsOf(t, model)
			llmtest.Conformance(t, func(t *testing.T) llm.Engine { return open(t, c) },
				llmtest.Expect{Exact: true, PromptIDs: true, Specials: specials})
		})
	}
}
