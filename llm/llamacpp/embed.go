package llamacpp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llamacpp/internal/gguf"
)

// Embedder runs one embedding model in process: an [llm.Engine] for requests of kind [llm.Embed], over a
// GGUF file of the architecture BERT. Its methods are safe for concurrent use.
//
// In [Exact] mode, the default, a vector depends on the weights, the library's machine code and the text,
// and on nothing else, to the last bit: every thread computes whole texts, one at a time. That costs next
// to nothing, since a processor is busy with a single text of a sentence or more. [Fast] mode computes short
// texts together, which moves a vector's numbers by some 1e-4, and says that its replies are not
// reproducible.
//
// A text is cut into the same tokens as by the model's makers, in every script. One of more tokens than
// Capabilities.ContextTokens is refused, never shortened. The vector is the mean of those of all tokens (or
// that of the first one, where the file says so), taken and brought to length 1 in 64 bits.
type Embedder struct {
	c        embedConfig
	shape    embedShape
	lib      *library
	identity llm.Identity

	load  sync.Once
	ready chan struct{} // closed when the model is loaded or err stands
	queue *embedQueue
	done  chan struct{} // closed when everything is freed; nil where nothing was loaded

	mu     sync.Mutex // guards what follows
	err    error
	closed bool
}

var _ llm.Engine = (*Embedder)(nil)

// NewEmbedder prepares an embedding model, as [New] does a model that writes: the library is loaded and the
// header of the weights read, the weights are loaded by the first request.
//
// Of c, Threads is also the number of texts that are worked on at once, unless MemoryLimit leaves room for
// fewer, and ContextTokens 0 is what the model was trained for. Sequences and GPULayers must be 0.
func NewEmbedder(c Config) (*Embedder, error) {
	g, err := gguf.Open(c.Weights)
	if err != nil {
		return nil, &unusable{fmt.Errorf("weights: %w", err)}
	}
	s, err := readEmbedShape(g)
	if err != nil {
		return nil, &unusable{fmt.Errorf("weights %s: %w", c.Weights, err)}
	}
	settled, err := c.settleEmbed(s)
	if err != nil {
		return nil, &unusable{fmt.Errorf("weights %s: %w", c.Weights, err)}
	}
	lib, err := openLibrary(c.LibraryDir, c.CPU)
	if err != nil {
		return nil, &unusable{err}
	}
	if settled.WeightsSHA256 == "" {
		if settled.WeightsSHA256, err = digestFile(c.Weights); err != nil {
			return nil, fmt.Errorf("weights: %w", err)
		}
	}
	e := &Embedder{c: settled, shape: s, lib: lib, ready: make(chan struct{}), queue: newEmbedQueue()}
	e.identity = llm.Identity{
		Engine: "llamacpp", Version: lib.version, Model: filepath.Base(c.Weights), Weights: settled.WeightsSHA256, Mode: string(settled.Mode),
		Settings: map[string]string{"cpu": lib.cpu, "flash_attention": "off", "library": lib.digest[:16], "pooling": s.pooling.String()},
	}
	return e, nil
}

// Identity says which weights are run by which machine code. See llm.Engine.
func (e *Embedder) Identity() llm.Identity { return e.identity }

// Capabilities needs no weights. See llm.Engine.
func (e *Embedder) Capabilities() llm.Capabilities {
	return llm.Capabilities{Embed: true, Dimensions: e.shape.dimensions, ContextTokens: e.c.context}
}

// Memory is what the engine takes at most, known before anything is loaded.
func (e *Embedder) Memory() Memory { return e.c.memory(e.shape) }

// Do embeds texts; see llm.Engine. Many in one call keep all threads busy.
func (e *Embedder) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	jobs := make([]*embedJob, len(reqs))
	if err := e.start(ctx); err != nil {
		for i := range results {
			results[i].Err = err
		}
		return results
	}
	var ready []*embedJob
	for i, r := range reqs {
		if jobs[i], results[i].Err = e.prepare(ctx, r); results[i].Err == nil {
			ready = append(ready, jobs[i])
		}
	}
	e.queue.put(ready...)
	for i, j := range jobs {
		if results[i].Err == nil {
			results[i] = e.await(ctx, j)
		}
	}
	return results
}

// prepare turns a request into a job, or says why it cannot be asked.
func (e *Embedder) prepare(ctx context.Context, r llm.Request) (*embedJob, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if err := e.Capabilities().Check(r.Kind); err != nil {
		return nil, fmt.Errorf("%s is an embedding model: %w", e.identity.Model, err)
	}
	if err := checkTexts(r.Prompt.Text); err != nil {
		return nil, err
	}
	ids := e.shape.words.Tokens(r.Prompt.Text)
	if len(ids) <= embedMarks {
		return nil, llm.ErrEmptyText
	}
	if len(ids) > e.c.context {
		return nil, &llm.OverflowError{Need: len(ids), Have: e.c.context}
	}
	return &embedJob{ctx: ctx, ids: ids, done: make(chan struct{})}, nil
}

// embedMarks is the number of tokens that stand around every text.
const embedMarks = 2

// await waits for a job or the end of ctx; a worker drops the job by itself in that case.
func (e *Embedder) await(ctx context.Context, j *embedJob) llm.Result {
	select {
	case <-j.done:
	case <-ctx.Done():
		select {
		case <-j.done: // it is there: give it
		default:
			return llm.Result{Err: ctx.Err()}
		}
	}
	if j.err != nil {
		return llm.Result{Err: j.err}
	}
	return llm.Result{Reply: llm.Reply{
		Embedding: j.vector, PromptIDs: j.ids, Finish: llm.FinishEmbedded, Reproducible: e.c.Mode == Exact,
	}}
}

// start loads the model if nobody has, and waits until it is there.
func (e *Embedder) start(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.load.Do(func() { go e.open() })
	select {
	case <-e.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errClosed
	}
	return e.err
}

// open loads the model and starts its workers.
func (e *Embedder) open() {
	defer close(e.ready)
	m, err := loadEncoders(e.lib, e.c, e.shape)
	if err != nil {
		e.mu.Lock()
		e.err = err
		e.mu.Unlock()
		return
	}
	e.done = make(chan struct{})
	var workers sync.WaitGroup
	for _, k := range m.encoders {
		workers.Go(func() { e.queue.work(k, e.c.together, e.shape.pooling) })
	}
	go func() {
		workers.Wait()
		m.free()
		close(e.done)
	}()
}

// Close ends waiting requests with an error and frees the model. The shared library stays loaded.
func (e *Embedder) Close() error {
	e.load.Do(func() { close(e.ready) }) // nothing was ever asked, so nothing is there to be freed
	<-e.ready
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.queue.close()
	if e.done != nil {
		<-e.done
	}
	return nil
}

// embedConfig is a Config without anything left to choose.
type embedConfig struct {
	Config
	context, workers int
	// rows is the largest batch, together how a worker fills it.
	rows     int
	together batchLimits
}

// batchLimits is how many texts and tokens are computed together at most; a single text may be longer.
type batchLimits struct{ texts, rows int }

// fastTogether is where batches stop to gain: beyond, the attention of all texts to all texts, which is
// computed and thrown away, costs more than the weights that are read less often save.
var fastTogether = batchLimits{texts: 16, rows: 64}

// settleEmbed makes the choices that c leaves open and checks the rest against the model.
func (c Config) settleEmbed(s embedShape) (embedConfig, error) {
	if c.Sequences != 0 || c.GPULayers != 0 {
		return embedConfig{}, errors.New("sequences and GPU layers are not for an embedding model: each thread works on one text")
	}
	unbound := c
	unbound.MemoryLimit = 0 // is held below, against what this kind of model takes
	settled, err := unbound.settle(shape{trained: s.longest, layers: s.layers})
	if err != nil {
		return embedConfig{}, err
	}
	out := embedConfig{Config: settled.Config, context: s.longest, workers: settled.Threads, rows: s.longest, together: batchLimits{texts: 1}}
	if c.ContextTokens > 0 {
		out.context = c.ContextTokens
	}
	if out.context <= embedMarks {
		return out, fmt.Errorf("a context of %d tokens has no room for a text", out.context)
	}
	if out.Mode == Fast {
		out.together = fastTogether
		out.rows = max(out.rows, out.together.rows)
	}
	for c.MemoryLimit > 0 && out.memory(s).Total() > c.MemoryLimit {
		if out.workers == 1 {
			return out, &memoryError{c.MemoryLimit, out.memory(s)}
		}
		out.workers--
	}
	return out, nil
}

// memory states what the library allocates for a batch: the logits that it keeps room for though nobody
// asks for them, the scores of all tokens for all tokens, and the widest result of a layer.
func (c *embedConfig) memory(s embedShape) Memory {
	n := int64(c.rows)
	kept := n * int64(s.vocab+s.dimensions) * 4
	scores := n * n * int64(s.heads+1) * 4
	layer := n * int64(s.feedForward+4*s.dimensions) * 4
	return Memory{
		Weights: s.weightBytes, Buffers: int64(c.workers) * (kept + scores + layer + fixedBuffers),
		Program: programBytes + int64(s.vocab)*tokenBytes, Sequences: c.workers, ContextTokens: c.context,
	}
}
