package llamacpp

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/credence-lab/credence/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// started runs a scheduler over a fake decoder; stop ends it and waits.
func started(f *fakeDecoder) (s *scheduler, stop func()) {
	s = newScheduler(f, f.lim)
	done := make(chan struct{})
	go func() { s.run(); close(done) }()
	return s, func() { s.close(); <-done }
}

// ask is a request in token ids.
type ask struct {
	Prompt, Answer []int32
	D              llm.Decoding
	Seed           uint64
	Sample         int
}

func (a ask) job(ctx context.Context) *job {
	if len(a.Answer) > 0 {
		text := slices.Concat(a.Prompt, a.Answer[:len(a.Answer)-1])
		return newJob(ctx, text, len(a.Prompt)-1, newScoring(a.Prompt, a.Answer, fakeWords{}), false)
	}
	r := llm.Request{Kind: llm.Generate, Decoding: a.D, Seed: a.Seed, Sample: a.Sample}
	return newJob(ctx, slices.Clone(a.Prompt), len(a.Prompt)-1, newGeneration(r, a.Prompt, fakeWords{}), true)
}

// alone answers an ask without any scheduler: text in, logits out, token by token.
func (a ask) alone() llm.Reply {
	j := a.job(context.Background())
	var memory scratch
	for k := 0; ; k++ {
		next, more, err := j.out.take(k, fakeLogits(j.tokens[:j.first+1+k]), &memory)
		if err != nil {
			panic(err)
		}
		if j.generate && more {
			j.tokens = append(j.tokens, next)
		}
		if j.generate && !more || !j.generate && k == len(a.Answer)-1 {
			return j.out.reply()
		}
	}
}

func drawAsk(t *rapid.T, cells int) ask {
	word := rapid.Int32Range(1, 2) // few words, so that beginnings are shared
	a := ask{Prompt: rapid.SliceOfN(word, 1, cells/2).Draw(t, "prompt")}
	if rapid.Bool().Draw(t, "score") {
		a.Answer = rapid.SliceOfN(rapid.Int32Range(1, 5), 1, cells/2).Draw(t, "answer")
		return a
	}
	a.D.MaxTokens = rapid.IntRange(1, cells/2).Draw(t, "max")
	a.D.Temperature = rapid.SampledFrom([]float64{0, .5, 1, 2}).Draw(t, "temperature")
	a.D.TopK = rapid.SampledFrom([]int{0, 1, 5}).Draw(t, "top k")
	a.D.RepetitionPenalty = rapid.SampledFrom([]float64{0, 1.3}).Draw(t, "penalty")
	a.Seed, a.Sample = uint64(rapid.IntRange(0, 2).Draw(t, "seed")), rapid.IntRange(0, 3).Draw(t, "sample")
	return a
}

// Whatever is asked together, on however many slots, every reply is the one that is got alone; every
// batch is one that the decoder computes at once; and every job ends.
func TestRepliesDoNotDependOnCompany(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lim := limits{
			slots: rapid.IntRange(1, 6).Draw(t, "slots"), cells: rapid.IntRange(8, 40).Draw(t, "cells"),
			rows: rapid.IntRange(6, 24).Draw(t, "rows"),
		}
		f := newFake(limits{slots: lim.slots, cells: lim.cells + 1, rows: lim.rows})
		s, stop := started(f)
		defer stop()
		asks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ask { return drawAsk(t, lim.cells) }), 1, 24).Draw(t, "asks")
		jobs := make([]*job, len(asks))
		for i, a := range asks {
			jobs[i] = a.job(context.Background())
		}
		half := len(jobs) / 2
		s.submit(jobs[:half]...)
		s.submit(jobs[half:]...)
		for i, j := range jobs {
			<-j.done
			if j.err != nil {
				t.Fatalf("job %d: %v", i, j.err)
			}
			if diff := cmp.Diff(asks[i].alone(), j.out.reply()); diff != "" {
				t.Fatalf("job %d, alone and in company:\n%s", i, diff)
			}
		}
	})
}

// Cancelled jobs end with their context's error, the others as ever, and no slot stays taken.
func TestCancelledJobsLeaveTheOthersAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := newFake(limits{slots: 3, cells: 41, rows: 12})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		at := rapid.IntRange(1, 12).Draw(t, "cancelled at batch")
		f.before = func(n int) {
			if n == at {
				cancel()
			}
		}
		s, stop := started(f)
		var jobs []*job
		var asks []ask
		for i := range 10 {
			a := drawAsk(t, 40)
			of := context.Background()
			if i%2 == 0 {
				of = ctx
			}
			asks, jobs = append(asks, a), append(jobs, a.job(of))
		}
		s.submit(jobs...)
		for i, j := range jobs {
			if <-j.done; i%2 == 0 && errors.Is(j.err, context.Canceled) {
				continue
			}
			if j.err != nil {
				t.Fatalf("job %d: %v", i, j.err)
			}
			if diff := cmp.Diff(asks[i].alone(), j.out.reply()); diff != "" {
				t.Fatalf("job %d beside cancelled ones:\n%s", i, diff)
			}
		}
		stop()
		for i := range s.slots {
			if s.slots[i].job != nil {
				t.Errorf("slot %d is still taken", i)
			}
		}
		if s.sampling != 0 || !f.closed.Load() {
			t.Errorf("%d tokens are still awaited, decoder closed: %v", s.sampling, f.closed.Load())
		}
	})
}

func TestSharedBeginningsAreDecodedOnce(t *testing.T) {
	t.Parallel()
	prompt := make([]int32, 100)
	for i := range prompt {
		prompt[i] = int32(1 + i%7)
	}
	t.Run("ten answers in one context", func(t *testing.T) {
		t.Parallel()
		f := newFake(limits{slots: 16, cells: 257, rows: 63})
		s, stop := started(f)
		var jobs []*job
		for i := range int32(10) {
			jobs = append(jobs, ask{Prompt: prompt, Answer: []int32{10 + i, 1, 2, 3, 4}}.job(context.Background()))
		}
		s.submit(jobs...)
		for _, j := range jobs {
			<-j.done
		}
		stop()
		// Each answer takes its last prompt token and four of its own; filling would be wasted.
		if got := s.work.decoded.Load() + s.work.filling.Load(); got != int64(f.rows) || s.work.shared.Load() < 9*99 {
			t.Errorf("%d tokens counted of %d, %d shared", got, f.rows, s.work.shared.Load())
		}
		if want := 99 + 10*5; f.rows > want {
			t.Errorf("%d tokens decoded, want at most %d", f.rows, want)
		}
	})
	t.Run("thirty samples of one prompt fill the batches", func(t *testing.T) {
		t.Parallel()
		f := newFake(limits{slots: 30, cells: 257, rows: 63})
		s, stop := started(f)
		var jobs []*job
		for i := range 30 {
			a := ask{Prompt: prompt, D: llm.Decoding{MaxTokens: 20, Temperature: 1}, Seed: 9, Sample: i}
			j := a.job(context.Background())
			j.out.(*generation).v = unending{}
			jobs = append(jobs, j)
		}
		s.submit(jobs...)
		for _, j := range jobs {
			<-j.done
		}
		stop()
		if want := 99 + 30*20; f.rows > want+30 {
			t.Errorf("%d tokens decoded, want about %d", f.rows, want)
		}
		if f.batches > 2+20+6 {
			t.Errorf("%d batches, want one for each of 20 tokens and few more", f.batches)
		}
	})
	t.Run("a text that was asked before is still there", func(t *testing.T) {
		t.Parallel()
		f := newFake(limits{slots: 2, cells: 257, rows: 63})
		s, stop := started(f)
		for i := range int32(3) {
			j := ask{Prompt: prompt, Answer: []int32{i + 1}}.job(context.Background())
			s.submit(j)
			<-j.done
		}
		stop()
		if want := 100 + 2; f.rows != want {
			t.Errorf("%d tokens decoded, want %d", f.rows, want)
		}
	})
}

type unending struct{ fakeWords }

func (unending) ends(int32) bool { return false }

func TestAFailedBatchFailsItsJobsOnly(t *testing.T) {
	t.Parallel()
	f := newFake(limits{slots: 2, cells: 33, rows: 8})
	f.failAt = 1
	s, stop := started(f)
	defer stop()
	bad := ask{Prompt: []int32{1, 2, 3}, Answer: []int32{4}}.job(context.Background())
	s.submit(bad)
	if <-bad.done; !errors.Is(bad.err, errFake) {
		t.Fatalf("error %v, want the decoder's", bad.err)
	}
	a := ask{Prompt: []int32{1, 2, 3}, Answer: []int32{4}}
	good := a.job(context.Background())
	s.submit(good)
	if <-good.done; good.err != nil || !cmp.Equal(a.alone(), good.out.reply()) {
		t.Errorf("after a failure: %v, %v", good.err, good.out.reply())
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	t.Parallel()
	f := newFake(limits{slots: 1, cells: 1 << 20, rows: 8})
	reached := make(chan struct{})
	f.before = func(n int) {
		if n == 3 {
			close(reached)
		}
	}
	s, stop := started(f)
	endless := ask{Prompt: []int32{1}, D: llm.Decoding{MaxTokens: 1 << 19}}.job(context.Background())
	endless.out.(*generation).v = unending{}
	queued := ask{Prompt: []int32{2}, Answer: []int32{1}}.job(context.Background())
	s.submit(endless, queued)
	<-reached
	stop()
	late := ask{Prompt: []int32{2}, Answer: []int32{1}}.job(context.Background())
	s.submit(late)
	for _, j := range []*job{endless, queued, late} {
		if <-j.done; !errors.Is(j.err, errClosed) {
			t.Errorf("error %v, want that the engine is closed", j.err)
		}
	}
	if !f.closed.Load() {
		t.Error("the decoder is still open")
	}
}

// ready makes slots of which each has so many tokens ready; -1 is a full one without work.
func ready(cells int, pending ...int) []slot {
	out := make([]slot, len(pending))
	for i, n := range pending {
		if n < 0 {
			out[i].tokens = make([]int32, cells)
		}
		if n > 0 {
			out[i].job = &job{tokens: make([]int32, n)}
		}
	}
	return out
}

func TestPlanBatch(t *testing.T) {
	t.Parallel()
	lim := limits{cells: 100, rows: 12}
	for name, c := range map[string]struct {
		slots []slot
		want  batch
	}{
		"nothing":                       {ready(100, 0, 0), batch{}},
		"a long text fills a batch":     {ready(100, 40, 1, 1), batch{0, 1, 12, 12}},
		"neighbours of one length":      {ready(100, 0, 4, 4, 4, 0), batch{1, 4, 4, 12}},
		"a gap is filled":               {ready(100, 1, 1, 0, 1, 1), batch{0, 5, 1, 4}},
		"a full slot cannot fill":       {ready(100, 1, 1, -1, 1), batch{0, 2, 1, 2}},
		"a wide gap is not worth it":    {ready(100, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1), batch{0, 3, 1, 3}},
		"the tail of one joins others":  {ready(100, 1, 1, 1, 1, 1, 3), batch{0, 6, 1, 6}},
		"a batch holds what fits of it": {ready(100, 5, 5, 5), batch{0, 3, 4, 12}},
	} {
		if got := planBatch(c.slots, lim); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	waiting := ready(100, 40, 0, 1)
	waiting[2].passed = patience
	if got := planBatch(waiting, lim); got.to != 3 {
		t.Errorf("a slot passed over %d times is still left out: %+v", patience, got)
	}
}
