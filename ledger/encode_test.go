package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

func sampleReply() llm.Reply {
	return llm.Reply{Text: " Paris", Reproducible: true, Tokens: []record.Token{
		{ID: 12095, Piece: []byte(" Par"), LogProb: -0.0123456789}, {ID: 285, Piece: []byte("is"), LogProb: math.SmallestNonzeroFloat64}}}
}

// The form of released ledgers.
func TestFormOfReplies(t *testing.T) {
	t.Parallel()
	b := encodeReply(sampleReply())
	want := []byte{1, flagReproducible | textIsPieces, 2}
	want = binary.LittleEndian.AppendUint64(want, math.Float64bits(-0.0123456789))
	want = append(want, 1, 0, 0, 0, 0, 0, 0, 0, // the smallest float64
		formPlain, 0xbf, 0x5e, 0x9d, 0x02, 4, 2)
	want = append(want, " Paris"...)
	if !bytes.Equal(b, want) {
		t.Errorf("form\n%x, want\n%x", b, want)
	}
}

func sampleTold() llm.Reply {
	r := sampleReply()
	r.Told = &llm.Told{
		Alternatives: [][]float64{{-.5, math.Inf(-1)}, nil}, Entropies: []float64{.25, 0},
		End: &llm.EndOfTurn{LogProb: -1.5, Entropy: .75, Alternatives: []float64{-1.5, -2, -3}},
	}
	return r
}

// What is told besides tokens comes back to the last bit, each part alone and all together; a reply without it
// keeps its form.
func TestDetailsComeBack(t *testing.T) {
	t.Parallel()
	all := sampleTold()
	none := llm.Reply{Text: "", Told: &llm.Told{End: all.Told.End}}
	for name, r := range map[string]llm.Reply{
		"all": all, "no token": none,
		"alternatives": {Tokens: all.Tokens, Text: all.Text, Told: &llm.Told{Alternatives: all.Told.Alternatives}},
		"entropies":    {Tokens: all.Tokens, Text: all.Text, Told: &llm.Told{Entropies: all.Told.Entropies}},
		"end":          {Tokens: all.Tokens, Text: all.Text, Told: &llm.Told{End: &llm.EndOfTurn{LogProb: -1}}},
	} {
		b := encodeReply(r)
		got, err := decodeReply(b)
		if diff := cmp.Diff(r, got); err != nil || diff != "" || b[0] != replyWithDetails {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		for cut := range b {
			if _, err := decodeReply(b[:cut]); err == nil {
				t.Errorf("%s: %d of %d bytes are read", name, cut, len(b))
			}
		}
	}
	nothing := settle(llm.Reply{Told: &llm.Told{Alternatives: [][]float64{}}})
	if nothing.Told != nil {
		t.Errorf("nothing told is kept: %+v", nothing.Told)
	}
	empty := encodeReply(all)
	empty[2+1+8*2] = 0 // which parts follow: none
	if r, err := decodeReply(empty); err == nil {
		t.Errorf("details of nothing are read: %+v", r.Told)
	}
}

func sampleEmbedding() llm.Reply {
	return llm.Reply{Reproducible: true, Embedding: []float32{0.6, float32(math.Copysign(0, -1)), -0.8}}
}

// The form of replies with an embedding, and that others keep theirs.
func TestFormOfEmbeddings(t *testing.T) {
	t.Parallel()
	b := encodeReply(sampleEmbedding())
	want := []byte{2, flagReproducible | textIsPieces, 0, 3,
		0x9a, 0x99, 0x19, 0x3f, 0, 0, 0, 0x80, 0xcd, 0xcc, 0x4c, 0xbf, formPlain}
	if !bytes.Equal(b, want) {
		t.Errorf("form\n%x, want\n%x", b, want)
	}
	none := []byte{2, flagReproducible | textIsPieces, 0, 0, formPlain}
	if r, err := decodeReply(none); err == nil {
		t.Errorf("an embedding of no number is read: %+v", r)
	}
	later := bytes.Clone(b)
	later[0] = 6
	if _, err := decodeReply(later); !errors.Is(err, errNewVersion) {
		t.Errorf("version 6: error %v", err)
	}
}

// A bit that turned in the file is found, wherever it is.
func TestEveryDamagedByteIsFound(t *testing.T) {
	t.Parallel()
	b := &binding{key: make([]byte, 32), kind: "generate", finish: "end", ids: encodeIDs([]int32{7}), asked: 1, took: 2}
	for _, r := range []llm.Reply{sampleReply(), sampleEmbedding()} {
		findDamage(t, b, b.bind(encodeReply(r)))
		findDamage(t, b, seal(encodeReply(r))) // of schema version 1
	}
}

// A whole reply beside what belongs to another call is damage as well.
func TestAReplyIsBoundToItsCall(t *testing.T) {
	t.Parallel()
	b := binding{key: make([]byte, 32), kind: "generate", finish: "end", ids: encodeIDs([]int32{7}), observed: "{}", asked: 1, took: 2, used: llm.Usage{Prompt: 3}}
	stored := b.bind(encodeReply(sampleReply()))
	if _, err := b.bodyOf(stored); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*binding){
		"key":      func(b *binding) { b.key = append(make([]byte, 31), 1) },
		"kind":     func(b *binding) { b.kind = "score" },
		"finish":   func(b *binding) { b.finish = "length" },
		"borders":  func(b *binding) { b.kind, b.finish = "generatee", "nd" },
		"ids":      func(b *binding) { b.ids = encodeIDs([]int32{8}) },
		"no ids":   func(b *binding) { b.ids = nil },
		"observed": func(b *binding) { b.observed = "" },
		"asked":    func(b *binding) { b.asked++ },
		"tokens":   func(b *binding) { b.used.Generated++ },
		"took":     func(b *binding) { b.took = -b.took },
	} {
		other := b
		change(&other)
		if _, err := other.bodyOf(stored); !errors.Is(err, errChecksum) {
			t.Errorf("%s of another call: %v", name, err)
		}
	}
}

func findDamage(t *testing.T, of *binding, whole []byte) {
	t.Helper()
	for i := range whole {
		for bit := range 8 {
			b := bytes.Clone(whole)
			b[i] ^= 1 << bit
			if r, err := of.bodyOf(b); err == nil {
				t.Errorf("bit %d of byte %d turned: %+v", bit, i, r)
			}
		}
		if _, err := of.bodyOf(whole[:i]); err == nil {
			t.Errorf("cut to %d bytes, it is read", i)
		}
	}
}

func TestPackShortens(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", strings.Repeat("the answer is the one that ", 40), "\x00\xff\xfe", strings.Repeat("東京", 500)} {
		packed := shared.pack([]byte(text))
		if len(packed) > len(text)+1 {
			t.Errorf("%.20q of %d bytes takes %d", text, len(text), len(packed))
		}
		got, err := shared.unpack(packed)
		if err != nil || string(got) != text {
			t.Errorf("%.20q comes back as %.20q, %v", text, got, err)
		}
	}
}

// A few bytes must not make a reader allocate without end.
func TestPackedBombIsRefused(t *testing.T) {
	t.Parallel()
	packed := shared.pack(make([]byte, 5*maxBytes))
	if len(packed) > 1<<20 {
		t.Fatalf("the bomb has %d bytes", len(packed))
	}
	if b, err := shared.unpack(packed); err == nil {
		t.Errorf("unpacked to %d bytes", len(b))
	}
}

func FuzzDecodeReply(f *testing.F) {
	f.Add(encodeReply(sampleReply()))
	f.Add(encodeReply(llm.Reply{}))
	f.Add(encodeReply(sampleEmbedding()))
	f.Add(encodeReply(llm.Reply{Text: strings.Repeat("a long text ", 50)}))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = (&binding{}).bodyOf(b)
		r, err := decodeReply(b)
		if err != nil {
			return
		}
		again, err := decodeReply(encodeReply(r))
		if err != nil {
			t.Fatal(err)
		}
		bits := cmp.Options{
			cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }),
			cmp.Comparer(func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }),
		}
		if d := cmp.Diff(r, again, bits, cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	})
}

func FuzzDecodeIDs(f *testing.F) {
	f.Add(encodeIDs([]int32{1, -1, math.MaxInt32, math.MinInt32}))
	f.Add(encodeIDs(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, seal(b)} {
			ids, err := decodeIDs(b)
			if err != nil {
				continue
			}
			again, err := decodeIDs(encodeIDs(ids))
			if err != nil || !cmp.Equal(ids, again) || ids == nil {
				t.Errorf("%v, %v, %v", ids, again, err)
			}
		}
	})
}

func FuzzUnpack(f *testing.F) {
	f.Add(shared.pack([]byte(strings.Repeat("the question and the answer ", 9))))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = shared.unpack(b)
		_ = dictionaryOf(b)
	})
}
