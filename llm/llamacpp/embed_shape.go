package llamacpp

import (
	"fmt"

	"github.com/credence-lab/credence/llm/llamacpp/internal/gguf"
	"github.com/credence-lab/credence/llm/llamacpp/internal/wordpiece"
)

// bert is the architecture of embedding models that is run.
const bert = "bert"

// pooling is how one vector is made of those of all tokens, by the numbers of GGUF.
type pooling int

const (
	poolMean  pooling = 1
	poolFirst pooling = 2
)

// String names the pooling as a part of the identity.
func (p pooling) String() string {
	if p == poolFirst {
		return "first"
	}
	return "mean"
}

// embedShape is what the header of the weights says of an embedding model.
type embedShape struct {
	// longest is the most tokens of a text, the marks around it included.
	longest, dimensions        int
	layers, heads, feedForward int
	vocab                      int
	pooling                    pooling
	words                      *wordpiece.Vocabulary
	weightBytes                int64
}

// readEmbedShape takes from a GGUF header what an embedder needs before it loads the weights, and refuses
// what it does not know.
func readEmbedShape(g *gguf.File) (embedShape, error) {
	s := embedShape{weightBytes: g.Bytes}
	if architecture, _ := g.String("general.architecture"); architecture != bert {
		return s, fmt.Errorf("architecture %q is not one of embeddings that is known; %q is", architecture, bert)
	}
	if causal, _ := g.Bool("bert.attention.causal"); causal {
		return s, fmt.Errorf("its attention is causal, so that it is no embedding model")
	}
	for key, to := range map[string]*int{
		"context_length": &s.longest, "embedding_length": &s.dimensions, "block_count": &s.layers,
		"attention.head_count": &s.heads, "feed_forward_length": &s.feedForward, "pooling_type": (*int)(&s.pooling),
	} {
		n, ok := g.Int("bert." + key)
		if !ok || n < 1 {
			return s, fmt.Errorf("%w: bert.%s is missing", gguf.ErrFormat, key)
		}
		*to = n
	}
	if s.longest > maxEmbedTokens || s.dimensions > maxDimensions {
		return s, fmt.Errorf("texts of %d tokens with %d dimensions are more than can be (%d, %d)", s.longest, s.dimensions, maxEmbedTokens, maxDimensions)
	}
	if s.pooling != poolMean && s.pooling != poolFirst {
		return s, fmt.Errorf("pooling %d is not known: it is %d (mean) or %d (first token)", s.pooling, poolMean, poolFirst)
	}
	return s, s.readWords(g)
}

// Limits of what is believed of a header, beyond those of any model of the kind.
const (
	maxEmbedTokens = 1 << 15
	maxDimensions  = 1 << 16
)

func (s *embedShape) readWords(g *gguf.File) error {
	if kind, _ := g.String("tokenizer.ggml.model"); kind != "bert" {
		return fmt.Errorf("tokeniser %q is not known: word pieces (\"bert\") are", kind)
	}
	tokens := g.Strings("tokenizer.ggml.tokens")
	s.vocab = len(tokens)
	var marks wordpiece.Marks
	for text, to := range map[string]*int32{"[CLS]": &marks.Begin, "[SEP]": &marks.End, "[UNK]": &marks.Unknown} {
		id := markOf(g, tokens, text)
		if id < 0 {
			return fmt.Errorf("%w: its vocabulary has no %s", gguf.ErrFormat, text)
		}
		*to = int32(id)
	}
	lower, given := g.Bool("tokenizer.ggml.normalizer.lowercase")
	lower = lower || !given // as llama.cpp takes it
	strip, given := g.Bool("tokenizer.ggml.normalizer.strip_accents")
	if !given {
		strip = lower
	}
	var err error
	s.words, err = wordpiece.New(tokens, marks, wordpiece.Options{Lower: lower, StripAccents: strip})
	return err
}

// markKeys are the keys under which files name a mark, the older ones last. The misspelling is the format's.
var markKeys = map[string][]string{
	"[CLS]": {"cls_token_id", "bos_token_id"},
	"[SEP]": {"seperator_token_id", "eos_token_id"},
	"[UNK]": {"unknown_token_id"},
}

// markOf finds the id of a mark: as the file names it, or where the vocabulary spells it; -1 for neither.
func markOf(g *gguf.File, tokens []string, text string) int {
	for _, key := range markKeys[text] {
		if id, ok := g.Int("tokenizer.ggml." + key); ok && id < len(tokens) {
			return id
		}
	}
	for id, token := range tokens {
		if token == text {
			return id
		}
	}
	return -1
}
