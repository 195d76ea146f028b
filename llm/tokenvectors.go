package llm

import (
	"fmt"

	"github.com/credence-lab/credence/record"
)

// TokenReply is the reply to an [EmbedTokens] request: the text's tokens, without those that a model puts around
// every text, and a vector for each of them. Vectors are all of one length and brought to length 1. Tokens have no
// log-probability; it is written as 0.
func TokenReply(tokens []record.Token, vectors [][]float32) Reply {
	r := Reply{Finish: FinishEmbedded}
	for i, t := range tokens {
		r.Tokens = append(r.Tokens, record.Token{ID: t.ID, Piece: t.Piece})
		r.Embedding = append(r.Embedding, vectors[i]...)
	}
	return r
}

// TokenVectors reads the reply to an [EmbedTokens] request: a vector of length 1 for each of its tokens. An error
// says that the reply is none of such a request.
func TokenVectors(r Reply) ([][]float32, error) {
	n := len(r.Tokens)
	if n == 0 || len(r.Embedding) == 0 || len(r.Embedding)%n != 0 {
		return nil, fmt.Errorf("%d numbers are no vectors of %d tokens", len(r.Embedding), n)
	}
	size := len(r.Embedding) / n
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = r.Embedding[i*size : (i+1)*size : (i+1)*size]
	}
	return vectors, nil
}
