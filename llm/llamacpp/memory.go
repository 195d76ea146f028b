package llamacpp

import (
	"fmt"
	"runtime"
)

// Memory is what an engine takes at most once it is loaded, in bytes, by what takes it. It is computed from
// the header of the weights; docs/performance.md compares it with what the library says and with what a
// process had.
type Memory struct {
	// Weights are mapped from their file.
	Weights int64 `json:"weights"`
	// Cells hold keys and values of all tokens of all sequences.
	Cells int64 `json:"cells"`
	// Buffers hold what one batch computes and the logits that wait.
	Buffers int64 `json:"buffers"`
	// Program is the rest: the vocabulary, the library, this program.
	Program int64 `json:"program"`
	// Sequences of ContextTokens tokens are held at once.
	Sequences     int `json:"sequences"`
	ContextTokens int `json:"context_tokens"`
}

// Total is the sum.
func (m Memory) Total() int64 { return m.Weights + m.Cells + m.Buffers + m.Program }

// String is one line for people.
func (m Memory) String() string {
	return fmt.Sprintf("%s: weights %s, %d sequences of %d tokens %s, buffers %s, program %s", megabytes(m.Total()),
		megabytes(m.Weights), m.Sequences, m.ContextTokens, megabytes(m.Cells), megabytes(m.Buffers), megabytes(m.Program))
}

// Memory is what the engine takes at most, known before anything is loaded.
func (e *Engine) Memory() Memory { return e.c.memory(e.shape) }

func (c *settled) memory(s shape) Memory {
	return Memory{
		Weights: s.weightBytes, Cells: int64(c.slots) * c.sequenceBytes(s), Buffers: c.bufferBytes(s),
		Program: programBytes + int64(s.vocab)*tokenBytes, Sequences: c.slots, ContextTokens: c.context,
	}
}

// fit chooses the number of sequences within the bound on memory.
func (c *settled) fit(s shape) error {
	c.slots = c.Sequences
	if c.slots == 0 {
		c.slots = defaultSequences
	}
	if c.slots > maxSequences {
		return fmt.Errorf("%d sequences are wanted; at most %d are possible", c.slots, maxSequences)
	}
	for c.MemoryLimit > 0 && c.memory(s).Total() > c.MemoryLimit {
		if c.slots == 1 || c.Sequences > 0 {
			return &memoryError{c.MemoryLimit, c.memory(s)}
		}
		c.slots--
	}
	return nil
}

// memoryError is a bound that is too low for the fewest sequences that are wanted.
type memoryError struct {
	limit int64
	needs Memory
}

func (e *memoryError) Error() string {
	return fmt.Sprintf("a memory limit of %s is too low: the least is %s; raise the limit, or lower the context",
		megabytes(e.limit), e.needs)
}

// sequenceBytes is what the cells of one sequence take: keys and values as 16-bit numbers.
func (c *settled) sequenceBytes(s shape) int64 {
	return int64(c.cells) * int64(s.layers) * int64(s.keyWidth+s.valueWidth) * 2
}

// bufferBytes bounds the widest result of one batch as the library computes it, its copy of the logits of
// one, the logits that wait for workers, and what each worker writes.
func (c *settled) bufferBytes(s shape) int64 {
	logits := int64(s.vocab) * 4
	widest := max(logits, int64(3*s.feedForward+4*s.embedding)*4)
	computing := int64(c.rows)*(widest+int64(s.embedding)*8) + fixedBuffers
	return computing + int64(c.rows+rowBuffers)*logits + int64(runtime.GOMAXPROCS(0))*int64(s.vocab)*scratchBytes
}

const (
	// programBytes and tokenBytes were fitted to what four models of three vocabularies left unexplained.
	programBytes = 40 << 20
	tokenBytes   = 300
	// scratchBytes is what a worker keeps for each token of the vocabulary: two weights and an id.
	scratchBytes = 8 + 8 + 4
	fixedBuffers = 1 << 20
)

func megabytes(n int64) string { return fmt.Sprintf("%d MB", (n+999_999)/1_000_000) }
