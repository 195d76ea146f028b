package llamacpp

import (
	"context"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// probe asks a loaded engine for token ids, below texts and templates: what exactness is measured with.
type probe struct {
	ctx       context.Context
	model     *model
	scheduler *scheduler
}

func (e *Engine) probe(ctx context.Context) (*probe, error) {
	l, err := e.start(ctx)
	if err != nil {
		return nil, err
	}
	return &probe{ctx, l.model, l.scheduler}, nil
}

// forced is a job that scores the last n of ids.
func (p *probe) forced(ids []int32, n int) *job {
	at := len(ids) - n
	return newJob(p.ctx, ids[:len(ids)-1:len(ids)-1], at-1, newScoring(ids[:at], ids[at:], p.model), false)
}

// written is a job that writes d.MaxTokens tokens after ids; it does not stop before.
func (p *probe) written(ids []int32, d llm.Decoding, seed uint64) *job {
	r := llm.Request{Kind: llm.Generate, Decoding: d, Seed: seed}
	return newJob(p.ctx, append([]int32(nil), ids...), len(ids)-1, newGeneration(r, ids, endless{p.model}), true)
}

// endless is a vocabulary in which no token ends a text.
type endless struct{ *model }

func (endless) ends(int32) bool { return false }

// do runs jobs together and returns their replies in order.
func (p *probe) do(jobs ...*job) ([]llm.Reply, error) {
	p.scheduler.submit(jobs...)
	out := make([]llm.Reply, len(jobs))
	for i, j := range jobs {
		select {
		case <-j.done:
		case <-p.ctx.Done():
			return nil, p.ctx.Err()
		}
		if j.err != nil {
			return nil, j.err
		}
		out[i] = j.out.reply()
	}
	return out, nil
}

func joined(ids []int32, said []record.Token) []int32 {
	out := append([]int32(nil), ids...)
	for _, t := range said {
		out = append(out, t.ID)
	}
	return out
}
