package llamacpp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm/llamacpp/internal/gguf"
)

// TestWhatCannotBeUsedIsTheUsersToMend: a command then exits as on wrong input.
func TestWhatCannotBeUsedIsTheUsersToMend(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.gguf")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, weights := range []string{empty, filepath.Join(dir, "none.gguf"), header(t, nil, nil)} {
		_, err := New(Config{LibraryDir: dir, Weights: weights})
		var bad interface{ BadInput() bool }
		if !errors.As(err, &bad) || !bad.BadInput() {
			t.Errorf("%s: %v", weights, err)
		}
	}
}

// header writes a GGUF file without tensors: texts and whole numbers, and a vocabulary of two tokens.
func header(t *testing.T, texts map[string]string, numbers map[string]uint32) string {
	t.Helper()
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) }
	text := func(s string) { put(uint64(len(s))); b.WriteString(s) }
	b.WriteString("GGUF")
	put(uint32(3))
	put(uint64(0))
	put(uint64(len(texts) + len(numbers) + 1))
	for k, v := range texts {
		text(k)
		put(uint32(8))
		text(v)
	}
	for k, v := range numbers {
		text(k)
		put(uint32(4))
		put(v)
	}
	text("tokenizer.ggml.tokens")
	put(uint32(9))
	put(uint32(8))
	put(uint64(2))
	text("a")
	text("<s>")
	b.Write(make([]byte, 64))
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func llamaNumbers() map[string]uint32 {
	return map[string]uint32{
		"llama.context_length": 2048, "llama.block_count": 2, "llama.embedding_length": 64,
		"llama.attention.head_count": 8, "llama.attention.head_count_kv": 2, "tokenizer.ggml.bos_token_id": 1,
	}
}

func TestWeightsThatCannotBeRunAreNamed(t *testing.T) {
	t.Parallel()
	write := func(content string) string {
		path := filepath.Join(t.TempDir(), "w.gguf")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	recurrent := llamaNumbers()
	recurrent["llama.ssm.conv_kernel"] = 4
	for name, c := range map[string]struct{ path, want string }{
		"no file":         {filepath.Join(t.TempDir(), "none.gguf"), "no such file"},
		"a folder":        {t.TempDir(), "is a folder"},
		"empty":           {write(""), "ends early"},
		"something else":  {write("PK\x03\x04 a zip archive, not weights"), `begins with "PK`},
		"an encoder":      {header(t, map[string]string{"general.architecture": "bert"}, nil), "gives vectors for texts"},
		"recurrent":       {header(t, map[string]string{"general.architecture": "mamba"}, nil), "recurrent"},
		"half recurrent":  {header(t, map[string]string{"general.architecture": "llama"}, recurrent), "recurrent"},
		"no architecture": {header(t, nil, llamaNumbers()), "no architecture"},
		"no shape":        {header(t, map[string]string{"general.architecture": "llama"}, nil), "llama."},
		"bad template": {header(t, map[string]string{"general.architecture": "llama", "tokenizer.chat_template": "{% if %}{{ ("},
			llamaNumbers()), "chat template"},
	} {
		_, err := New(Config{Weights: c.path, LibraryDir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

func TestChoicesAreMadeAndChecked(t *testing.T) {
	t.Parallel()
	g, err := gguf.Open(header(t, map[string]string{"general.architecture": "llama"}, llamaNumbers()))
	if err != nil {
		t.Fatal(err)
	}
	s, err := readShape(g)
	if err != nil {
		t.Fatal(err)
	}
	if s.keyWidth != 16 || s.valueWidth != 16 || s.bosText != "<s>" {
		t.Errorf("shape %+v, want keys and values of 2 heads of 8", s)
	}
	s.weightBytes = 10_000_000
	got, err := Config{}.settle(s)
	if err != nil || got.context != 1024 || got.slots != 16 || got.cells != 1024 || got.rows != 63 || got.Mode != Exact || got.Threads < 1 {
		t.Errorf("defaults: %+v, %v", got, err)
	}
	// A sequence takes 1024 cells · 2 layers · 32 numbers · 2 bytes.
	if each := got.sequenceBytes(s); each != 131_072 {
		t.Errorf("a sequence takes %d bytes, want 131072", each)
	}
	all := got.memory(s)
	fixed := all.Total() - all.Cells
	if few, err := (Config{MemoryLimit: fixed + 3*131_072 + 5}).settle(s); err != nil || few.slots != 3 {
		t.Errorf("memory for three sequences gives %d (%v)", few.slots, err)
	}
	if all.Cells != 16*131_072 || all.Weights != 10_000_000 || all.Sequences != 16 || all.ContextTokens != 1024 {
		t.Errorf("memory %+v", all)
	}
	loose := s
	loose.float = "F16 (blk.0.attn_q.weight)"
	if _, err := (Config{}).settle(loose); err == nil || !strings.Contains(err.Error(), "exact mode is not possible with weights of type F16 (blk.0.attn_q.weight)") {
		t.Errorf("weights that are not quantised: %v", err)
	}
	if _, err := (Config{Mode: Fast}).settle(loose); err != nil {
		t.Errorf("weights that are not quantised, fast: %v", err)
	}
	for name, c := range map[string]struct {
		c    Config
		want string
	}{
		"memory for none":       {Config{MemoryLimit: fixed}, "1 sequences of 1024 tokens 1 MB"},
		"memory for fewer":      {Config{MemoryLimit: fixed + 3*131_072, Sequences: 4}, "memory limit"},
		"beyond training":       {Config{ContextTokens: 4096}, "trained for 2048"},
		"unknown mode":          {Config{Mode: "quick"}, `mode "quick"`},
		"negative":              {Config{Threads: -1}, "negative"},
		"layers below none":     {Config{GPULayers: -1}, "negative"},
		"too many sequences":    {Config{Sequences: 1000}, "at most 64"},
		"a checksum that isn't": {Config{WeightsSHA256: "ABC"}, "no SHA-256"},
	} {
		if _, err := c.c.settle(s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

func TestMissingLibrariesAreNamedWithTheirPackage(t *testing.T) {
	t.Parallel()
	err := explainLoad(errors.New("libstdc++.so.6: cannot open shared object file: No such file or directory"))
	for _, want := range []string{"libstdc++.so.6 is missing", "apt-get install libstdc++6", "dnf install libstdc++"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	err = explainLoad(errors.New("libodd.so.1: cannot open shared object file: No such file or directory"))
	if !strings.Contains(err.Error(), "libodd.so.1 is missing") {
		t.Errorf("error %v names no library", err)
	}
	path := header(t, map[string]string{"general.architecture": "llama"}, llamaNumbers())
	for dir, want := range map[string]string{"": "no folder", t.TempDir(): "libggml.so"} {
		if _, err := New(Config{Weights: path, LibraryDir: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("library folder %q: error %v, want one with %q", dir, err, want)
		}
	}
}

func TestVariantNames(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/x/libggml-cpu-zen4.so": "zen4", "/x/libggml-cpu-armv8.2_1.so": "armv8.2_1", "/x/libggml-cpu.so": "default", `ggml-cpu-haswell.dll`: "haswell",
	} {
		if got := variantName(path); got != want {
			t.Errorf("%s is variant %q, want %q", path, got, want)
		}
	}
}
