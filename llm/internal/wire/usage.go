package wire

import (
	"bytes"
	"context"
	"sync"

	json "github.com/go-json-experiment/json/v1"

	"github.com/credence-lab/credence/llm"
)

type counterKey struct{}

// Counter sums what the requests under one context took.
type Counter struct {
	mu   sync.Mutex
	used llm.Usage
}

// Counting returns a context whose good answers are counted, and the counter.
func Counting(ctx context.Context) (context.Context, *Counter) {
	c := &Counter{}
	return context.WithValue(ctx, counterKey{}, c), c
}

// Used is the sum so far.
func (c *Counter) Used() llm.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

func count(ctx context.Context, answer []byte) {
	if c, ok := ctx.Value(counterKey{}).(*Counter); ok {
		used := usageOf(answer)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.used = c.used.Add(used)
	}
}

// maxUsage is more tokens than any answer takes: a larger count is no count.
const maxUsage = 1 << 40

// usageOf is what a server says that an answer took, in the forms that servers have for it: "usage" of
// OpenAI's routes; counts of the answer itself of Ollama, llama-server and, under "meta_info", of SGLang. A
// count that cannot be is none.
func usageOf(answer []byte) llm.Usage {
	if at := bytes.LastIndex(answer, []byte(`"usage":`)); at >= 0 {
		var u struct {
			Prompt    int64 `json:"prompt_tokens"`
			Generated int64 `json:"completion_tokens"`
			Details   struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
		if json.NewDecoder(bytes.NewBuffer(answer[at+len(`"usage":`):])).Decode(&u) == nil {
			return possible(llm.Usage{Prompt: u.Prompt, Cached: u.Details.Cached, Generated: u.Generated})
		}
		return llm.Usage{}
	}
	switch {
	case bytes.Contains(answer, []byte(`"meta_info":`)):
		return possible(llm.Usage{Prompt: number(answer, "prompt_tokens"), Cached: number(answer, "cached_tokens"), Generated: number(answer, "completion_tokens")})
	case bytes.Contains(answer, []byte(`"tokens_evaluated":`)):
		return possible(llm.Usage{Prompt: number(answer, "tokens_evaluated"), Cached: number(answer, "cache_n"), Generated: number(answer, "tokens_predicted")})
	case bytes.Contains(answer, []byte(`"prompt_eval_count":`)):
		return possible(llm.Usage{Prompt: number(answer, "prompt_eval_count"), Generated: number(answer, "eval_count")})
	}
	return llm.Usage{}
}

// number is the whole number behind a key; 0 if there is none. A key cannot be mistaken for text: in a text
// its quotes would be escaped.
func number(answer []byte, key string) int64 {
	at := bytes.LastIndex(answer, []byte(`"`+key+`":`))
	if at < 0 {
		return 0
	}
	var n int64
	if json.NewDecoder(bytes.NewBuffer(answer[at+len(key)+3:])).Decode(&n) != nil {
		return 0
	}
	return n
}

func possible(u llm.Usage) llm.Usage {
	for _, n := range []int64{u.Prompt, u.Cached, u.Generated} {
		if n < 0 || n > maxUsage {
			return llm.Usage{}
		}
	}
	u.Cached = min(u.Cached, u.Prompt)
	return u
}
