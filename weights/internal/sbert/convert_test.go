package sbert

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// tiny is a model of one layer with random weights in the publisher's form, written by the Python library
// safetensors.
const tiny = "../../testdata/tiny-sbert"

// The bytes are pinned: the checksums of converted models in the catalogue rest on them. The reader of the
// Python library gguf finds the tensors of the source in the file, and the metadata of its own converter.
// CREDENCE_UPDATE=1 writes the file anew.
func TestConvertGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	if err := Convert(&got, os.DirFS(tiny), "tiny"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "tiny.gguf")
	if os.Getenv("CREDENCE_UPDATE") != "" {
		if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the conversion gives %d bytes, other than the %d that are pinned", got.Len(), len(want))
	}
}

// files are the fixture's, to be changed.
func files(t *testing.T) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	for _, name := range []string{"config.json", "sentence_bert_config.json", "tokenizer_config.json", "1_Pooling/config.json", "vocab.txt", weightsFile} {
		raw, err := os.ReadFile(filepath.Join(tiny, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		m[name] = &fstest.MapFile{Data: raw}
	}
	return m
}

func TestWhatIsNotOfTheKindIsAnError(t *testing.T) {
	t.Parallel()
	if err := Convert(&bytes.Buffer{}, files(t), "tiny"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ file, old, new, want string }{
		{"config.json", `"bert"`, `"roberta"`, "architecture"},
		{"config.json", `"gelu"`, `"relu"`, "architecture"},
		{"config.json", `"hidden_size": 4`, `"hidden_size": 5`, "not possible"},
		{"config.json", `"hidden_size": 4`, `"hidden_size": 8`, "wanted F32 [11 8]"},
		{"config.json", `"num_hidden_layers": 1`, `"num_hidden_layers": 2`, "encoder.layer.1"},
		{"config.json", `"num_hidden_layers": 1`, `"num_hidden_layers": 1000000`, "not possible"},
		{"config.json", `"num_hidden_layers": 1`, `"num_hidden_layers": 0`, "not possible"},
		{"config.json", `"vocab_size": 11`, `"vocab_size": 9223372036854775807`, "not possible"},
		{"config.json", `"layer_norm_eps": 1e-12`, `"layer_norm_eps": -1`, "epsilon"},
		{"config.json", "{", "{{", "config.json"},
		{"sentence_bert_config.json", "5", "9", "max_seq_length 9 of 8"},
		{"sentence_bert_config.json", "5", "-1", "max_seq_length"},
		{"tokenizer_config.json", `"do_lower_case": true, `, "", "do_lower_case"},
		{"tokenizer_config.json", `chars": true`, `chars": false`, "tokenize_chinese_chars"},
		{"1_Pooling/config.json", `"pooling_mode_mean_tokens": true`, `"pooling_mode_mean_tokens": false`, "no way of pooling"},
		{"1_Pooling/config.json", `"pooling_mode_cls_token": false`, `"pooling_mode_cls_token": true`, "there are two"},
		{"1_Pooling/config.json", `max_tokens": false`, `max_tokens": true`, "max_tokens"},
		{"vocab.txt", "[MASK]", "[mask]", "no token [MASK]"},
		{"vocab.txt", "##b", "b", "line 9"},
		{"vocab.txt", "##b\n", "", "10 tokens, config.json says 11"},
		{"vocab.txt", "é", "\xe9", "UTF-8"},
		{weightsFile, "embeddings.position_ids", "embeddings.position_idx", "position_idx is not one"},
		{weightsFile, "output.LayerNorm.bias", "output.LayerNorm.bios", "LayerNorm.bias"},
	} {
		m := files(t)
		text := string(m[tt.file].Data)
		if !strings.Contains(text, tt.old) {
			t.Fatalf("%s has no %q", tt.file, tt.old)
		}
		m[tt.file].Data = []byte(strings.Replace(text, tt.old, tt.new, 1))
		err := Convert(&bytes.Buffer{}, m, "tiny")
		named := err != nil && (strings.Contains(err.Error(), tt.file) || strings.Contains(err.Error(), weightsFile))
		if !named || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %q: error %v, want one with %q", tt.file, tt.new, err, tt.want)
		}
	}
	for name := range files(t) {
		m := files(t)
		delete(m, name)
		if err := Convert(&bytes.Buffer{}, m, "tiny"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: error %v", name, err)
		}
	}
}

// Settings and vocabularies come from anywhere too.
func TestHugeSettingsAreNotReadWithoutEnd(t *testing.T) {
	t.Parallel()
	m := files(t)
	m["config.json"].Data = append(m["config.json"].Data, bytes.Repeat([]byte(" "), maxSettings)...)
	if err := Convert(&bytes.Buffer{}, m, "tiny"); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("error %v", err)
	}
}

func FuzzConvert(f *testing.F) {
	read := func(name string) []byte {
		raw, err := os.ReadFile(filepath.Join(tiny, name))
		if err != nil {
			f.Fatal(err)
		}
		return raw
	}
	config, vocab, weights := read("config.json"), read("vocab.txt"), read(weightsFile)
	header := weights[8 : 8+binary.LittleEndian.Uint64(weights)]
	f.Add(config, vocab, header)
	f.Fuzz(func(t *testing.T, config, vocab, header []byte) {
		raw := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
		raw = append(append(raw, header...), weights[8+binary.LittleEndian.Uint64(weights):]...)
		m := fstest.MapFS{"config.json": {Data: config}, "vocab.txt": {Data: vocab}, weightsFile: {Data: raw}}
		for _, name := range []string{"sentence_bert_config.json", "tokenizer_config.json", "1_Pooling/config.json"} {
			same, err := os.ReadFile(filepath.Join(tiny, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			m[name] = &fstest.MapFile{Data: same}
		}
		var out bytes.Buffer
		if err := Convert(&out, m, "tiny"); err == nil && out.Len() > 1<<20 {
			t.Errorf("a file of %d bytes out of %d", out.Len(), len(raw))
		}
	})
}
