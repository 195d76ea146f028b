package openai_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
)

// detailed is a question whose answer has tokens of high and of low probability.
func detailed(temperature float64, d llm.Details) llm.Request {
	return llm.Request{Kind: llm.Generate, Prompt: llm.Chat("Which?", ""), Decoding: llm.Decoding{MaxTokens: 9, Temperature: temperature}, Details: d}
}

func detailedModel() *llmtest.Scripted {
	return llmtest.NewQuiz([]llmtest.Item{{Question: "Which?", Reply: "two words"}}, llmtest.ContextOf(512))
}

var nearly = cmpopts.EquateApprox(0, 1e-9)

// TestServersTellDetails wants the values of the k most probable tokens at each position, in descending order, whether
// the chosen token is one of them or not, and the same of the token that ended the turn: of the model's own
// distribution, greedily or sampled, through the form that each server has for them.
func TestServersTellDetails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dialect openai.Dialect
		end     bool
		greedy  bool // alternatives only of greedy replies
		most    int
	}{
		{openai.Plain, false, false, 20}, {openai.OpenAI, false, false, 20}, {openai.Ollama, false, false, 20},
		{openai.LlamaServer, true, false, 1000}, {openai.VLLM, true, false, 20},
		{openai.SGLang, true, false, 1000}, {openai.SGLangOpenAI, true, false, 1000}, {openai.TGI, true, true, 5},
	} {
		e := serve(t, c.dialect, detailedModel(), fake.Lies{})
		if d := e.Capabilities().Details; d != (llm.Details{Alternatives: c.most, End: c.end}) || d != c.dialect.Capabilities().Details {
			t.Errorf("%s: it tells %+v", c.dialect, d)
		}
		outside := false
		for _, temperature := range []float64{0, 1.7} {
			for _, k := range []int{2, 5, 30} {
				name := fmt.Sprintf("%s, temperature %g, %d alternatives", c.dialect, temperature, k)
				r := e.Do(t.Context(), []llm.Request{detailed(temperature, llm.Details{Alternatives: k, End: true})})[0]
				told := r.Reply.Told
				if r.Err != nil || len(r.Reply.Tokens) < 2 || told == nil && (c.end || !c.greedy) {
					t.Fatalf("%s: %+v, %v", name, r.Reply, r.Err)
				}
				var want llm.Told
				k := min(k, c.most)
				for _, token := range r.Reply.Tokens {
					list := llmtest.Alternatives(token.LogProb, k)
					want.Alternatives = append(want.Alternatives, list)
					outside = outside || token.LogProb < list[k-1]
				}
				if c.end {
					want.End = &llm.EndOfTurn{LogProb: llmtest.EndLogProb, Alternatives: llmtest.Alternatives(llmtest.EndLogProb, k)}
				}
				if c.greedy && temperature > 0 {
					want.Alternatives, want.End.Alternatives = nil, nil
				}
				if d := cmp.Diff(want, *told, nearly, cmpopts.EquateEmpty()); d != "" {
					t.Errorf("%s: (-want +told)\n%s", name, d)
				}
				if r := e.Do(t.Context(), []llm.Request{detailed(temperature, llm.Details{})})[0]; r.Err != nil || r.Reply.Told != nil {
					t.Errorf("%s: told unasked: %+v, %v", name, r.Reply.Told, r.Err)
				}
			}
		}
		if !outside {
			t.Errorf("%s: every token was among the most probable; this shows less than it should", c.dialect)
		}
	}
}

// TestEndOfTurnAlone asks for it alone: it is told without alternatives, and nothing is asked for twice that the
// server told.
func TestEndOfTurnAlone(t *testing.T) {
	t.Parallel()
	for dialect, path := range map[openai.Dialect]string{openai.VLLM: "/v1/completions", openai.SGLang: "/generate", openai.SGLangOpenAI: "/v1/completions", openai.TGI: "/generate", openai.LlamaServer: "/completion"} {
		for temperature, most := range map[float64]int{0: 1, 1: 2} {
			f := fake.New(string(dialect), detailedModel(), fake.Lies{})
			e := open(t, dialect, f)
			met := f.Count(path)
			r := e.Do(t.Context(), []llm.Request{detailed(temperature, llm.Details{End: true})})[0]
			if d := cmp.Diff(&llm.Told{End: &llm.EndOfTurn{LogProb: llmtest.EndLogProb}}, r.Reply.Told, nearly, cmpopts.EquateEmpty()); d != "" || r.Err != nil {
				t.Errorf("%s at %g: %v %s", dialect, temperature, r.Err, d)
			}
			if asked := f.Count(path) - met; asked > most {
				t.Errorf("%s at %g: %d requests", dialect, temperature, asked)
			}
			cut := detailed(temperature, llm.Details{End: true})
			cut.Decoding.MaxTokens = 1
			if r := e.Do(t.Context(), []llm.Request{cut})[0]; r.Err != nil || r.Reply.Told != nil {
				t.Errorf("%s at %g: a reply that was cut off has the end %+v, %v", dialect, temperature, r.Reply.Told, r.Err)
			}
		}
	}
}

// TestTokensThatReadAlike has two of the most probable tokens decoded to one text. Where they are told by text, one
// is lost: that is noticed, and the list asked for by ids, or else not told at all. It is never short or wrong.
func TestTokensThatReadAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dialect openai.Dialect
		known   bool
		again   bool // a second request for the greedy reply
	}{{openai.VLLM, true, true}, {openai.SGLang, true, false}, {openai.SGLangOpenAI, false, true}, {openai.TGI, true, false}} {
		f := fake.New(string(c.dialect), detailedModel(), fake.Lies{Alike: true})
		e := open(t, c.dialect, f)
		path := map[openai.Dialect]string{openai.SGLang: "/generate", openai.TGI: "/generate"}[c.dialect]
		if path == "" {
			path = "/v1/completions"
		}
		met := f.Count(path)
		r := e.Do(t.Context(), []llm.Request{detailed(0, llm.Details{Alternatives: 4, End: true})})[0]
		if r.Err != nil || r.Reply.Told == nil || r.Reply.Told.End == nil || len(r.Reply.Tokens) == 0 {
			t.Fatalf("%s: %+v, %v", c.dialect, r.Reply, r.Err)
		}
		if asked := f.Count(path) - met; (asked == 2) != c.again {
			t.Errorf("%s: %d requests", c.dialect, asked)
		}
		var want [][]float64
		end := &llm.EndOfTurn{LogProb: llmtest.EndLogProb}
		if c.known {
			for _, token := range r.Reply.Tokens {
				want = append(want, llmtest.Alternatives(token.LogProb, 4))
			}
			end.Alternatives = llmtest.Alternatives(llmtest.EndLogProb, 4)
		}
		if d := cmp.Diff(&llm.Told{Alternatives: want, End: end}, r.Reply.Told, nearly, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: (-want +told)\n%s", c.dialect, d)
		}
	}
}

// TestServersThatTellFewer were started with a lower cap, or tell nothing: their engine says so before the first call,
// and what it says can be had.
func TestServersThatTellFewer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dialect openai.Dialect
		lies    fake.Lies
		most    int
	}{
		{openai.VLLM, fake.Lies{MostCandidates: 12}, 10}, {openai.VLLM, fake.Lies{MostCandidates: 2}, 2}, {openai.VLLM, fake.Lies{MostCandidates: 1}, 0},
		{openai.VLLM, fake.Lies{NoCandidates: true}, 0}, {openai.VLLM, fake.Lies{NoLogProbs: true}, 0},
		{openai.TGI, fake.Lies{MostCandidates: 4}, 2}, {openai.TGI, fake.Lies{MostCandidates: 1}, 0}, {openai.TGI, fake.Lies{NoCandidates: true}, 0},
	} {
		e := serve(t, c.dialect, detailedModel(), c.lies)
		if n := e.Capabilities().Details.Alternatives; n != c.most {
			t.Errorf("%s, %+v: it tells %d alternatives, want %d", c.dialect, c.lies, n, c.most)
		}
		r := e.Do(t.Context(), []llm.Request{detailed(0, llm.Details{Alternatives: 15})})[0]
		if r.Err != nil || r.Reply.Text == "" {
			t.Errorf("%s, %+v: %+v, %v", c.dialect, c.lies, r.Reply, r.Err)
		}
		if told := r.Reply.Told; (told != nil) != (c.most > 0) || told != nil && slices.ContainsFunc(told.Alternatives, func(l []float64) bool { return len(l) != c.most }) {
			t.Errorf("%s, %+v: told %+v", c.dialect, c.lies, told)
		}
	}
	// SGLang has no cap. Of one that tells none all the same nothing is known, and the reply is good.
	for _, dialect := range []openai.Dialect{openai.SGLang, openai.SGLangOpenAI} {
		e := serve(t, dialect, detailedModel(), fake.Lies{NoCandidates: true})
		r := e.Do(t.Context(), []llm.Request{detailed(0, llm.Details{Alternatives: 3})})[0]
		if r.Err != nil || len(r.Reply.Tokens) == 0 || r.Reply.Told != nil {
			t.Errorf("%s: %+v, %v", dialect, r.Reply, r.Err)
		}
	}
}

// TestNullText is an answer without a text: it is none, and no empty reply.
func TestNullText(t *testing.T) {
	t.Parallel()
	e := serve(t, openai.TGI, detailedModel(), fake.Lies{NoText: true})
	r := e.Do(t.Context(), []llm.Request{detailed(0, llm.Details{})})[0]
	var failed *openai.Error
	if !errors.As(r.Err, &failed) || failed.Kind != openai.Malformed {
		t.Errorf("a null text reads as %+v, %v", r.Reply, r.Err)
	}
}
