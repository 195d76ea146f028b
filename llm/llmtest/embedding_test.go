package llmtest

import (
	"testing"

	"github.com/credence-lab/credence/llm"
)

func TestScriptedEmbeddingsAreNearWhereWordsAreShared(t *testing.T) {
	t.Parallel()
	vector := func(text string) []float32 {
		out := NewScripted(nil).Do(t.Context(), []llm.Request{{Kind: llm.Embed, Prompt: llm.Prompt{Text: text}}})
		if out[0].Err != nil {
			t.Fatal(out[0].Err)
		}
		return out[0].Reply.Embedding
	}
	paris := vector("The city of Paris")
	same, near, far := cosine(paris, vector("the CITY of paris")), cosine(paris, vector("Paris, a city")), cosine(paris, vector("Buenos Aires"))
	if same < .999999 || near < far+.2 || far < 0 {
		t.Errorf("cosines %v, %v, %v", same, near, far)
	}
}
