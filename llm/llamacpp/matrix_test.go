package llamacpp

import (
	"fmt"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// What exact mode promises, held by equality of bits: the value of a token depends on the text before it
// and on nothing else. Each scenario reads the last tokens of a text in another way; all must give what
// one thread gives that decodes the text alone, in the largest batches, into empty cells.

// tail is how many tokens at the end of a text are compared.
const tail = 16

func TestExactQwen(t *testing.T) {
	matrix(t, qwen, []int{60, 120, 300, 640}, 60)
}

func TestExactSmolLM2(t *testing.T) {
	if !stress() {
		t.Skip("only with CREDENCE_STRESS: the matrix runs on one model")
	}
	matrix(t, smollm, []int{60, 120, 300, 640, 1500}, 1500)
}

func TestExactGemma(t *testing.T) {
	if !stress() {
		t.Skip("only with CREDENCE_STRESS: the matrix runs on one model")
	}
	matrix(t, gemma, []int{60, 120, 300, 640, 1500}, 1500)
}

// matrix runs all scenarios on texts of the given lengths, those with many texts up to the length crowd.
func matrix(t *testing.T, model string, lengths []int, crowd int) {
	c := partsOf(t, model)
	c.ContextTokens = 700
	sequences := 8
	if stress() {
		c.ContextTokens, sequences = 1600, 30
		if lengths[len(lengths)-1] < 1500 {
			lengths, crowd = append(lengths, 1500), 1500
		}
	}
	m := &exactness{t: t, alone: open(t, c, with(1, exactRows, 1))}
	two := open(t, c, with(1, exactRows, 2), func(s *settled) { s.steady = true })
	many := open(t, c, with(sequences, exactRows, 2))
	few := open(t, c, with(2, exactRows, 2))
	small := open(t, c, with(3, 16, 1))
	for _, n := range lengths {
		m.length = n
		m.run("two threads", func() { m.reads(two, 0) })
		m.run("generated alone", func() { m.generated(two, 4) })
		m.run("generated together", func() { m.generated(many, 6, 6) })
		if n > crowd {
			continue
		}
		m.run("together", func() { m.reads(many, count(sequences)...) })
		m.run("small batches", func() { m.reads(small, 1, 2, 0) })
		m.run("evicted and reused", func() { m.evicted(few) })
		m.run("answers in one context", func() { m.shared(many) })
	}
}

func with(slots, rows, threads int) func(*settled) {
	return func(s *settled) { s.slots, s.rows, s.Threads = slots, rows, threads }
}

func count(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// exactness compares readings with those of an engine that decodes texts alone.
type exactness struct {
	t      *testing.T
	alone  *Engine
	length int
	known  map[string][]record.Token
}

func (m *exactness) run(name string, f func()) {
	outer := m.t
	outer.Run(fmt.Sprintf("%d tokens/%s", m.length, name), func(t *testing.T) {
		m.t = t
		f()
	})
	m.t = outer
}

// want reads a text alone, with no text before it in the cells.
func (m *exactness) want(ids []int32, n int) []record.Token {
	key := fmt.Sprint(ids, n)
	if got, ok := m.known[key]; ok {
		return got
	}
	do(m.t, m.alone, forced(m.t, m.alone, []int32{ids[1] + 1, 1}, 1)) // shares no beginning
	got := do(m.t, m.alone, forced(m.t, m.alone, ids, n))[0].Tokens
	if m.known == nil {
		m.known = map[string][]record.Token{}
	}
	m.known[key] = got
	return got
}

func (m *exactness) same(what string, got, want []record.Token) {
	m.t.Helper()
	if len(got) != len(want) {
		m.t.Errorf("%s: %d tokens, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if got[i].ID != want[i].ID || got[i].LogProb != want[i].LogProb {
			m.t.Errorf("%s: token %d is %d at %v, want %d at %v (%g nats apart)", what, i,
				got[i].ID, got[i].LogProb, want[i].ID, want[i].LogProb, got[i].LogProb-want[i].LogProb)
			return
		}
	}
}

// reads asks for texts together and compares the first two and the last.
func (m *exactness) reads(e *Engine, which ...int) {
	jobs := make([]*job, len(which))
	texts := make([][]int32, len(which))
	for i, k := range which {
		texts[i] = passage(m.t, e, k, m.length)
		jobs[i] = forced(m.t, e, texts[i], tail)
	}
	for i, r := range do(m.t, e, jobs...) {
		if i < 2 || i == len(which)-1 {
			m.same(fmt.Sprintf("text %d", which[i]), r.Tokens, m.want(texts[i], tail))
		}
	}
}

// generated lets the model go on after the text, one token at a time, by so many tokens each, the first
// greedy, and forces what it wrote.
func (m *exactness) generated(e *Engine, lengths ...int) {
	ids := passage(m.t, e, 0, m.length)
	var jobs []*job
	for i, n := range lengths {
		jobs = append(jobs, written(m.t, e, ids, llm.Decoding{MaxTokens: n, Temperature: float64(i)}, 1))
	}
	for i, r := range do(m.t, e, jobs...) {
		m.same(fmt.Sprintf("at temperature %d", i), r.Tokens, m.want(joined(ids, r.Tokens), len(r.Tokens)))
	}
}

func joined(ids []int32, said []record.Token) []int32 {
	out := append([]int32(nil), ids...)
	for _, t := range said {
		out = append(out, t.ID)
	}
	return out
}

// evicted fills the cells with other texts, cuts and refills them, and reads the text last.
func (m *exactness) evicted(e *Engine) {
	ids := passage(m.t, e, 0, m.length)
	other := passage(m.t, e, 3, m.length)
	branch := append(append([]int32(nil), ids[:m.length/2]...), other[:m.length/4]...)
	for _, text := range [][]int32{other, passage(m.t, e, 2, m.length/2), branch} {
		do(m.t, e, forced(m.t, e, text, 1))
	}
	got := do(m.t, e, forced(m.t, e, ids, tail))[0]
	m.same("after others", got.Tokens, m.want(ids, tail))
	do(m.t, e, written(m.t, e, ids, llm.Decoding{MaxTokens: 5, Temperature: 2}, 7))
	got = do(m.t, e, forced(m.t, e, ids, tail))[0]
	m.same("again after generating from it", got.Tokens, m.want(ids, tail))
}

// shared reads several answers in one context, of which one is the text's own end.
func (m *exactness) shared(e *Engine) {
	ids := passage(m.t, e, 4, m.length)
	var jobs []*job
	for i := range 5 {
		text := append([]int32(nil), ids...)
		if i > 0 {
			copy(text[len(text)-tail:], passage(m.t, e, 4+i, tail+1)[1:])
		}
		jobs = append(jobs, forced(m.t, e, text, tail))
	}
	replies := do(m.t, e, jobs...)
	m.same("the text's own end", replies[0].Tokens, m.want(ids, tail))
	last := joined(replies[4].PromptIDs, replies[4].Tokens)
	m.same("another end", replies[4].Tokens, m.want(last, tail))
}
