package llamacpp

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// encoders are the loaded weights of an embedding model with a context for each worker. Each context
// computes with one thread, so that workers do not wait for each other.
type encoders struct {
	handle   llama.Model
	encoders []encoder
}

// loadEncoders reads the weights. The file's header was checked before.
func loadEncoders(lib *library, c embedConfig, s embedShape) (*encoders, error) {
	lib.log.clear()
	p := llama.ModelDefaultParams()
	p.SetCPUOnly()
	p.UseExtraBufts = 0
	none := []llama.GGMLBackendDevice{0}
	if len(gpuNames()) > 0 { // another model's, or linked into the library: not for this one
		if err := p.SetDevices(none); err != nil {
			return nil, err
		}
	}
	h, err := llama.ModelLoadFromFile(c.Weights, p)
	runtime.KeepAlive(none)
	if err != nil {
		return nil, lib.log.explain(fmt.Errorf("weights %s: %w", c.Weights, err))
	}
	m := &encoders{handle: h}
	if n := int(llama.ModelNEmbd(h)); n != s.dimensions || int(llama.VocabNTokens(llama.ModelGetVocab(h))) != s.vocab {
		m.free()
		return nil, fmt.Errorf("weights %s: the library finds %d dimensions, the header says %d", c.Weights, n, s.dimensions)
	}
	for range c.workers {
		k, err := newTextEncoder(lib, h, c, s)
		if err != nil {
			m.free()
			return nil, err
		}
		m.encoders = append(m.encoders, k)
	}
	return m, nil
}

func (m *encoders) free() {
	for _, k := range m.encoders {
		k.(*textEncoder).free()
	}
	_ = llama.ModelFree(m.handle)
}

// textEncoder is the encoder over llama.cpp.
type textEncoder struct {
	log        *errorLog
	ctx        llama.Context
	batch      llama.Batch
	dimensions int
}

func newTextEncoder(lib *library, h llama.Model, c embedConfig, s embedShape) (*textEncoder, error) {
	lib.log.clear()
	p := llama.ContextDefaultParams()
	p.NCtx, p.NBatch, p.NUbatch = uint32(c.rows), uint32(c.rows), uint32(c.rows)
	p.NSeqMax = uint32(c.together.texts)
	p.NThreads, p.NThreadsBatch = 1, 1
	p.FlashAttentionType = llama.FlashAttentionTypeDisabled // it would round keys and values to 16 bits
	p.PoolingType = llama.PoolingTypeNone
	p.Embeddings = 1
	p.NoPerf = 1
	ctx, err := llama.InitFromModel(h, p)
	if err != nil {
		return nil, lib.log.explain(fmt.Errorf("context of %d tokens: %w", c.rows, err))
	}
	return &textEncoder{log: lib.log, ctx: ctx, batch: llama.BatchInit(int32(c.rows), 0, 1), dimensions: s.dimensions}, nil
}

func (k *textEncoder) encode(texts [][]int32, each func(text, token int, vector []float32)) error {
	if err := k.fill(texts); err != nil {
		return err
	}
	rc, err := llama.Encode(k.ctx, k.batch)
	if err == nil && rc != 0 {
		err = fmt.Errorf("llama_encode of %d texts returned %d", len(texts), rc)
	}
	if err != nil {
		return k.log.explain(err)
	}
	row := int32(0)
	for i, ids := range texts {
		for n := range ids {
			v, err := llama.GetEmbeddingsIth(k.ctx, row, int32(k.dimensions))
			if err != nil || v == nil {
				return errors.Join(fmt.Errorf("no vector for token %d", row), err)
			}
			each(i, n, v)
			row++
		}
	}
	return nil
}

func (k *textEncoder) fill(texts [][]int32) error {
	if err := k.batch.Clear(); err != nil {
		return err
	}
	for i, ids := range texts {
		for n, id := range ids {
			if err := k.batch.Add(llama.Token(id), llama.Pos(n), []llama.SeqId{llama.SeqId(i)}, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *textEncoder) free() {
	_ = llama.BatchFree(k.batch)
	_ = llama.Free(k.ctx)
}
