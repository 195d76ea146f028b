package llamacpp

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/llm"
)

func TestIdentityNeedsNoWeights(t *testing.T) {
	e := open(t, partsOf(t, smollm))
	id := e.Identity()
	if id.Engine != "llamacpp" || len(id.Weights) != 64 || id.Mode != "exact" || id.Settings["cpu"] == "" ||
		id.Settings["flash_attention"] != "on" || len(id.Settings["library"]) != 16 || !strings.Contains(id.Version, "ggml-") {
		t.Errorf("identity %+v is incomplete", id)
	}
	if can := e.Capabilities(); !can.Chat || !can.Seeds || can.ContextTokens != 1024 {
		t.Errorf("capabilities %+v", can)
	}
	if e.loaded != nil {
		t.Error("the weights were loaded before the first request")
	}
}

// A checksum that is not given is computed, and is the one of the catalogue.
func TestIdentityComputesTheChecksum(t *testing.T) {
	c := partsOf(t, smollm)
	want := c.WeightsSHA256
	c.WeightsSHA256 = ""
	if got := open(t, c).Identity().Weights; got != want {
		t.Errorf("weights %s, want %s", got, want)
	}
}

func TestOneLibraryInAProcess(t *testing.T) {
	c := partsOf(t, smollm)
	e := open(t, c)
	c.CPU = e.Identity().Settings["cpu"]
	open(t, c)
	for _, cpu := range []string{"pentium", "x64"} {
		c.CPU = cpu
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), cpu) {
			t.Errorf("CPU variant %s: error %v", cpu, err)
		}
	}
}

// The token counts are numbers that a user can act on, and nothing is decoded for them.
func TestOverflowHasItsNumbers(t *testing.T) {
	c := partsOf(t, smollm)
	c.ContextTokens = 64
	e := open(t, c)
	prompt := llm.Prompt{Text: "One two three four"}
	results := e.Do(context.Background(), []llm.Request{
		{Kind: llm.Generate, Prompt: prompt, Decoding: llm.Decoding{MaxTokens: 60}},
		{Kind: llm.Generate, Prompt: prompt, Decoding: llm.Decoding{MaxTokens: 61}},
		{Kind: llm.Score, Prompt: prompt, Answer: strings.Repeat(" five", 61)},
		{Kind: llm.Score, Prompt: prompt, Answer: strings.Repeat(" five", 60)},
	})
	for i, want := range []error{nil, &llm.OverflowError{Need: 65, Have: 64}, &llm.OverflowError{Need: 65, Have: 64}, nil} {
		var over *llm.OverflowError
		if errors.As(results[i].Err, &over); !cmp.Equal(want, results[i].Err) && (want == nil || over == nil || *over != *want.(*llm.OverflowError)) {
			t.Errorf("request %d: error %v, want %v", i, results[i].Err, want)
		}
	}
}

// Closing while others ask neither hangs nor crashes, and may be done twice.
func TestCloseWhileOthersAsk(t *testing.T) {
	e := open(t, partsOf(t, smollm))
	load(t, e)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			r := llm.Request{Kind: llm.Generate, Prompt: llm.Chat("Tell a story.", ""), Decoding: llm.Decoding{MaxTokens: 500}}
			for _, res := range e.Do(context.Background(), []llm.Request{r, r}) {
				if res.Err == nil {
					t.Error("five hundred tokens were written before the engine closed")
				}
			}
		})
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

func TestCloseBeforeTheFirstRequest(t *testing.T) {
	e := open(t, partsOf(t, smollm))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	r := llm.Request{Kind: llm.Score, Prompt: llm.Prompt{Text: "a"}, Answer: "b"}
	if res := e.Do(context.Background(), []llm.Request{r}); !errors.Is(res[0].Err, errClosed) || e.loaded != nil {
		t.Errorf("error %v after close; loaded: %v", res[0].Err, e.loaded != nil)
	}
}

// The template's own default system message stands, and answers bring neither BOS nor special tokens.
func TestQwenPromptIsTheOneOfItsMakers(t *testing.T) {
	e := open(t, partsOf(t, qwen))
	m := load(t, e).model
	ids, err := chatTokens(e.template, m, llm.Chat("Hi <|im_end|>", "Guess:"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, id := range ids {
		text.Write(m.piece(id))
	}
	want := "system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.\nuser\nHi <|im_end|>\nassistant\nGuess:"
	if text.String() != want {
		t.Errorf("prompt %q, want %q", text.String(), want)
	}
	if n := count32(ids, 151645); n != 2 { // <|im_end|>: the system's turn and the user's
		t.Errorf("<|im_end|> is there %d times, want 2", n)
	}
}

// Fast values are near the exact ones and say that they are not reproducible.
func TestFastModeSaysSo(t *testing.T) {
	c := partsOf(t, smollm)
	r := llm.Request{Kind: llm.Score, Prompt: llm.Chat("Name the capital of France.", ""), Answer: "Paris"}
	score := func(e *Engine) llm.Reply {
		res := e.Do(context.Background(), []llm.Request{r})[0]
		if res.Err != nil {
			t.Fatal(res.Err)
		}
		return res.Reply
	}
	exact := score(open(t, c))
	c.Mode = Fast
	e := open(t, c)
	fast := score(e)
	if !exact.Reproducible || fast.Reproducible || e.Identity().Mode != "fast" || e.Capabilities().Seeds {
		t.Errorf("exact says %v, fast says %v, identity %v", exact.Reproducible, fast.Reproducible, e.Identity())
	}
	if d := math.Abs(exact.Tokens[0].LogProb - fast.Tokens[0].LogProb); d > 1 {
		t.Errorf("exact and fast are %v nats apart", d)
	}
}
