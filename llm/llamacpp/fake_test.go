package llamacpp

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync/atomic"
)

// fakeDecoder holds texts as a model's cells do and gives logits that depend on the whole text before,
// so that a token in the wrong place or slot changes everything after it. It reports every batch that
// the real decoder would not compute at once, or not at all.
type fakeDecoder struct {
	lim   limits
	texts [][]int32
	last  []fakeRow
	// rows counts what was decoded, batches how often.
	rows, batches int
	copies        int
	// failAt makes that batch fail, counted from 1.
	failAt int
	closed atomic.Bool
	// before is called at the start of each batch.
	before func(batch int)
}

type fakeRow struct {
	text []int32
	want bool
}

const fakeVocab = 24

func newFake(lim limits) *fakeDecoder {
	return &fakeDecoder{lim: lim, texts: make([][]int32, lim.slots)}
}

// fault is how a broken rule reaches the test: all jobs of the batch get it.
func (f *fakeDecoder) check(rows []row) error {
	if len(rows) == 0 || len(rows) > f.lim.rows {
		return fmt.Errorf("fault: a batch of %d rows, at most %d", len(rows), f.lim.rows)
	}
	counts := map[int]int{}
	for i, r := range rows {
		if i > 0 && r.slot != rows[i-1].slot && r.slot != rows[i-1].slot+1 {
			return fmt.Errorf("fault: slot %d after slot %d", r.slot, rows[i-1].slot)
		}
		if want := len(f.texts[r.slot]) + counts[r.slot]; r.pos != want {
			return fmt.Errorf("fault: slot %d: position %d, want %d", r.slot, r.pos, want)
		}
		if r.pos >= f.lim.cells {
			return fmt.Errorf("fault: slot %d: position %d of %d cells", r.slot, r.pos, f.lim.cells)
		}
		counts[r.slot]++
	}
	for slot, n := range counts {
		if n != counts[rows[0].slot] {
			return fmt.Errorf("fault: slot %d has %d rows, slot %d has %d", slot, n, rows[0].slot, counts[rows[0].slot])
		}
	}
	return nil
}

var errFake = errors.New("the decoder failed")

func (f *fakeDecoder) decode(rows []row) error {
	f.batches++
	if f.before != nil {
		f.before(f.batches)
	}
	if f.batches == f.failAt {
		return errFake
	}
	if err := f.check(rows); err != nil {
		return err
	}
	f.rows += len(rows)
	f.last = f.last[:0]
	for _, r := range rows {
		f.texts[r.slot] = append(f.texts[r.slot], r.token)
		f.last = append(f.last, fakeRow{append([]int32(nil), f.texts[r.slot]...), r.want})
	}
	return nil
}

func (f *fakeDecoder) logits(i int) ([]float32, error) {
	if !f.last[i].want {
		return nil, errors.New("fault: logits that were not asked for")
	}
	return fakeLogits(f.last[i].text), nil
}

func (f *fakeDecoder) copySlot(src, dst int) error {
	if len(f.texts[dst]) != 0 || src == dst {
		return fmt.Errorf("fault: copy of slot %d onto slot %d with %d tokens", src, dst, len(f.texts[dst]))
	}
	f.copies++
	f.texts[dst] = append(f.texts[dst], f.texts[src]...)
	return nil
}

func (f *fakeDecoder) trim(slot, n int) error {
	if n > len(f.texts[slot]) {
		return fmt.Errorf("fault: slot %d cut to %d of %d tokens", slot, n, len(f.texts[slot]))
	}
	f.texts[slot] = f.texts[slot][:n]
	return nil
}

func (f *fakeDecoder) close() { f.closed.Store(true) }

// fakeLogits are a function of the text.
func fakeLogits(text []int32) []float32 {
	h := fnv.New64a()
	for _, t := range text {
		_, _ = h.Write([]byte{byte(t), byte(t >> 8)})
	}
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	out := make([]float32, fakeVocab)
	for i := range out {
		out[i] = float32(rng.NormFloat64() * 2)
	}
	return out
}

// fakeWords spells token t as a letter; token 0 ends a text.
type fakeWords struct{}

func (fakeWords) piece(t int32) []byte { return []byte{'a' + byte(t)} }
func (fakeWords) ends(t int32) bool    { return t == 0 }
