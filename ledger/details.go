package ledger

import (
	"encoding/binary"
	"math"

	"github.com/credence-lab/credence/llm"
)

// What a reply tells of its n tokens besides their log-probabilities is stored as
//
//	has           1 byte: which of the parts follow
//	alternatives  for each token their number as uvarint, and 8 bytes each: the bits of a float64, little endian
//	entropies     8 bytes for each token
//	end           8 bytes of log-probability, 8 of entropy, its alternatives as above
const (
	hasAlternatives = 1 << iota
	hasEntropies
	hasEnd
)

// settleTold brings what is told into the form that it also has when it is read back; nil where it is nothing.
func settleTold(t *llm.Told) *llm.Told {
	if t == nil {
		return nil
	}
	out := *t
	if len(out.Alternatives) == 0 {
		out.Alternatives = nil
	}
	if len(out.Entropies) == 0 {
		out.Entropies = nil
	}
	if out.Alternatives == nil && out.Entropies == nil && out.End == nil {
		return nil
	}
	lists := make([][]float64, 0, len(out.Alternatives))
	for _, list := range out.Alternatives {
		lists = append(lists, someOrNil(list))
	}
	if out.Alternatives != nil {
		out.Alternatives = lists
	}
	if out.End != nil {
		end := *out.End
		end.Alternatives = someOrNil(end.Alternatives)
		out.End = &end
	}
	return &out
}

func someOrNil(list []float64) []float64 {
	if len(list) == 0 {
		return nil
	}
	return list
}

// toldBytes is about what the details take.
func toldBytes(t *llm.Told) int {
	if t == nil {
		return 0
	}
	n := len(t.Entropies)
	for _, list := range t.Alternatives {
		n += 1 + len(list)
	}
	if t.End != nil {
		n += 2 + len(t.End.Alternatives)
	}
	return 8 * n
}

func appendTold(b []byte, t *llm.Told) []byte {
	var has byte
	if t.Alternatives != nil {
		has |= hasAlternatives
	}
	if t.Entropies != nil {
		has |= hasEntropies
	}
	if t.End != nil {
		has |= hasEnd
	}
	b = append(b, has)
	for _, list := range t.Alternatives {
		b = appendList(b, list)
	}
	for _, x := range t.Entropies {
		b = appendFloat(b, x)
	}
	if t.End != nil {
		b = appendList(appendFloat(appendFloat(b, t.End.LogProb), t.End.Entropy), t.End.Alternatives)
	}
	return b
}

func appendFloat(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

func appendList(b []byte, list []float64) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, x := range list {
		b = appendFloat(b, x)
	}
	return b
}

// told reads what appendTold wrote for n tokens. What says nothing is not written, and so is an error.
func (r *reader) told(n int) *llm.Told {
	has := r.take(1)
	if r.err != nil || has[0] == 0 || has[0] > hasAlternatives|hasEntropies|hasEnd || n == 0 && has[0] != hasEnd {
		r.fail()
		return nil
	}
	var t llm.Told
	if has[0]&hasAlternatives != 0 {
		t.Alternatives = make([][]float64, n)
		for i := range t.Alternatives {
			t.Alternatives[i] = r.floats(r.count(8))
		}
	}
	if has[0]&hasEntropies != 0 {
		t.Entropies = r.floats(n)
	}
	if has[0]&hasEnd != 0 {
		end := r.floats(2)
		if r.err != nil {
			return nil
		}
		t.End = &llm.EndOfTurn{LogProb: end[0], Entropy: end[1]}
		t.End.Alternatives = r.floats(r.count(8))
	}
	return &t
}

// floats reads n numbers; nil for none.
func (r *reader) floats(n int) []float64 {
	bits := r.take(8 * n)
	if n == 0 || r.err != nil {
		return nil
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(bits[8*i:]))
	}
	return out
}
