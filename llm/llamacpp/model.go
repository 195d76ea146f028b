package llamacpp

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// model is the loaded weights with their vocabulary. Its methods may be called from any goroutine.
type model struct {
	handle llama.Model
	vocab  llama.Vocab
	size   int
	// special are the texts of tokens that must not come out of data: control tokens.
	special []specialToken
	bos     int32
	addBOS  bool
}

type specialToken struct {
	id   int32
	text string
}

// loadModel reads the weights. The file's header was checked before.
func loadModel(lib *library, c settled) (*model, error) {
	lib.log.clear()
	lib.log.forgetSizes()
	p := llama.ModelDefaultParams()
	p.SetCPUOnly()
	none := []llama.GGMLBackendDevice{0}
	switch {
	case c.GPULayers > 0:
		p.NGpuLayers = int32(c.GPULayers)
	case len(gpuNames()) > 0: // another model's, or linked into the library: not for this one
		if err := p.SetDevices(none); err != nil {
			return nil, err
		}
	}
	p.UseExtraBufts = 0
	if c.Mode == Fast {
		p.UseExtraBufts = 1
	}
	h, err := llama.ModelLoadFromFile(c.Weights, p)
	runtime.KeepAlive(none)
	if err != nil {
		return nil, lib.log.explain(fmt.Errorf("weights %s: %w", c.Weights, err))
	}
	m := &model{handle: h, vocab: llama.ModelGetVocab(h)}
	if err := m.check(); err != nil {
		m.free()
		return nil, fmt.Errorf("weights %s: %w", c.Weights, err)
	}
	m.size = int(llama.VocabNTokens(m.vocab))
	m.addBOS = llama.VocabGetAddBOS(m.vocab)
	m.bos = int32(llama.VocabBOS(m.vocab))
	m.special = m.listSpecial()
	return m, nil
}

// check refuses what the header did not betray.
func (m *model) check() error {
	switch {
	case llama.ModelHasEncoder(m.handle) || !llama.ModelHasDecoder(m.handle):
		return errors.New("the model does not write text token by token")
	case llama.ModelIsRecurrent(m.handle) || llama.ModelIsHybrid(m.handle):
		return errors.New("the model is recurrent and cannot share the beginning of a text")
	case llama.ModelIsDiffusion(m.handle):
		return errors.New("the model is a diffusion model and has no next token")
	case llama.VocabNTokens(m.vocab) < 1:
		return errors.New("the model has no vocabulary")
	}
	return nil
}

func (m *model) free() { _ = llama.ModelFree(m.handle) }

// listSpecial collects the control tokens, the longest text first, so that a text is matched whole.
func (m *model) listSpecial() []specialToken {
	var out []specialToken
	for id := range int32(m.size) {
		if llama.VocabGetAttr(m.vocab, llama.Token(id))&(llama.TokenAttrControl|llama.TokenAttrUnknown) == 0 {
			continue
		}
		if text := llama.VocabGetText(m.vocab, llama.Token(id)); text != "" {
			out = append(out, specialToken{id, text})
		}
	}
	slices.SortStableFunc(out, func(a, b specialToken) int { return len(b.text) - len(a.text) })
	return out
}

// tokenise splits text into tokens without adding any. Texts of control tokens become those tokens if
// special is set, and plain text else.
func (m *model) tokenise(text string, special bool) []int32 {
	if text == "" {
		return nil
	}
	toks := llama.Tokenize(m.vocab, text, false, special)
	out := make([]int32, len(toks))
	for i, t := range toks {
		out[i] = int32(t)
	}
	return out
}

func (m *model) piece(token int32) []byte {
	buf := make([]byte, 32)
	n := llama.TokenToPiece(m.vocab, llama.Token(token), buf, 0, false)
	if n < 0 {
		buf = make([]byte, -n)
		n = llama.TokenToPiece(m.vocab, llama.Token(token), buf, 0, false)
	}
	return buf[:max(n, 0)]
}

func (m *model) ends(token int32) bool { return llama.VocabIsEOG(m.vocab, llama.Token(token)) }

// cells is a model's context: the decoder over llama.cpp.
type cells struct {
	c       settled
	log     *errorLog
	size    int
	ctx     llama.Context
	mem     llama.Memory
	batch   llama.Batch
	threads int32
	pace    *pace
}

func newCells(lib *library, m *model, c settled) (*cells, error) {
	lib.log.clear()
	p := llama.ContextDefaultParams()
	p.NCtx = uint32(c.cells * c.slots)
	p.NBatch = uint32(c.rows)
	p.NUbatch = uint32(c.rows)
	p.NSeqMax = uint32(c.slots)
	p.NThreads, p.NThreadsBatch = int32(c.Threads), int32(c.Threads)
	p.FlashAttentionType = llama.FlashAttentionTypeEnabled
	p.KVUnified = 0
	p.SwaFull = 1
	p.Embeddings = 0
	p.NoPerf = 1
	if c.GPULayers == 0 {
		p.Offload_kqv = 0
	}
	if c.GPULayers == 0 || c.Mode == Exact {
		p.OpOffload = 0 // which would move large batches of the CPU's layers to a GPU, and small ones not
	}
	ctx, err := llama.InitFromModel(m.handle, p)
	if err != nil {
		return nil, lib.log.explain(fmt.Errorf("context of %d × %d tokens: %w", c.slots, c.cells, err))
	}
	mem, err := llama.GetMemory(ctx)
	if err != nil || mem == 0 {
		_ = llama.Free(ctx)
		return nil, errors.New("the model has no memory for tokens")
	}
	return &cells{
		c: c, log: lib.log, size: m.size, ctx: ctx, mem: mem,
		batch: llama.BatchInit(int32(c.rows), 0, 1), threads: int32(c.Threads), pace: newPace(c.Threads),
	}, nil
}

// splitCells is the place in a text from which on llama.cpp computes the attention of a single row in
// parts, one for each thread, so that values depend on the number of threads, by a tenth of a nat: the
// cells in use are rounded up to 256, and from 512 on a row that is alone in its batch is split.
const splitCells = 256

func (k *cells) decode(rows []row) error {
	if err := k.fill(rows); err != nil {
		return err
	}
	k.setThreads(k.pick(rows))
	k.log.clear()
	start := time.Now()
	rc, err := llama.Decode(k.ctx, k.batch)
	if err == nil && rc != 0 {
		err = fmt.Errorf("llama_decode of %d rows returned %d", len(rows), rc)
	}
	if err != nil {
		return k.log.explain(err)
	}
	if !k.lone(rows) {
		k.pace.took(int(k.threads), len(rows), time.Since(start))
	}
	return nil
}

// lone reports whether rows are the only case in which the number of threads moves values: a single row
// of a long text.
func (k *cells) lone(rows []row) bool { return len(rows) == 1 && rows[0].pos >= splitCells }

// pick is the number of threads for a batch.
func (k *cells) pick(rows []row) int {
	switch {
	case k.c.Mode == Fast || k.c.steady:
		if k.c.Mode == Exact && k.lone(rows) {
			return 1
		}
		return k.c.Threads
	case k.lone(rows):
		return 1
	}
	return k.pace.threads()
}

func (k *cells) setThreads(n int) {
	if int32(n) != k.threads {
		llama.SetNThreads(k.ctx, int32(n), int32(n))
		k.threads = int32(n)
	}
}

func (k *cells) fill(rows []row) error {
	if err := k.batch.Clear(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.token < 0 || int(r.token) >= k.size {
			return fmt.Errorf("token %d is not in the vocabulary", r.token)
		}
		if err := k.batch.Add(llama.Token(r.token), llama.Pos(r.pos), []llama.SeqId{llama.SeqId(r.slot)}, r.want); err != nil {
			return err
		}
	}
	return nil
}

func (k *cells) logits(i int) ([]float32, error) {
	l, err := llama.GetLogitsIth(k.ctx, int32(i), k.size)
	if err == nil && l == nil {
		err = fmt.Errorf("no logits for row %d", i)
	}
	return l, err
}

func (k *cells) copySlot(src, dst int) error {
	return llama.MemorySeqCp(k.mem, llama.SeqId(src), llama.SeqId(dst), -1, -1)
}

func (k *cells) trim(slot, n int) error {
	from := llama.Pos(n)
	if n == 0 {
		from = -1
	}
	ok, err := llama.MemorySeqRm(k.mem, llama.SeqId(slot), from, -1)
	if err == nil && !ok {
		err = fmt.Errorf("sequence %d cannot be cut to %d tokens", slot, n)
	}
	return err
}

func (k *cells) close() {
	_ = llama.BatchFree(k.batch)
	_ = llama.Free(k.ctx)
}

func (m *model) control() []specialToken { return m.special }

func (m *model) beginning() (int32, bool) { return m.bos, m.addBOS && m.bos >= 0 }
