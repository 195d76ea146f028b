package llm_test

import (
	"errors"
	"testing"

	"github.com/credence-lab/credence/llm"
)

func TestEmbedTakesAPlainTextAndNothingElse(t *testing.T) {
	t.Parallel()
	good := llm.Request{Kind: llm.Embed, Prompt: llm.Prompt{Text: "a text"}}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*llm.Request){
		"chat":    func(r *llm.Request) { r.Prompt = llm.Chat("a text", "") },
		"opening": func(r *llm.Request) { r.Prompt.Opening = "so" },
		"no BOS":  func(r *llm.Request) { r.Prompt.NoBOS = true },
		"answer":  func(r *llm.Request) { r.Answer = "an answer" },
	} {
		bad := good
		if change(&bad); bad.Validate() == nil || errors.Is(bad.Validate(), llm.ErrEmptyText) {
			t.Errorf("%s: error %v", name, bad.Validate())
		}
	}
	if err := (llm.Request{Kind: llm.Embed}).Validate(); !errors.Is(err, llm.ErrEmptyText) {
		t.Errorf("no text: error %v", err)
	}
}

func TestCheckKnowsEmbeddings(t *testing.T) {
	t.Parallel()
	writes, embeds := llm.Capabilities{Generate: true, Score: true}, llm.Capabilities{Embed: true, Dimensions: 3}
	if err := writes.Check(llm.Generate, llm.Embed); !errors.Is(err, llm.ErrNotSupported) {
		t.Errorf("an engine that writes: error %v", err)
	}
	if err := embeds.Check(llm.Embed); err != nil {
		t.Error(err)
	}
	if err := embeds.Check(llm.Generate); !errors.Is(err, llm.ErrNotSupported) {
		t.Errorf("an engine that embeds: error %v", err)
	}
}
