package llamacpp

import (
	"bytes"
	"strings"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// vocabulary is what a reply needs to know of tokens.
type vocabulary interface {
	// piece is the token's bytes; empty for special tokens.
	piece(token int32) []byte
	// ends reports whether the token ends a turn or the whole text.
	ends(token int32) bool
}

// consumer takes the logits of a request's wanted positions.
type consumer interface {
	// take is called once for each wanted position, k counting from 0, with the logits of the token that
	// follows it. It returns that token and whether it is to be decoded too. Calls for one consumer do
	// not overlap where the answer depends on their order.
	take(k int, logits []float32, s *scratch) (next int32, more bool, err error)
	// reply is called after the last take.
	reply() llm.Reply
}

// scoring reads the log-probabilities of given tokens.
type scoring struct {
	prompt []int32
	answer []record.Token
}

func newScoring(prompt, answer []int32, v vocabulary) *scoring {
	s := &scoring{prompt: prompt, answer: make([]record.Token, len(answer))}
	for i, t := range answer {
		s.answer[i] = record.Token{ID: t, Piece: v.piece(t)}
	}
	return s
}

func (s *scoring) take(k int, logits []float32, _ *scratch) (int32, bool, error) {
	sum, err := logSumExp(logits)
	if err != nil {
		return 0, false, err
	}
	s.answer[k].LogProb, err = logProb(logits, sum, s.answer[k].ID)
	return 0, false, err
}

func (s *scoring) reply() llm.Reply {
	return llm.Reply{Tokens: s.answer, PromptIDs: s.prompt, Finish: llm.FinishScored}
}

// generation writes new text token by token.
type generation struct {
	prompt []int32
	v      vocabulary
	choose *chooser
	max    int
	stop   stops

	tokens []record.Token
	text   []byte
	end    llm.Finish

	wanted llm.Details
	told   *llm.Told // nil where nothing is wanted
}

func newGeneration(r llm.Request, prompt []int32, v vocabulary) *generation {
	g := &generation{
		prompt: prompt, v: v, choose: newChooser(r, prompt),
		max: r.Decoding.MaxTokens, stop: newStops(r.Decoding.Stop), wanted: r.Details,
	}
	if r.Details != (llm.Details{}) {
		g.told = &llm.Told{}
	}
	return g
}

func (g *generation) take(_ int, logits []float32, s *scratch) (int32, bool, error) {
	sum, err := logSumExp(logits)
	if err != nil {
		return 0, false, err
	}
	next := g.choose.choose(logits, s)
	if g.v.ends(next) {
		g.end = llm.FinishEnd
		return next, false, g.tellEnd(logits, sum, next)
	}
	lp, err := logProb(logits, sum, next)
	if err != nil {
		return 0, false, err
	}
	g.tell(logits, sum)
	piece := g.v.piece(next)
	g.tokens = append(g.tokens, record.Token{ID: next, Piece: piece, LogProb: lp})
	from := len(g.text)
	g.text = append(g.text, piece...)
	if cut := g.stop.find(g.text, from); cut >= 0 {
		g.text, g.end = g.text[:cut], llm.FinishStop
		return next, false, nil
	}
	if len(g.tokens) == g.max {
		g.end = llm.FinishLength
		return next, false, nil
	}
	return next, true, nil
}

func (g *generation) reply() llm.Reply {
	return llm.Reply{
		Text: strings.ToValidUTF8(string(g.text), "\uFFFD"), Tokens: g.tokens,
		PromptIDs: g.prompt, Finish: g.end, Told: g.told,
	}
}

// stops looks for stop strings in text that grows.
type stops struct {
	list    [][]byte
	longest int
}

func newStops(list []string) stops {
	var s stops
	for _, x := range list {
		s.list = append(s.list, []byte(x))
		s.longest = max(s.longest, len(x))
	}
	return s
}

// find returns where the first stop string begins in text, or -1. Text before from was searched
// already, but a stop string may begin there and end in what is new.
func (s stops) find(text []byte, from int) int {
	start := max(0, from-s.longest+1)
	first := -1
	for _, x := range s.list {
		if i := bytes.Index(text[start:], x); i >= 0 && (first < 0 || start+i < first) {
			first = start + i
		}
	}
	return first
}
