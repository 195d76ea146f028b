// Package tei asks Hugging Face text-embeddings-inference servers: one that serves an embedding model is an
// [llm.Engine] that embeds, one that serves a model for natural-language inference an [llm.Entailer]. A server
// has one model, so a study that needs both has two.
//
// Texts are sent with truncate false, whatever the server's default: what does not fit is an error with its
// numbers, never a judgement of a part. Pairs are sent in the nested form even where there is one, as a flat
// list of two texts is a pair to the server and not a batch. Predictions come sorted by their score, with the
// labels that the model's maker gave; they are told apart by those labels, in any case.
package tei

import "github.com/credence-lab/credence/llm"

var (
	_ llm.Engine   = (*Embedder)(nil)
	_ llm.Entailer = (*Entailer)(nil)
)
