package sbert

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/credence-lab/credence/weights/internal/gguf"
)

// vocabulary is the tokens by id.
type vocabulary struct {
	tokens []string
	ids    map[string]int32
}

// Numbers of GGUF for kinds of tokens.
const (
	tokenNormal  = 1
	tokenControl = 3
)

// controls are the tokens that no text spells, with the key that their id has in GGUF (the misspelling
// is the format's).
var controls = []struct{ token, key string }{
	{"[CLS]", "tokenizer.ggml.cls_token_id"},
	{"[SEP]", "tokenizer.ggml.seperator_token_id"},
	{"[UNK]", "tokenizer.ggml.unknown_token_id"},
	{"[PAD]", "tokenizer.ggml.padding_token_id"},
	{"[MASK]", "tokenizer.ggml.mask_token_id"},
}

const maxVocabulary = 1 << 24

func readVocabulary(dir fs.FS, size int64) (*vocabulary, error) {
	const file = "vocab.txt"
	raw, err := readFile(dir, file, maxVocabulary)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(raw) {
		return nil, fmt.Errorf("%s is not valid UTF-8", file)
	}
	v := &vocabulary{ids: map[string]int32{}}
	for line := range strings.Lines(string(raw)) {
		token := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if _, twice := v.ids[token]; twice || token == "" {
			return nil, fmt.Errorf("%s, line %d: token %q is empty or there twice", file, len(v.tokens)+1, token)
		}
		v.ids[token] = int32(len(v.tokens))
		v.tokens = append(v.tokens, token)
	}
	if int64(len(v.tokens)) != size {
		return nil, fmt.Errorf("%s has %d tokens, config.json says %d", file, len(v.tokens), size)
	}
	for _, c := range controls {
		if _, ok := v.ids[c.token]; !ok {
			return nil, fmt.Errorf("%s has no token %s", file, c.token)
		}
	}
	return v, nil
}

// wordStart marks a token that begins a word. In GGUF the start of a word is marked, and its
// continuation is not; in vocab.txt it is the other way round, with "##".
const wordStart = "\u2581"

func (v *vocabulary) pairs(c config) []gguf.Pair {
	texts, kinds := make([]string, len(v.tokens)), make([]int32, len(v.tokens))
	for i, token := range v.tokens {
		kinds[i] = tokenNormal
		if rest, ok := strings.CutPrefix(token, "##"); ok && rest != "" {
			texts[i] = rest
		} else {
			texts[i] = wordStart + token
		}
	}
	for _, special := range controls {
		texts[v.ids[special.token]], kinds[v.ids[special.token]] = special.token, tokenControl
	}
	list := []gguf.Pair{
		{Key: "tokenizer.ggml.model", Value: "bert"},
		{Key: "tokenizer.ggml.pre", Value: "default"},
		{Key: "tokenizer.ggml.tokens", Value: texts},
		{Key: "tokenizer.ggml.token_type", Value: kinds},
		{Key: "tokenizer.ggml.token_type_count", Value: uint32(c.model.TokenTypes)},
		{Key: "tokenizer.ggml.normalizer.lowercase", Value: *c.tokenizer.Lower},
		{Key: "tokenizer.ggml.normalizer.strip_accents", Value: c.tokenizer.strip()},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(v.ids["[CLS]"])},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(v.ids["[SEP]"])},
	}
	for _, special := range controls {
		list = append(list, gguf.Pair{Key: special.key, Value: uint32(v.ids[special.token])})
	}
	return list
}
