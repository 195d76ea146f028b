package llamacpp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// What exact mode promises, held by equality of bits: the value of a token depends on the text before it
// and on nothing else. Each case of the matrix reads the last tokens of a text in another way; all must give
// what one thread gives that decodes the text alone, in the largest batches, into empty cells.

// Matrix is what came out of the matrix for one model on one machine.
type Matrix struct {
	Rows []MatrixRow `json:"rows"`
	// Threads is the number of threads that was compared with one.
	Threads int `json:"threads"`
}

// MatrixRow is one case at one length of text.
type MatrixRow struct {
	// Case says how the text was read.
	Case string `json:"case"`
	// Tokens of the text, and how many of its last tokens were compared.
	Tokens   int `json:"tokens"`
	Compared int `json:"compared"`
	// Nats is the largest difference of a log-probability to that of the text read alone; Exact says that
	// all bits were equal.
	Nats  float64 `json:"nats"`
	Exact bool    `json:"exact"`
	// Seconds that the case took.
	Seconds float64 `json:"seconds"`
}

// Exact reports whether every row is exact.
func (m *Matrix) Exact() bool {
	for _, r := range m.Rows {
		if !r.Exact {
			return false
		}
	}
	return len(m.Rows) > 0
}

// Nats is the largest difference of all rows.
func (m *Matrix) Nats() float64 {
	most := 0.
	for _, r := range m.Rows {
		most = max(most, r.Nats)
	}
	return most
}

// MatrixSize says how much of the matrix is run.
type MatrixSize struct {
	// Lengths of the texts in tokens. Those that the context cannot hold are left out.
	Lengths []int
	// Crowd is the longest text of the cases that are more than one text read at once.
	Crowd int
	// Sequences are read together.
	Sequences int
}

// ShortMatrix takes a minute on a small machine; it has a text on each side of every border that is known.
// LongMatrix is all of it.
var (
	ShortMatrix = MatrixSize{Lengths: []int{60, 300, 640}, Crowd: 60, Sequences: 8}
	LongMatrix  = MatrixSize{Lengths: []int{60, 120, 300, 640, 1500}, Crowd: 1500, Sequences: 30}
)

// Check says what is wrong with a size; nil if nothing is.
func (s MatrixSize) Check() error {
	if len(s.Lengths) == 0 {
		return errors.New("no length of a text is given")
	}
	for _, n := range s.Lengths {
		if n < shortest || n > longest {
			return fmt.Errorf("a text of %d tokens is wanted; they have %d to %d", n, shortest, longest)
		}
	}
	if s.Sequences < 2 || s.Sequences > maxSequences {
		return fmt.Errorf("%d texts are to be read together; it must be 2 to %d", s.Sequences, maxSequences)
	}
	return nil
}

const (
	// shortest and longest are the bounds of a text's length.
	shortest, longest = 40, 100_000
	// tail is how many tokens at the end of a text are compared.
	tail = 16
	// goesOn is how many tokens are written after a text.
	goesOn = 6
)

// Measure runs the matrix on the model of c, which is loaded once for each arrangement, one at a time, and
// tells each row as it is known (tell may be nil). In fast mode, or with layers on a GPU, differences are
// what the matrix is asked for, and no error.
func Measure(ctx context.Context, c Config, size MatrixSize, tell func(MatrixRow)) (*Matrix, error) {
	if err := size.Check(); err != nil {
		return nil, err
	}
	if need := slices.Max(size.Lengths) + 2*tail; c.ContextTokens == 0 && need > defaultContext {
		c.ContextTokens = need
	}
	e, err := New(c)
	if err != nil {
		return nil, err
	}
	return e.measure(ctx, size, tell)
}

// measure leaves e itself unloaded.
func (e *Engine) measure(ctx context.Context, size MatrixSize, tell func(MatrixRow)) (*Matrix, error) {
	m := &measuring{of: e, ctx: ctx, size: size, threads: max(2, e.c.Threads)}
	for _, a := range m.arrangements() {
		if err := m.with(a, m.read); err != nil {
			return nil, err
		}
	}
	if len(m.taken) == 0 {
		return nil, fmt.Errorf("a context of %d tokens holds no text to measure exactness on; the shortest has %d", e.c.context, size.Lengths[0]+goesOn)
	}
	out := &Matrix{Threads: m.threads}
	alone := arrangement{slots: 1, rows: e.c.rows, threads: 1}
	err := m.with(alone, func(p *probe, _ arrangement) error {
		read := &lone{probe: p, known: map[string][]record.Token{}}
		for _, t := range m.taken {
			row, err := t.compare(read)
			if err != nil {
				return err
			}
			out.Rows = append(out.Rows, row)
			if tell != nil {
				tell(row)
			}
		}
		return nil
	})
	return out, err
}

// measuring is one run of the matrix: cases are taken under each arrangement first, and compared in the
// end, so that the model is in memory once.
type measuring struct {
	of      *Engine
	ctx     context.Context
	size    MatrixSize
	threads int
	taken   []taken
}

// arrangement is an engine made in another way, with the cases that are taken under it.
type arrangement struct {
	slots, rows, threads int
	// steady keeps all threads at work; see pace.
	steady bool
	cases  []matrixCase
}

// matrixCase is one way to read a text of n tokens.
type matrixCase struct {
	name string
	// crowd marks cases of more than one text.
	crowd bool
	read  func(p *probe, n int) ([]reading, error)
}

// reading is what was read of a text: its last tokens with their values.
type reading struct {
	ids  []int32
	last []record.Token
}

// taken is a case that waits to be compared.
type taken struct {
	name     string
	length   int
	readings []reading
	took     time.Duration
}

func (m *measuring) arrangements() []arrangement {
	rows, many := m.of.c.rows, m.size.Sequences
	if m.of.c.MemoryLimit > 0 {
		many = min(many, m.of.c.slots)
	}
	list := []arrangement{
		{1, rows, m.threads, true, []matrixCase{
			{fmt.Sprintf("%d threads", m.threads), false, together(0)},
			{"generated against forced", false, generated(1)},
		}},
		{many, rows, m.threads, false, []matrixCase{
			{"generated beside another", false, generated(2)},
			{fmt.Sprintf("%d together", many), true, together(count(many)...)},
			{"answers in one context", true, inOneContext},
		}},
		{2, rows, m.threads, false, []matrixCase{{"evicted and reused", true, evicted}}},
		{3, max(1, rows/4), 1, false, []matrixCase{{"smaller batches", true, together(1, 0, 1)}}},
	}
	if m.of.c.MemoryLimit > 0 { // what the bound has no room for is left out
		return list[:min(len(list), 1+m.of.c.slots)]
	}
	return list
}

func count(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// with loads the model as a says, for as long as f works.
func (m *measuring) with(a arrangement, f func(*probe, arrangement) error) (err error) {
	e := &Engine{c: m.of.c, shape: m.of.shape, lib: m.of.lib, template: m.of.template, identity: m.of.identity, ready: make(chan struct{})}
	e.c.slots, e.c.rows, e.c.Threads = a.slots, a.rows, a.threads
	e.c.steady, e.c.measuring = a.steady, true
	defer func() { err = errors.Join(err, e.Close()) }()
	p, err := e.probe(m.ctx)
	if err != nil {
		return err
	}
	return f(p, a)
}

// read takes the cases of an arrangement at each length.
func (m *measuring) read(p *probe, a arrangement) error {
	for _, n := range m.size.Lengths {
		if n+goesOn > m.of.c.context {
			continue
		}
		for _, c := range a.cases {
			if c.crowd && n > m.size.Crowd {
				continue
			}
			start := time.Now()
			readings, err := c.read(p, n)
			if err != nil {
				return fmt.Errorf("%s, %d tokens: %w", c.name, n, err)
			}
			m.taken = append(m.taken, taken{c.name, n, readings, time.Since(start)})
		}
	}
	return nil
}

// lone reads texts alone, each once.
type lone struct {
	*probe
	known map[string][]record.Token
}

// last reads the last n tokens of ids, with no text before it in the cells.
func (l *lone) last(ids []int32, n int) ([]record.Token, error) {
	key := fmt.Sprint(ids, n)
	if have, ok := l.known[key]; ok {
		return have, nil
	}
	if _, err := l.do(l.forced([]int32{ids[1] + 1, 1}, 1)); err != nil { // shares no beginning
		return nil, err
	}
	replies, err := l.do(l.forced(ids, n))
	if err != nil {
		return nil, err
	}
	l.known[key] = replies[0].Tokens
	return replies[0].Tokens, nil
}

// compare reads the same texts alone.
func (t taken) compare(read *lone) (MatrixRow, error) {
	row := MatrixRow{Case: t.name, Tokens: t.length, Exact: true, Seconds: t.took.Seconds()}
	for _, r := range t.readings {
		alone, err := read.last(r.ids, len(r.last))
		if err != nil {
			return row, err
		}
		for i, want := range alone {
			row.Compared++
			row.Nats = max(row.Nats, math.Abs(r.last[i].LogProb-want.LogProb))
			row.Exact = row.Exact && r.last[i].LogProb == want.LogProb
		}
	}
	return row, nil
}

// together reads texts at once and gives the first two and the last. Of many long texts all but the end
// is alike, so that the cells of one are copied to all.
func together(which ...int) func(*probe, int) ([]reading, error) {
	return func(p *probe, n int) ([]reading, error) {
		jobs, texts := make([]*job, len(which)), make([][]int32, len(which))
		for i, k := range which {
			ids, err := p.model.passage(k, n)
			if err != nil {
				return nil, err
			}
			if n > 120 && len(which) > 3 {
				first, err := p.model.passage(0, n)
				if err != nil {
					return nil, err
				}
				copy(ids[:n-60], first)
			}
			jobs[i], texts[i] = p.forced(ids, tail), ids
		}
		replies, err := p.do(jobs...)
		if err != nil {
			return nil, err
		}
		var out []reading
		for i, r := range replies {
			if i < 2 || i == len(which)-1 {
				out = append(out, reading{texts[i], r.Tokens})
			}
		}
		return out, nil
	}
}

// generated lets the model go on after the text, one token at a time, greedily and perhaps beside that at
// higher temperatures.
func generated(texts int) func(*probe, int) ([]reading, error) {
	return func(p *probe, n int) ([]reading, error) {
		ids, err := p.model.passage(0, n)
		if err != nil {
			return nil, err
		}
		var jobs []*job
		for i := range texts {
			jobs = append(jobs, p.written(ids, llm.Decoding{MaxTokens: goesOn, Temperature: float64(i)}, 1))
		}
		replies, err := p.do(jobs...)
		if err != nil {
			return nil, err
		}
		var out []reading
		for _, r := range replies {
			out = append(out, reading{joined(ids, r.Tokens), r.Tokens})
		}
		return out, nil
	}
}

// evicted fills the cells with other texts, cuts and refills them, and reads the text last; and again
// after something was generated from it.
func evicted(p *probe, n int) ([]reading, error) {
	ids, err := p.model.passage(0, n)
	if err != nil {
		return nil, err
	}
	other, err := p.model.passage(3, n)
	if err != nil {
		return nil, err
	}
	branch := append(append([]int32(nil), ids[:n/2]...), other[:n/4]...)
	var out []reading
	for _, step := range [][]*job{
		{p.forced(other, 1)}, {p.forced(other[n/3:], 1)}, {p.forced(branch, 1)},
		{p.forced(ids, tail)},
		{p.written(ids, llm.Decoding{MaxTokens: goesOn - 1, Temperature: 2}, 7)},
		{p.forced(ids, tail)},
	} {
		replies, err := p.do(step...)
		if err != nil {
			return nil, err
		}
		if r := replies[0]; len(r.Tokens) == tail {
			out = append(out, reading{ids, r.Tokens})
		}
	}
	return out, nil
}

// inOneContext reads five answers in one context, of which one is the text's own end.
func inOneContext(p *probe, n int) ([]reading, error) {
	var jobs []*job
	var texts [][]int32
	for i := range 5 {
		ids, err := p.model.passage(4, n)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			end, err := p.model.passage(4+i, tail+1)
			if err != nil {
				return nil, err
			}
			copy(ids[n-tail:], end[1:])
		}
		jobs, texts = append(jobs, p.forced(ids, tail)), append(texts, ids)
	}
	replies, err := p.do(jobs...)
	if err != nil {
		return nil, err
	}
	return []reading{{texts[0], replies[0].Tokens}, {texts[4], replies[4].Tokens}}, nil
}
