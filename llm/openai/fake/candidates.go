package fake

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/credence-lab/credence/llm/llmtest"
)

// candidate is one of the most probable tokens at a position.
type candidate struct {
	id   int32
	text string
	x    float64
}

// candidates are the n most probable tokens where the token id has the log-probability x, which may not be one
// of them: see [llmtest.Alternatives].
func (s *Server) candidates(id int32, text string, x float64, n int) []candidate {
	list := []candidate{{id, text, x}}
	for i, other := range llmtest.Others(x, n) {
		list = append(list, candidate{firstOther + int32(i), fmt.Sprintf("~%d", i), other})
		if s.lies.Alike && i < 2 {
			list[i+1].text = "\uFFFD"
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.x, a.x) })
	return list[:n]
}

// firstOther is the id of the likeliest token besides the one that was chosen; those of the scripted model are smaller.
const firstOther int32 = 1 << 30

// byText is how vLLM and SGLang write candidates on OpenAI's older route: of two with one text the later stays.
func (s *Server) byText(list []candidate, temperature float64) object {
	out := object{}
	for _, c := range list {
		out[c.text] = heated(s.lp(c.x), temperature)
	}
	return out
}

// besides is byText where the chosen token is told too: vLLM has it first, whether or not it is among the others.
func (s *Server) besides(id int32, text string, x float64, n int) object {
	out := s.byText([]candidate{{id, text, x}}, 0)
	for t, v := range s.byText(s.candidates(id, text, x, n), 0) {
		out[t] = v
	}
	return out
}

// triples is how SGLang's own route writes them.
func (s *Server) triples(list []candidate, temperature float64) []any {
	out := make([]any, len(list))
	for i, c := range list {
		out[i] = []any{heated(s.lp(c.x), temperature), c.id, nil}
	}
	return out
}

// tgiTokens is how text-generation-inference writes them.
func (s *Server) tgiTokens(list []candidate, temperature float64) []object {
	out := make([]object, len(list))
	for i, c := range list {
		out[i] = object{"id": c.id, "text": c.text, "logprob": heated(s.lp(c.x), temperature), "special": c.id == llmtest.EndOfTurnID}
	}
	return out
}

// most is how many candidates the server tells, unless it was told otherwise.
func (s *Server) most(usual int) int {
	if s.lies.MostCandidates > 0 {
		return s.lies.MostCandidates
	}
	return usual
}
