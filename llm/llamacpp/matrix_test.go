package llamacpp

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/credence-lab/credence/record"
)

// Exact mode's promise, on the cases that "credence doctor --engine" runs too.

func TestExactQwen(t *testing.T) {
	size := MatrixSize{Lengths: []int{60, 120, 300, 640}, Crowd: 60, Sequences: 8}
	if stress() {
		size = LongMatrix
	}
	matrix(t, qwen, size)
}

func TestExactSmolLM2(t *testing.T) { stressMatrix(t, smollm, LongMatrix) }

func TestExactGemma(t *testing.T) { stressMatrix(t, gemma, LongMatrix) }

func TestExactQwen15B(t *testing.T) {
	size := LongMatrix
	size.Crowd = 300 // thirty long texts take this model an hour
	stressMatrix(t, larger, size)
}

func stressMatrix(t *testing.T, model string, size MatrixSize) {
	if !stress() {
		t.Skip("only with CREDENCE_STRESS: the matrix runs on one model")
	}
	matrix(t, model, size)
}

// matrix runs all cases with two threads against one.
func matrix(t *testing.T, model string, size MatrixSize) {
	c := partsOf(t, model)
	c.ContextTokens = size.Lengths[len(size.Lengths)-1] + 2*tail
	m, err := Measure(t.Context(), c, size, func(r MatrixRow) {
		t.Run(fmt.Sprintf("%d tokens/%s", r.Tokens, r.Case), func(t *testing.T) {
			if !r.Exact || r.Compared == 0 {
				t.Errorf("%d tokens compared, at most %g nats apart", r.Compared, r.Nats)
			}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, n := range size.Lengths {
		if want += 3; n <= size.Crowd {
			want += 4
		}
	}
	if len(m.Rows) != want {
		t.Errorf("%d rows, want %d", len(m.Rows), want)
	}
}

// The matrix can fail: one bit in one value of a case is enough, and so is another mode.
func TestTheMatrixFindsWhatIsNotExact(t *testing.T) {
	p := probeOf(t, open(t, partsOf(t, smollm), with(1, exactRows, 1)))
	readings, err := together(0)(p, 40)
	if err != nil {
		t.Fatal(err)
	}
	c, read := taken{"as it is", 40, readings, 0}, &lone{probe: p, known: map[string][]record.Token{}}
	if row, err := c.compare(read); err != nil || !row.Exact || row.Compared != tail || row.Nats != 0 {
		t.Errorf("%+v, %v", row, err)
	}
	last := &readings[0].last[tail-1]
	last.LogProb = math.Nextafter(last.LogProb, 0)
	if row, err := c.compare(read); err != nil || row.Exact || row.Nats == 0 {
		t.Errorf("one bit more: %+v, %v", row, err)
	}
}

func TestFastModeIsNotExact(t *testing.T) {
	if !stress() {
		t.Skip("only with CREDENCE_STRESS: fast mode keeps all threads at work, however busy the machine")
	}
	c := partsOf(t, smollm)
	c.Mode, c.ContextTokens = Fast, 128
	m, err := Measure(t.Context(), c, MatrixSize{Lengths: []int{100}, Crowd: 100, Sequences: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Exact() || m.Nats() == 0 {
		t.Errorf("%+v", m)
	}
}

func TestATextThatNoContextHolds(t *testing.T) {
	c := partsOf(t, smollm)
	c.ContextTokens = 50
	if _, err := Measure(t.Context(), c, ShortMatrix, nil); err == nil || !strings.Contains(err.Error(), "a context of 50 tokens holds no text") {
		t.Errorf("error %v", err)
	}
}

func with(slots, rows, threads int) func(*settled) {
	return func(s *settled) { s.slots, s.rows, s.Threads = slots, rows, threads }
}
