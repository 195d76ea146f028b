package llmtest

import (
	"hash/fnv"
	"math"
	"strings"
	"unicode"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// Dimensions of the scripted model's embeddings.
const embeddingSize = 256

// embedding is a bag of character trigrams: what a text has of each, hashed into a fixed number of
// places and brought to length 1. So texts that share words are near, whatever their case, and none are
// opposite.
func embedding(text string) ([]float32, error) {
	if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsSpace(r) }) {
		return nil, llm.ErrEmptyText
	}
	var counts [embeddingSize]float64
	runes := []rune(" " + strings.ToLower(text) + " ")
	for i := range len(runes) - 2 {
		h := fnv.New64a()
		h.Write([]byte(string(runes[i : i+3])))
		counts[mix(h.Sum64())%embeddingSize]++
	}
	sum := 0.
	for _, c := range counts {
		sum += c * c
	}
	out := make([]float32, embeddingSize)
	for i, c := range counts {
		out[i] = float32(c / math.Sqrt(sum))
	}
	return out, nil
}

// tokenEmbeddings are the embeddings of a text's words, each alone.
func tokenEmbeddings(text string) (llm.Reply, error) {
	var tokens []record.Token
	var vectors [][]float32
	for _, word := range strings.Fields(text) {
		v, err := embedding(word)
		if err != nil {
			return llm.Reply{}, err
		}
		tokens, vectors = append(tokens, record.Token{ID: llm.NoID, Piece: []byte(word)}), append(vectors, v)
	}
	if tokens == nil {
		return llm.Reply{}, llm.ErrEmptyText
	}
	return llm.TokenReply(tokens, vectors), nil
}
