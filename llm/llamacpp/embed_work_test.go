package llamacpp

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/llm/llamacpp/internal/gguf"
)

// countingEncoder gives each token the vector (token id, 1), and says how texts came together.
type countingEncoder struct {
	mu      sync.Mutex
	batches [][]int // the lengths of the texts of each batch
	err     error
	before  func()
}

func (k *countingEncoder) encode(texts [][]int32, each func(text, token int, vector []float32)) error {
	if k.before != nil {
		k.before()
	}
	var lengths []int
	for i, ids := range texts {
		lengths = append(lengths, len(ids))
		for n, id := range ids {
			each(i, n, []float32{float32(id), 1})
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.batches = append(k.batches, lengths)
	return k.err
}

func textOf(ids ...int32) *embedJob {
	return &embedJob{ctx: context.Background(), ids: ids, done: make(chan struct{})}
}

// run embeds jobs by one worker that is closed when they are done.
func runEmbed(k encoder, limits batchLimits, p pooling, jobs ...*embedJob) {
	q := newEmbedQueue()
	q.put(jobs...)
	var worker sync.WaitGroup
	worker.Go(func() { q.work(k, limits, p) })
	for _, j := range jobs {
		<-j.done
	}
	q.close()
	worker.Wait()
}

func TestVectorsAreTheMeanOrTheFirstOfTheirTokens(t *testing.T) {
	t.Parallel()
	for p, want := range map[pooling][]float32{poolMean: {0.6, 0.8}, poolFirst: {0, 1}} {
		a, b := textOf(0, 1, 2, 0), textOf(0, 0) // the sums are (3, 4) and (0, 2)
		runEmbed(&countingEncoder{}, fastTogether, p, a, b)
		if d := cmp.Diff([][]float32{want, {0, 1}}, [][]float32{a.vector, b.vector}); d != "" || a.err != nil || b.err != nil {
			t.Errorf("%s: %v, %v (-want +got):\n%s", p, a.err, b.err, d)
		}
	}
}

func TestBatchesKeepTheirLimits(t *testing.T) {
	t.Parallel()
	jobs := func() []*embedJob {
		var list []*embedJob
		for _, n := range []int{3, 3, 9, 2, 2, 2, 2, 2} {
			list = append(list, textOf(make([]int32, n)...))
		}
		return list
	}
	for limits, want := range map[batchLimits][][]int{
		{texts: 1}:          {{3}, {3}, {9}, {2}, {2}, {2}, {2}, {2}},
		{texts: 3, rows: 7}: {{3, 3}, {9}, {2, 2, 2}, {2, 2}}, // one that is too long for company goes alone
	} {
		k := &countingEncoder{}
		runEmbed(k, limits, poolMean, jobs()...)
		if d := cmp.Diff(want, k.batches); d != "" {
			t.Errorf("%+v (-want +got):\n%s", limits, d)
		}
	}
}

func TestWhatHasNoVectorIsAnError(t *testing.T) {
	t.Parallel()
	for name, sum := range map[string][]float64{
		"zero": {0, 0}, "no number": {1, math.NaN()}, "infinite": {math.Inf(1), 0}, "too large": {1e200, 1e200}, "none": nil,
	} {
		if v, err := unit(sum); !errors.Is(err, errNoDirection) || v != nil {
			t.Errorf("%s: %v, error %v", name, v, err)
		}
	}
	broken := errors.New("the library is broken")
	a, b := textOf(1), textOf(2)
	runEmbed(&countingEncoder{err: broken}, batchLimits{texts: 2, rows: 9}, poolMean, a, b)
	if !errors.Is(a.err, broken) || !errors.Is(b.err, broken) || a.vector != nil {
		t.Errorf("errors %v, %v, vector %v", a.err, b.err, a.vector)
	}
}

func TestTextsThatNobodyWaitsForAreDropped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	gone := []*embedJob{textOf(1), textOf(2)}
	for _, j := range gone {
		j.ctx = ctx
	}
	cancel()
	k, wanted := &countingEncoder{}, textOf(3, 4, 5)
	runEmbed(k, fastTogether, poolMean, gone[0], wanted, gone[1])
	if d := cmp.Diff([][]int{{3}}, k.batches); d != "" || wanted.err != nil {
		t.Errorf("%v (-want +got):\n%s", wanted.err, d)
	}
	for _, j := range gone {
		if !errors.Is(j.err, context.Canceled) {
			t.Errorf("error %v", j.err)
		}
	}
}

// Closing lets what is being computed end and nothing else.
func TestCloseEndsWhatWaits(t *testing.T) {
	t.Parallel()
	computing, goOn := make(chan struct{}), make(chan struct{})
	k := &countingEncoder{before: func() { close(computing); <-goOn }}
	q := newEmbedQueue()
	first, second := textOf(1), textOf(2)
	q.put(first, second)
	var worker sync.WaitGroup
	worker.Go(func() { q.work(k, batchLimits{texts: 1}, poolMean) })
	<-computing
	q.close()
	<-second.done
	close(goOn)
	<-first.done
	worker.Wait()
	late := textOf(3)
	q.put(late)
	<-late.done
	if first.err != nil || !errors.Is(second.err, errClosed) || !errors.Is(late.err, errClosed) {
		t.Errorf("errors %v, %v, %v", first.err, second.err, late.err)
	}
}

func bertTexts() map[string]string {
	return map[string]string{"general.architecture": "bert", "tokenizer.ggml.model": "bert"}
}

func bertNumbers() map[string]uint32 {
	return map[string]uint32{
		"bert.context_length": 256, "bert.embedding_length": 8, "bert.block_count": 1, "bert.attention.head_count": 2,
		"bert.feed_forward_length": 16, "bert.pooling_type": 1,
		"tokenizer.ggml.cls_token_id": 1, "tokenizer.ggml.eos_token_id": 1, "tokenizer.ggml.unknown_token_id": 1,
	}
}

func TestEmbeddingModelsThatCannotBeRunAreNamed(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(texts map[string]string, numbers map[string]uint32){
		`architecture "gpt" is not one of embeddings`: func(s map[string]string, _ map[string]uint32) { s["general.architecture"] = "gpt" },
		`tokeniser "t5" is not known`:                 func(s map[string]string, _ map[string]uint32) { s["tokenizer.ggml.model"] = "t5" },
		"bert.pooling_type is missing":                func(_ map[string]string, n map[string]uint32) { delete(n, "bert.pooling_type") },
		"pooling 3 is not known":                      func(_ map[string]string, n map[string]uint32) { n["bert.pooling_type"] = 3 },
		"bert.context_length is missing":              func(_ map[string]string, n map[string]uint32) { n["bert.context_length"] = 0 },
		"more than can be":                            func(_ map[string]string, n map[string]uint32) { n["bert.embedding_length"] = 1 << 30 },
		"no [CLS]":                                    func(_ map[string]string, n map[string]uint32) { n["tokenizer.ggml.cls_token_id"] = 9 },
		"no token of the vocabulary begins a word":    func(map[string]string, map[string]uint32) {},
	} {
		texts, numbers := bertTexts(), bertNumbers()
		change(texts, numbers)
		path := header(t, texts, numbers)
		if _, err := NewEmbedder(Config{Weights: path}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := NewEmbedder(Config{Weights: header(t, nil, nil) + "x"}); err == nil || errors.Is(err, gguf.ErrFormat) {
		t.Errorf("no file: error %v", err)
	}
}
