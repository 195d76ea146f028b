package sbert

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/credence-lab/credence/weights/internal/gguf"
)

// config is what the publisher's settings say.
type config struct {
	model     modelConfig
	tokenizer tokenizerConfig
	// longest is the most tokens of a text, its two marks included.
	longest int64
	pooling uint32
}

type modelConfig struct {
	Type         string  `json:"model_type"`
	Activation   string  `json:"hidden_act"`
	PositionType string  `json:"position_embedding_type"`
	Hidden       int64   `json:"hidden_size"`
	Layers       int64   `json:"num_hidden_layers"`
	Heads        int64   `json:"num_attention_heads"`
	Intermediate int64   `json:"intermediate_size"`
	Positions    int64   `json:"max_position_embeddings"`
	TokenTypes   int64   `json:"type_vocab_size"`
	VocabSize    int64   `json:"vocab_size"`
	Epsilon      float32 `json:"layer_norm_eps"`
}

type tokenizerConfig struct {
	Lower *bool `json:"do_lower_case"`
	// Strip is nil where it follows Lower.
	Strip   *bool `json:"strip_accents"`
	Chinese *bool `json:"tokenize_chinese_chars"`
}

func (t tokenizerConfig) strip() bool {
	if t.Strip != nil {
		return *t.Strip
	}
	return *t.Lower
}

// maxSize bounds every number of a shape, so that no product of three of them overflows.
const maxSize = 1 << 20

func (m modelConfig) validate() error {
	if m.Type != "bert" || m.Activation != "gelu" || (m.PositionType != "" && m.PositionType != "absolute") {
		return fmt.Errorf("architecture %q with %q and positions %q is not the one that is converted: \"bert\", \"gelu\", \"absolute\"",
			m.Type, m.Activation, m.PositionType)
	}
	for _, n := range []int64{m.Hidden, m.Layers, m.Heads, m.Intermediate, m.Positions, m.TokenTypes, m.VocabSize} {
		if n < 1 || n > maxSize {
			return fmt.Errorf("a size of %d is missing or not possible", n)
		}
	}
	if m.Hidden%m.Heads != 0 || !(m.Epsilon > 0) || m.Layers > 1000 {
		return fmt.Errorf("%d layers with %d heads for %d numbers and epsilon %v are not possible", m.Layers, m.Heads, m.Hidden, m.Epsilon)
	}
	return nil
}

// poolings are GGUF's numbers for the ways of making one vector of many.
const (
	poolMean = 1
	poolCLS  = 2
)

func readConfig(dir fs.FS) (config, error) {
	var c config
	if err := readJSON(dir, "config.json", &c.model); err != nil {
		return c, err
	}
	if err := c.model.validate(); err != nil {
		return c, fmt.Errorf("config.json: %w", err)
	}
	var sentence struct {
		Longest int64 `json:"max_seq_length"`
	}
	if err := readJSON(dir, "sentence_bert_config.json", &sentence); err != nil {
		return c, err
	}
	if c.longest = sentence.Longest; c.longest < 3 || c.longest > c.model.Positions {
		return c, fmt.Errorf("sentence_bert_config.json: max_seq_length %d of %d positions", c.longest, c.model.Positions)
	}
	if err := readJSON(dir, "tokenizer_config.json", &c.tokenizer); err != nil {
		return c, err
	}
	if c.tokenizer.Lower == nil || (c.tokenizer.Chinese != nil && !*c.tokenizer.Chinese) {
		return c, errors.New("tokenizer_config.json: do_lower_case must be given, and tokenize_chinese_chars true")
	}
	return c, c.readPooling(dir)
}

func (c *config) readPooling(dir fs.FS) error {
	const file = "1_Pooling/config.json"
	var modes map[string]any
	if err := readJSON(dir, file, &modes); err != nil {
		return err
	}
	for mode, kind := range map[string]uint32{
		"pooling_mode_mean_tokens": poolMean, "pooling_mode_cls_token": poolCLS,
		"pooling_mode_max_tokens": 0, "pooling_mode_mean_sqrt_len_tokens": 0, "pooling_mode_weightedmean_tokens": 0, "pooling_mode_lasttoken": 0,
	} {
		if on, _ := modes[mode].(bool); !on {
			continue
		}
		if kind == 0 || c.pooling != 0 {
			return fmt.Errorf("%s: %s is not one that is converted, or there are two", file, mode)
		}
		c.pooling = kind
	}
	if c.pooling == 0 {
		return fmt.Errorf("%s: no way of pooling is on", file)
	}
	return nil
}

// pairs are the metadata of the model without its vocabulary.
func (c config) pairs(name string) []gguf.Pair {
	m := c.model
	return []gguf.Pair{
		{Key: "general.architecture", Value: "bert"},
		{Key: "general.type", Value: "model"},
		{Key: "general.name", Value: name},
		{Key: "general.file_type", Value: uint32(0)}, // all 32-bit floats
		{Key: "bert.block_count", Value: uint32(m.Layers)},
		{Key: "bert.context_length", Value: uint32(c.longest)},
		{Key: "bert.embedding_length", Value: uint32(m.Hidden)},
		{Key: "bert.feed_forward_length", Value: uint32(m.Intermediate)},
		{Key: "bert.attention.head_count", Value: uint32(m.Heads)},
		{Key: "bert.attention.layer_norm_epsilon", Value: m.Epsilon},
		{Key: "bert.attention.causal", Value: false},
		{Key: "bert.pooling_type", Value: c.pooling},
	}
}

// maxSettings bounds a file of settings; they have a few hundred bytes.
const maxSettings = 1 << 20

func readJSON(dir fs.FS, name string, to any) error {
	raw, err := readFile(dir, name, maxSettings)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func readFile(dir fs.FS, name string, most int64) ([]byte, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(raw)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", name, most)
	}
	return raw, nil
}
