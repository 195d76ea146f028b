package openai_test

import (
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
)

// sensible is a model that is surer of what it says than of what nobody says.
func sensible() *llmtest.Scripted {
	said := "Mercury, Venus, Earth, Mars"
	return llmtest.NewScripted(llmtest.Funcs{
		Reply: func(llm.Prompt) []llmtest.Choice {
			return []llmtest.Choice{{Text: said, Weight: 3}, {Text: "Jupiter and Saturn"}, {Text: "Neptune first", Weight: 2}, {Text: "Uranus, then Mars", Weight: 2}, {Text: "Eight of them", Weight: 2}, {Text: "All of them", Weight: 2}, {Text: "Pluto is none", Weight: 2}}
		},
		Level: func(at llmtest.Position) (float64, bool) {
			if strings.HasPrefix(said, at.Before+at.Piece) {
				return -.25 - .01*float64(len(at.Before)), true
			}
			return -4 - .01*float64(len(at.Before)), true
		},
	}, llmtest.ContextOf(512))
}

func TestCheck(t *testing.T) {
	t.Parallel()
	token := []openai.Dialect{openai.VLLM, openai.SGLang, openai.SGLangOpenAI, openai.LlamaServer}
	for name, c := range map[string]struct {
		lies     fake.Lies
		dialects []openai.Dialect
		check    string
		want     openai.State
	}{
		"sound":             {fake.Lies{}, token, "", openai.Good},
		"echo ignored":      {fake.Lies{IgnoreEcho: true}, token[2:3], "forced equals generated", openai.Bad},
		"bias ignored":      {fake.Lies{IgnoreBias: true}, token[3:], "forced equals generated", openai.Bad},
		"no values":         {fake.Lies{NoLogProbs: true}, []openai.Dialect{openai.Plain, openai.Ollama}, "log-probabilities of generated tokens", openai.Bad},
		"cut values":        {fake.Lies{CutLogProbs: true}, []openai.Dialect{openai.Plain, openai.Ollama}, "log-probabilities of generated tokens", openai.Bad},
		"made-up zeros":     {fake.Lies{Zero: true}, token[:3], "values are log-probabilities", openai.Bad},
		"forced is certain": {fake.Lies{Processed: true}, token[3:], "an unlikely answer scores low", openai.Bad},
		"processed":         {fake.Lies{Processed: true}, token[:1], "values are raw", openai.Bad},
		"stale":             {fake.Lies{Stale: true}, token, "values do not depend on what was asked before", openai.Bad},
		"noise":             {fake.Lies{Noise: .01}, token, "greedy answers repeat", openai.Doubtful},
		"seed ignored":      {fake.Lies{IgnoreSeed: true}, append(token, openai.Ollama, openai.Plain), "seeds are honoured", openai.Doubtful},
		"double beginning":  {fake.Lies{DoubleBOS: true}, token[:1], "one beginning of the sequence", openai.Bad},
		"only reasoning":    {fake.Lies{Reasoning: "hmm", NoAnswer: true}, []openai.Dialect{openai.Plain, openai.OpenAI, openai.Ollama}, "answers", openai.Bad},
		"unknown context":   {fake.Lies{}, []openai.Dialect{openai.Plain}, "forced equals generated", openai.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, dialect := range c.dialects {
				findings, err := openai.Check(t.Context(), serve(t, dialect, sensible(), c.lies))
				if err != nil {
					t.Fatalf("%s: %v", dialect, err)
				}
				seen := false
				for _, f := range findings {
					if c.check == "" && f.State != openai.Good || f.Check == c.check && f.State != c.want {
						t.Errorf("%s: %+v, want %s", dialect, f, c.want)
					}
					seen = seen || f.Check == c.check
					if (f.State == openai.Bad || f.State == openai.Doubtful) != (f.Means != "") {
						t.Errorf("%s: a finding without what it means, or a good one with: %+v", dialect, f)
					}
				}
				if !seen && c.check != "" {
					t.Errorf("%s: no check %q", dialect, c.check)
				}
			}
		})
	}
}

// A server that does not answer is an error, not a list of findings.
func TestCheckOfNobody(t *testing.T) {
	t.Parallel()
	model := llmtest.NewScripted(nil)
	e := serve(t, openai.VLLM, model, fake.Lies{})
	_ = model.Close() // it now refuses everything
	if findings, err := openai.Check(t.Context(), e); err == nil {
		t.Errorf("%+v", findings)
	}
}
