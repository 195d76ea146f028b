package llamacpp

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"

	"github.com/credence-lab/credence/llm/llamacpp/internal/gguf"
)

// Mode says what the engine promises of its values.
type Mode string

const (
	// Exact values do not depend on what else is computed beside them: equal to the last bit, whatever
	// the batch, the chunk, the sharing of beginnings and the number of threads.
	Exact Mode = "exact"
	// Fast lets the library rearrange weights and compute large batches. Values then depend on company
	// by tenths of a nat, and replies say that they are not reproducible.
	Fast Mode = "fast"
)

// Config says which model is run and how. LibraryDir and Weights are needed; the zero value of all
// else is a choice that is documented with it.
type Config struct {
	// LibraryDir is the folder of the llama.cpp shared libraries (libllama, libggml, libggml-base and the
	// CPU variants libggml-cpu-*).
	LibraryDir string
	// Weights is a GGUF file.
	Weights string
	// WeightsSHA256 is the file's SHA-256 in hex, as part of the identity. Empty: it is computed by New,
	// which reads the whole file. It is not checked again.
	WeightsSHA256 string
	// Mode is Exact if empty.
	Mode Mode
	// CPU names the CPU variant of the library, such as "haswell", or is Portable. Empty: the best that
	// this machine can run.
	CPU string
	// Threads is the number of threads that compute; 0 is one for each CPU the process may use. Values do
	// not depend on it in Exact mode.
	Threads int
	// ContextTokens is the longest prompt and answer together; 0 is 1024, or what the model was trained
	// for if that is less.
	ContextTokens int
	// Sequences is the number of texts that are held and worked on at once; 0 is 16, or what MemoryLimit
	// leaves room for if that is less.
	Sequences int
	// MemoryLimit bounds what Memory states, in bytes; 0 is no bound. The number of sequences follows it.
	MemoryLimit int64
	// GPULayers is how many of the model's layers a GPU computes, the last ones first; 0 is none, and more
	// than there are is all. It needs a library with a GPU backend. Values then are not those of the CPU,
	// and whether they are exact is measured; see [Engine.Exactness].
	GPULayers int
}

const (
	defaultContext   = 1024
	defaultSequences = 16
	maxSequences     = 64
	// exactRows is the largest batch in Exact mode: from 64 rows on flash attention computes by tiles,
	// and a row's value depends on its place in the tile.
	exactRows = 63
	fastRows  = 512
	// cellPadding is the multiple to which llama.cpp rounds the cells of a text.
	cellPadding = 256
)

var hexSHA256 = regexp.MustCompile(`^[0-9a-f]{64}$`)

// shape is a model's part of the memory bill, from its metadata.
type shape struct {
	architecture               string
	trained, layers, embedding int
	feedForward                int
	// float is a matrix that is not quantised, with its type; empty if there is none.
	float                       string
	keyWidth, valueWidth, vocab int
	template                    string
	weightBytes                 int64
	bosText, eosText            string
}

// readShape takes from a GGUF header what the engine needs before it loads the weights, and refuses
// models that it cannot run.
func readShape(g *gguf.File) (shape, error) {
	s := shape{weightBytes: g.Bytes}
	s.architecture, _ = g.String("general.architecture")
	if s.architecture == "" {
		return s, fmt.Errorf("%w: it names no architecture", gguf.ErrFormat)
	}
	if err := refuse(g, s.architecture); err != nil {
		return s, err
	}
	for key, to := range map[string]*int{"context_length": &s.trained, "block_count": &s.layers, "embedding_length": &s.embedding} {
		n, ok := g.Int(s.architecture + "." + key)
		if !ok || n < 1 {
			return s, fmt.Errorf("%w: %s.%s is missing", gguf.ErrFormat, s.architecture, key)
		}
		*to = n
	}
	s.feedForward, _ = g.Int(s.architecture + ".feed_forward_length")
	s.keyWidth, s.valueWidth = cellWidths(g, s)
	if name, kind, ok := g.FloatMatrix(); ok {
		s.float = fmt.Sprintf("%s (%s)", kind, name)
	}
	tokens := g.Strings("tokenizer.ggml.tokens")
	if s.vocab = len(tokens); s.vocab == 0 {
		return s, fmt.Errorf("%w: it holds no vocabulary", gguf.ErrFormat)
	}
	s.template, _ = g.String("tokenizer.chat_template")
	s.bosText, s.eosText = special(g, tokens, "bos"), special(g, tokens, "eos")
	return s, nil
}

// refuse names models that are no decoders with a cache of cells: encoders give no next token, and
// recurrent states cannot be cut back, on which exactness and sharing rest.
func refuse(g *gguf.File, architecture string) error {
	switch architecture {
	case bert:
		return fmt.Errorf("architecture %q gives vectors for texts and writes none: it is no model to ask questions", architecture)
	case "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "jina-bert-v3", "modern-bert", "neo-bert", "eurobert", "t5", "t5encoder", "clip", "wavtokenizer-dec":
		return fmt.Errorf("architecture %q does not write text token by token", architecture)
	case "mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7":
		return fmt.Errorf("architecture %q is recurrent and cannot share the beginning of a text", architecture)
	case "llada", "llada-moe", "dream", "rnd1":
		return fmt.Errorf("architecture %q is a diffusion model and has no next token", architecture)
	}
	if g.HasPrefix(architecture + ".ssm.") {
		return fmt.Errorf("architecture %q is partly recurrent and cannot share the beginning of a text", architecture)
	}
	return nil
}

// cellWidths are the numbers that one layer keeps of one token as key and as value.
func cellWidths(g *gguf.File, s shape) (key, value int) {
	heads, _ := g.Int(s.architecture + ".attention.head_count")
	kv, ok := g.Int(s.architecture + ".attention.head_count_kv")
	if !ok {
		kv = heads
	}
	width := s.embedding / max(heads, 1)
	k, ok := g.Int(s.architecture + ".attention.key_length")
	if !ok {
		k = width
	}
	v, ok := g.Int(s.architecture + ".attention.value_length")
	if !ok {
		v = width
	}
	return k * kv, v * kv
}

func special(g *gguf.File, tokens []string, name string) string {
	id, ok := g.Int("tokenizer.ggml." + name + "_token_id")
	if !ok || id >= len(tokens) {
		return ""
	}
	return tokens[id]
}

// settled is a Config without anything left to choose.
type settled struct {
	Config
	limits
	// context is the longest text in tokens; limits.cells is that, rounded up.
	context int
	// steady keeps all threads at work however busy the machine is; see pace.
	steady bool
	// measuring marks the engines that measure exactness, which is not measured for them.
	measuring bool
}

// settle makes the choices that c leaves open and checks the rest against the model.
func (c Config) settle(s shape) (settled, error) {
	out := settled{Config: c}
	if c.Mode == "" {
		out.Mode = Exact
	}
	if out.Mode != Exact && out.Mode != Fast {
		return out, fmt.Errorf("mode %q is not known: it is %q or %q", c.Mode, Exact, Fast)
	}
	if c.Threads < 0 || c.ContextTokens < 0 || c.Sequences < 0 || c.MemoryLimit < 0 || c.GPULayers < 0 {
		return out, errors.New("threads, context tokens, sequences, memory limit and GPU layers must not be negative")
	}
	out.GPULayers = min(c.GPULayers, s.layers+1) // the output counts as one
	if c.WeightsSHA256 != "" && !hexSHA256.MatchString(c.WeightsSHA256) {
		return out, fmt.Errorf("weights: %q is no SHA-256 in lower-case hex", c.WeightsSHA256)
	}
	if s.float != "" && out.Mode == Exact && c.GPULayers == 0 {
		return out, fmt.Errorf("exact mode is not possible with weights of type %s: the library adds up a row that is alone in its batch in another order than rows in company, so that generated and given tokens differ; use quantised weights (Q8_0 or smaller) or mode fast", s.float)
	}
	if out.Threads == 0 {
		out.Threads = runtime.GOMAXPROCS(0)
	}
	if c.ContextTokens > s.trained {
		return out, fmt.Errorf("a context of %d tokens is wanted, but the model was trained for %d", c.ContextTokens, s.trained)
	}
	if out.context = c.ContextTokens; out.context == 0 {
		out.context = min(defaultContext, s.trained)
	}
	out.rows = exactRows
	if out.Mode == Fast {
		out.rows = fastRows
	}
	out.cells = (out.context + cellPadding - 1) / cellPadding * cellPadding
	return out, out.fit(s)
}
