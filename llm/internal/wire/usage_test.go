package wire

import (
	"testing"

	"github.com/credence-lab/credence/llm"
)

func TestUsageInEveryForm(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]llm.Usage{
		`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`:                                {Prompt: 9, Generated: 4},
		`{"usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 8}}, "id": "x"}`: {Prompt: 9, Cached: 8, Generated: 4},
		`{"usage":{"prompt_tokens":9,"prompt_tokens_details":null}}`:                                                        {Prompt: 9},
		`{"usage":null}`:                     {},
		`{"usage":{"prompt_tokens":"many"}}`: {},
		`{"usage":{"prompt_tokens":-9}}`:     {},
		`{"usage":{"prompt_tokens":9e30}}`:   {},
		`{"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":90}}}`:                       {Prompt: 9, Cached: 9},
		`{"text":"x","meta_info":{"prompt_tokens":9,"completion_tokens":2,"cached_tokens":3}}`:             {Prompt: 9, Cached: 3, Generated: 2},
		`{"content":"x","tokens_predicted":1,"tokens_evaluated":30,"timings":{"cache_n":29,"prompt_n":1}}`: {Prompt: 30, Cached: 29, Generated: 1},
		`{"message":{},"prompt_eval_count":26,"eval_count":290}`:                                           {Prompt: 26, Generated: 290},
		// What a model says is no count.
		`{"text":"\"usage\":{\"prompt_tokens\":9}"}`: {},
		`{"tokens":[1,2]}`:                           {},
		`"usage":`:                                   {},
		``:                                           {},
	} {
		if got := usageOf([]byte(answer)); got != want {
			t.Errorf("%s: %+v, want %+v", answer, got, want)
		}
	}
}

func FuzzUsage(f *testing.F) {
	f.Add([]byte(`{"usage":{"prompt_tokens":9,"completion_tokens":4}}`))
	f.Add([]byte(`{"meta_info":{"prompt_tokens":-1}}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if u := usageOf(answer); u.Prompt < 0 || u.Cached < 0 || u.Generated < 0 || u.Cached > u.Prompt || u.Tokens() < 0 {
			t.Errorf("%q: %+v", answer, u)
		}
	})
}
