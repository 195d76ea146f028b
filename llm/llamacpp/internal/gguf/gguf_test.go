package gguf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// builder writes GGUF headers for tests.
type builder struct{ bytes.Buffer }

func (b *builder) u32(x uint32) { _ = binary.Write(b, binary.LittleEndian, x) }
func (b *builder) u64(x uint64) { _ = binary.Write(b, binary.LittleEndian, x) }
func (b *builder) text(s string) {
	b.u64(uint64(len(s)))
	b.WriteString(s)
}

func (b *builder) head(tensors, pairs uint64) {
	b.WriteString("GGUF")
	b.u32(3)
	b.u64(tensors)
	b.u64(pairs)
}

// small is a valid file with one value of each kind that is asked for, and a tensor of 32 floats.
func small() *builder {
	b := &builder{}
	b.head(1, 6)
	b.text("general.architecture")
	b.u32(typeString)
	b.text("qwen2")
	b.text("qwen2.context_length")
	b.u32(typeUint32)
	b.u32(4096)
	b.text("qwen2.attention.head_count_kv")
	b.u32(typeArray)
	b.u32(typeInt32)
	b.u64(2)
	b.u32(2)
	b.u32(4)
	b.text("tokenizer.ggml.tokens")
	b.u32(typeArray)
	b.u32(typeString)
	b.u64(2)
	b.text("a")
	b.text("bc")
	b.text("tokenizer.ggml.add_bos_token")
	b.u32(typeBool)
	b.WriteByte(1)
	b.text("negative")
	b.u32(typeInt32)
	b.u32(0xFFFFFFFF)
	b.text("token_embd.weight")
	b.u32(2)
	b.u64(8)
	b.u64(4)
	b.u32(0)
	b.u64(0)
	for b.Len()%32 != 0 {
		b.WriteByte(0)
	}
	b.Write(make([]byte, 128))
	return b
}

func TestReadGivesWhatTheHeaderSays(t *testing.T) {
	t.Parallel()
	raw := small().Bytes()
	g, err := Read(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := g.String("general.architecture"); !ok || s != "qwen2" {
		t.Errorf("architecture = %q, %v", s, ok)
	}
	if n, ok := g.Int("qwen2.context_length"); !ok || n != 4096 {
		t.Errorf("context length = %d, %v", n, ok)
	}
	if n, ok := g.Int("qwen2.attention.head_count_kv"); !ok || n != 4 {
		t.Errorf("largest of an array = %d, %v; want 4", n, ok)
	}
	if _, ok := g.Int("negative"); ok {
		t.Error("a negative number passed as a count")
	}
	if v, ok := g.Bool("tokenizer.ggml.add_bos_token"); !ok || !v {
		t.Errorf("bool = %v, %v", v, ok)
	}
	if got := strings.Join(g.Strings("tokenizer.ggml.tokens"), ","); got != "a,bc" {
		t.Errorf("tokens = %q", got)
	}
	if name, kind, ok := g.FloatMatrix(); !ok || name != "token_embd.weight" || kind != "F32" {
		t.Errorf("a matrix of 8 by 4 floats is %q of type %q, %v", name, kind, ok)
	}
	// The same 32 floats in a row are no matrix: such are the norms of every model.
	raw[bytes.Index(raw, []byte("token_embd.weight"))+len("token_embd.weight")+4] = 32
	raw[bytes.Index(raw, []byte("token_embd.weight"))+len("token_embd.weight")+12] = 1
	flat, err := Read(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if name, kind, ok := flat.FloatMatrix(); ok {
		t.Errorf("a row of floats is a matrix: %q of type %q", name, kind)
	}
	if g.Tensors != 1 || !g.HasPrefix("qwen2.") || g.HasPrefix("mamba.") {
		t.Errorf("tensors %d, prefixes wrong", g.Tensors)
	}
}

func TestEveryCutIsAnError(t *testing.T) {
	t.Parallel()
	raw := small().Bytes()
	for n := range raw {
		if _, err := Read(bytes.NewReader(raw[:n]), int64(n)); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut to %d of %d bytes: error %v, want ErrFormat", n, len(raw), err)
		}
	}
}

func TestHostileLengthsAreRefusedBeforeAllocation(t *testing.T) {
	t.Parallel()
	for name, build := range map[string]func(b *builder){
		"pairs":   func(b *builder) { b.head(0, 1<<60) },
		"tensors": func(b *builder) { b.head(1<<60, 0) },
		"key":     func(b *builder) { b.head(0, 1); b.u64(1 << 62) },
		"string":  func(b *builder) { b.head(0, 1); b.text("k"); b.u32(typeString); b.u64(1 << 63) },
		"array": func(b *builder) {
			b.head(0, 1)
			b.text("k")
			b.u32(typeArray)
			b.u32(typeString)
			b.u64(1 << 61)
		},
		"nested array": func(b *builder) {
			b.head(0, 1)
			b.text("k")
			b.u32(typeArray)
			b.u32(typeArray)
			b.u64(1)
		},
		"dimension": func(b *builder) {
			b.head(1, 0)
			b.text("t")
			b.u32(2)
			b.u64(1 << 62)
			b.u64(1 << 62)
			b.u32(0)
			b.u64(0)
		},
		"offset": func(b *builder) {
			b.head(1, 0)
			b.text("t")
			b.u32(1)
			b.u64(1)
			b.u32(0)
			b.u64(1<<64 - 8)
		},
	} {
		b := &builder{}
		build(b)
		b.Write(make([]byte, 64))
		if _, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len())); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: error %v, want ErrFormat", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(small().Bytes())
	f.Add([]byte("GGUF"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		g, err := Read(bytes.NewReader(raw), int64(len(raw)))
		if err == nil && g.Bytes != int64(len(raw)) {
			t.Error("size lost")
		}
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("error %v does not wrap ErrFormat", err)
		}
	})
}
