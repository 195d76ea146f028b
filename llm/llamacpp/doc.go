// Package llamacpp runs a model in process with the llama.cpp shared library, without cgo: an
// [llm.Engine] over a GGUF file.
//
// # Exact values
//
// In [Exact] mode, the default, the log-probability of a token depends on the weights, the library's
// machine code and the text before the token, and on nothing else: not on what is computed beside it, not
// on how a text is cut into batches, not on what the cells held before, not on the number of threads, and
// not on whether the token was generated or given. Equal means equal bits. That takes five things, each
// of which was found by measuring (docs/performance.md has the figures):
//
//   - weights are not rearranged when they are loaded (UseExtraBufts = 0);
//   - flash attention is on, and batches have at most 63 rows, since from 64 on it computes by tiles;
//   - every text has cells of its own (KVUnified = 0), in the order of its positions: whole texts are
//     copied and only ends are cut off;
//   - a batch has the same number of rows for each of a run of neighbouring texts, so that the library
//     computes it as it stands instead of splitting it;
//   - a row that is alone in its batch, after more than 256 tokens, is computed by one thread.
//
// [Measure] runs a matrix of cases that hold this by equality of bits; the tests and "credence doctor --engine"
// share it. With layers on a GPU nothing is promised: the engine runs the short matrix before the first
// request, and replies are reproducible only if every case is exact.
//
// [Fast] mode gives up the first two; its replies say that they are not reproducible.
//
// The CPU variant of the library is part of the identity: two variants differ by tenths of a nat.
// Config.CPU = [Portable] pins one that most machines can run.
//
// # Speed
//
// One goroutine owns the model's context. It serves all callers of Do at once: tokens of many texts go
// into one batch, texts that begin alike share what was decoded of their beginning, and finished texts
// stay in their cells until the room is needed, the least recently used first. Logits are asked for only
// at the positions that a request reads. So many requests in one Do, or many callers, are what makes it
// fast; ten answers in one context cost little more than one.
//
// # Prompts
//
// Chats are rendered by the model's own Jinja template, in the environment that the transformers library
// gives it, with the template's default system message, thinking off where the template can, and no date.
// Messages, openings and answers are data: the text of a control token in them stays text. A model
// without a template takes plain text, with the vocabulary's beginning-of-sequence token unless the
// request says no.
//
// # Embeddings
//
// [Embedder] runs embedding models of the architecture BERT, such as all-MiniLM-L6-v2: another engine, since
// nothing of the above is needed for them. Each thread computes whole texts alone, which is what makes its
// vectors exact.
package llamacpp

import "github.com/credence-lab/credence/llm"

var _ llm.Engine = (*Engine)(nil)
