// Package sbert converts a sentence-embedding model as the library sentence-transformers publishes it
// (the architecture BERT, safetensors) to one GGUF file as llama.cpp reads it. The weights stay the
// 32-bit floats that they are, and the same files give the same bytes.
//
// What the file leaves out is what an embedding does not need: the pooler's dense layer, which these
// models do not use, and the positions behind the longest text that the publisher's settings allow. So
// the file itself says how long a text may be.
package sbert

import (
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/credence-lab/credence/weights/internal/gguf"
	"github.com/credence-lab/credence/weights/internal/safetensors"
)

// Convert reads the publisher's files in dir and writes the GGUF file of the given name to w. It reads
//
//	config.json                 the shape of the model
//	sentence_bert_config.json   the longest text
//	1_Pooling/config.json       how the vectors of the tokens become one
//	tokenizer_config.json       what happens to a text before it is cut into words
//	vocab.txt                   the vocabulary, a token a line
//	model.safetensors           the weights
//
// The file model.safetensors must be an [io.ReaderAt], as files of a folder are. What is not exactly of
// the kind described is an error, never a guess.
func Convert(w io.Writer, dir fs.FS, name string) error {
	c, err := readConfig(dir)
	if err != nil {
		return err
	}
	vocabulary, err := readVocabulary(dir, c.model.VocabSize)
	if err != nil {
		return err
	}
	f, err := dir.Open(weightsFile)
	if err != nil {
		return err
	}
	defer f.Close()
	model, err := openWeights(f)
	if err != nil {
		return fmt.Errorf("%s: %w", weightsFile, err)
	}
	tensors, err := arrange(model, c)
	if err != nil {
		return fmt.Errorf("%s: %w", weightsFile, err)
	}
	return gguf.Write(w, slices.Concat(c.pairs(name), vocabulary.pairs(c)), tensors)
}

const weightsFile = "model.safetensors"

func openWeights(f fs.File) (*safetensors.File, error) {
	r, ok := f.(io.ReaderAt)
	if !ok {
		return nil, fmt.Errorf("it cannot be read from any place")
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return safetensors.Read(r, info.Size())
}

// rule says which tensor becomes which, and its shape with the slowest dimension first.
type rule struct {
	from, to string
	shape    []int64
}

// rules are the tensors of the architecture in the order in which they are written.
func rules(c config) []rule {
	m := c.model
	list := []rule{
		{"embeddings.word_embeddings.weight", "token_embd.weight", []int64{m.VocabSize, m.Hidden}},
		{"embeddings.position_embeddings.weight", "position_embd.weight", []int64{m.Positions, m.Hidden}},
		{"embeddings.token_type_embeddings.weight", "token_types.weight", []int64{m.TokenTypes, m.Hidden}},
	}
	list = append(list, pair("embeddings.LayerNorm", "token_embd_norm", m.Hidden)...)
	for i := range m.Layers {
		from, to := fmt.Sprintf("encoder.layer.%d.", i), fmt.Sprintf("blk.%d.", i)
		list = slices.Concat(list,
			pair(from+"attention.self.query", to+"attn_q", m.Hidden, m.Hidden),
			pair(from+"attention.self.key", to+"attn_k", m.Hidden, m.Hidden),
			pair(from+"attention.self.value", to+"attn_v", m.Hidden, m.Hidden),
			pair(from+"attention.output.dense", to+"attn_output", m.Hidden, m.Hidden),
			pair(from+"attention.output.LayerNorm", to+"attn_output_norm", m.Hidden),
			pair(from+"intermediate.dense", to+"ffn_up", m.Intermediate, m.Hidden),
			pair(from+"output.dense", to+"ffn_down", m.Hidden, m.Intermediate),
			pair(from+"output.LayerNorm", to+"layer_output_norm", m.Hidden),
		)
	}
	return list
}

// pair is a weight and the bias that belongs to its slowest dimension.
func pair(from, to string, shape ...int64) []rule {
	return []rule{{from + ".weight", to + ".weight", shape}, {from + ".bias", to + ".bias", shape[:1]}}
}

// unused are tensors that an embedding does not need.
var unused = map[string]bool{"embeddings.position_ids": true, "pooler.dense.weight": true, "pooler.dense.bias": true}

// arrange finds all tensors of the architecture, and refuses a file that has others too: it would be of
// a model that computes something else.
func arrange(model *safetensors.File, c config) ([]gguf.Tensor, error) {
	known := map[string]bool{}
	var list []gguf.Tensor
	for _, r := range rules(c) {
		t, ok := model.Tensor(r.from)
		if !ok {
			return nil, fmt.Errorf("tensor %s is missing", r.from)
		}
		if t.Type != "F32" || !slices.Equal(t.Shape, r.shape) {
			return nil, fmt.Errorf("tensor %s is %s %v, wanted F32 %v", r.from, t.Type, t.Shape, r.shape)
		}
		known[r.from] = true
		shape := slices.Clone(r.shape)
		if r.to == "position_embd.weight" {
			shape[0] = c.longest
		}
		slices.Reverse(shape)
		list = append(list, gguf.Tensor{Name: r.to, Shape: shape, Data: io.LimitReader(model.Data(t), 4*product(shape))})
	}
	for _, t := range model.Tensors() {
		if !known[t.Name] && !unused[t.Name] {
			return nil, fmt.Errorf("tensor %s is not one of the architecture BERT", t.Name)
		}
	}
	return list, nil
}

func product(shape []int64) int64 {
	n := int64(1)
	for _, k := range shape {
		n *= k
	}
	return n
}
