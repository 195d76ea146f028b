package llamacpp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llamacpp/internal/gguf"
)

// Engine runs one model in process. Its methods are safe for concurrent use.
type Engine struct {
	c        settled
	shape    shape
	lib      *library
	template *chatTemplate
	identity llm.Identity
	gpus     *gpus // nil for a model that the CPU computes

	load  sync.Once
	ready chan struct{} // closed when the weights are loaded or err stands

	exactness exactness

	using  sync.RWMutex // held for reading while the vocabulary is used, for writing to free it
	mu     sync.Mutex   // guards what follows
	loaded *loaded
	err    error
	closed bool
}

// loaded is what exists from the first request on.
type loaded struct {
	model     *model
	scheduler *scheduler
	done      chan struct{} // closed when everything is freed
}

// New prepares an engine: it loads the shared library and reads the header of the weights, so that
// identity and capabilities are known, but not the weights themselves; the first request does. It
// fails where the library cannot be used, or the weights are damaged or of a kind that cannot be run,
// or the model does not fit c.MemoryLimit.
func New(c Config) (*Engine, error) {
	g, err := gguf.Open(c.Weights)
	if err != nil {
		return nil, &unusable{fmt.Errorf("weights: %w", err)}
	}
	s, err := readShape(g)
	if err != nil {
		return nil, &unusable{fmt.Errorf("weights %s: %w", c.Weights, err)}
	}
	settled, err := c.settle(s)
	if err != nil {
		return nil, &unusable{fmt.Errorf("weights %s: %w", c.Weights, err)}
	}
	t, err := compileTemplate(s)
	if err != nil {
		return nil, &unusable{err}
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
	e := &Engine{c: settled, shape: s, lib: lib, template: t, ready: make(chan struct{})}
	if e.c.GPULayers > 0 {
		if e.gpus, err = lib.useGPUs(e.c.GPULayers); err != nil {
			return nil, &unusable{err}
		}
	}
	e.identity = e.identify()
	return e, nil
}

// unusable is an error about weights, libraries or settings that a user named and that cannot be used.
type unusable struct{ err error }

func (u *unusable) Error() string { return u.err.Error() }
func (u *unusable) Unwrap() error { return u.err }

// BadInput tells the command that the user's input is at fault.
func (u *unusable) BadInput() bool { return true }

func (e *Engine) identify() llm.Identity {
	settings := map[string]string{
		"cpu": e.lib.cpu, "flash_attention": "on", "library": e.lib.digest[:16], "cache": "f16",
	}
	if e.c.Mode == Fast {
		settings["threads"] = fmt.Sprint(e.c.Threads)
	}
	if e.gpus != nil {
		settings["gpu_layers"] = fmt.Sprint(e.c.GPULayers)
		settings["gpu"], settings["gpu_library"] = e.gpus.names, e.gpus.digest[:16]
	}
	return llm.Identity{
		Engine: "llamacpp", Version: e.lib.version, Model: filepath.Base(e.c.Weights),
		Weights: e.c.WeightsSHA256, Mode: string(e.c.Mode), Settings: settings,
	}
}

// Identity says which weights are run by which machine code. See llm.Engine.
func (e *Engine) Identity() llm.Identity { return e.identity }

// Capabilities needs no weights. See llm.Engine.
func (e *Engine) Capabilities() llm.Capabilities {
	return llm.Capabilities{
		Generate: true, Score: true, Chat: e.template != nil,
		Seeds: e.reproducible(), ContextTokens: e.c.context,
		Details: llm.Details{Alternatives: llm.MaxAlternatives, Entropy: true, End: true},
	}
}

// Do answers requests; see llm.Engine. Requests of concurrent calls share batches, and those that begin
// alike decode their common beginning once, so asking much at once is what makes it fast.
func (e *Engine) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	for i, j := range e.submit(ctx, reqs, results) {
		if results[i].Err == nil {
			results[i] = e.await(ctx, j)
		}
	}
	return results
}

// submit hands all requests to the scheduler that can be asked, and puts the errors of the others into
// results.
func (e *Engine) submit(ctx context.Context, reqs []llm.Request, results []llm.Result) []*job {
	jobs := make([]*job, len(reqs))
	_, err := e.Exactness(ctx)
	e.using.RLock() // the vocabulary stays while texts are tokenised
	defer e.using.RUnlock()
	var l *loaded
	if err == nil {
		l, err = e.start(ctx)
	}
	if err != nil {
		for i := range results {
			results[i].Err = err
		}
		return jobs
	}
	var ready []*job
	for i, r := range reqs {
		if jobs[i], results[i].Err = e.prepare(ctx, l.model, r); results[i].Err == nil {
			ready = append(ready, jobs[i])
		}
	}
	l.scheduler.submit(ready...)
	return jobs
}

// await waits for a job or the end of ctx; the scheduler drops the job by itself in that case.
func (e *Engine) await(ctx context.Context, j *job) llm.Result {
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
	reply := j.out.reply()
	reply.Reproducible = e.reproducible()
	return llm.Result{Reply: reply}
}

// prepare turns a request into a job, or says why it cannot be asked.
func (e *Engine) prepare(ctx context.Context, m *model, r llm.Request) (*job, error) {
	if err := e.validate(r); err != nil {
		return nil, err
	}
	prompt, err := e.promptTokens(m, r.Prompt)
	if err != nil {
		return nil, err
	}
	if len(prompt) == 0 {
		return nil, errors.New("prompt: it has no token, so nothing says what comes first")
	}
	if r.Kind == llm.Generate {
		if err := e.fits(len(prompt) + r.Decoding.MaxTokens); err != nil {
			return nil, err
		}
		return newJob(ctx, prompt, len(prompt)-1, newGeneration(r, prompt, m), true), nil
	}
	answer := m.tokenise(r.Answer, false)
	if len(answer) == 0 {
		return nil, llm.ErrEmptyAnswer
	}
	if err := e.fits(len(prompt) + len(answer)); err != nil {
		return nil, err
	}
	// The last token of the answer is read off the logits before it and need not be decoded.
	text := append(append(make([]int32, 0, len(prompt)+len(answer)), prompt...), answer[:len(answer)-1]...)
	return newJob(ctx, text, len(prompt)-1, newScoring(prompt, answer, m), false), nil
}

func (e *Engine) fits(need int) error {
	if need > e.c.context {
		return &llm.OverflowError{Need: need, Have: e.c.context}
	}
	return nil
}

// validate adds to llm.Request.Validate what this engine asks of a request. C code gets no text that it
// could misread.
func (e *Engine) validate(r llm.Request) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if err := e.Capabilities().Check(r.Kind); err != nil {
		return err
	}
	if len(r.Prompt.Messages) > 0 && e.template == nil {
		return fmt.Errorf("chat: %w: %s has no chat template", llm.ErrNotSupported, e.identity.Model)
	}
	texts := []string{r.Prompt.Text, r.Prompt.Opening, r.Answer}
	for _, m := range r.Prompt.Messages {
		texts = append(texts, m.Content)
	}
	return checkTexts(texts...)
}

func checkTexts(texts ...string) error {
	for _, t := range texts {
		switch {
		case !utf8.ValidString(t):
			return errors.New("text is not valid UTF-8")
		case strings.IndexByte(t, 0) >= 0:
			return errors.New("text holds a NUL character")
		case len(t) > maxTextBytes:
			return fmt.Errorf("text has %d bytes, at most %d are tokenised", len(t), maxTextBytes)
		}
	}
	return nil
}

// maxTextBytes bounds what is tokenised. The longest contexts have a million tokens.
const maxTextBytes = 1 << 24

func (e *Engine) promptTokens(m *model, p llm.Prompt) ([]int32, error) {
	if len(p.Messages) > 0 {
		return chatTokens(e.template, m, p)
	}
	return plainTokens(m, p), nil
}

// start loads the weights if nobody has, and waits until they are there.
func (e *Engine) start(ctx context.Context) (*loaded, error) {
	e.load.Do(func() { go e.own() })
	select {
	case <-e.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return nil, errClosed
	case e.err != nil:
		return nil, e.err
	}
	return e.loaded, nil
}

// own loads the weights and runs the scheduler until Close, all on one thread.
func (e *Engine) own() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l, err := e.open()
	e.mu.Lock()
	e.loaded, e.err = l, err
	e.mu.Unlock()
	close(e.ready)
	if err != nil {
		return
	}
	l.scheduler.run()
	e.using.Lock()
	l.model.free()
	e.using.Unlock()
	close(l.done)
}

func (e *Engine) open() (*loaded, error) {
	m, err := loadModel(e.lib, e.c)
	if err != nil {
		return nil, err
	}
	k, err := newCells(e.lib, m, e.c)
	if err != nil {
		m.free()
		return nil, err
	}
	return &loaded{model: m, scheduler: newScheduler(k, e.c.limits), done: make(chan struct{})}, nil
}

// Close ends running requests with an error and frees the model. The shared library stays loaded.
func (e *Engine) Close() error {
	e.load.Do(func() { // nothing was ever asked, so nothing is there to be freed
		e.mu.Lock()
		e.err = errClosed
		e.mu.Unlock()
		close(e.ready)
	})
	<-e.ready
	e.mu.Lock()
	e.closed = true
	l := e.loaded
	e.mu.Unlock()
	if l != nil {
		l.scheduler.close()
		<-l.done
	}
	return nil
}
