package ledger_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
)

var (
	scorer    = llm.Identity{Engine: "llamacpp", Version: "b1", Model: "m.gguf", Weights: "00ff", Mode: "exact", Settings: map[string]string{"cpu": "haswell", "batch": "512"}}
	question  = llm.Request{Kind: llm.Generate, Prompt: llm.Chat("Which city?", "Answer:"), Decoding: llm.Decoding{MaxTokens: 16}}
	sampled   = with(question, func(r *llm.Request) { r.Decoding.Temperature, r.Seed, r.Sample = 1, 7, 3 })
	forced    = llm.Request{Kind: llm.Score, Prompt: llm.Prompt{Text: "2 + 2 =", NoBOS: true}, Answer: " 4"}
	embedded  = llm.Request{Kind: llm.Embed, Prompt: llm.Prompt{Text: "2 + 2 ="}}
	sampledIn = llm.Decoding{MaxTokens: 16, Temperature: 0.7, TopK: 40, TopP: 0.95, MinP: 0.05, RepetitionPenalty: 1.1, Stop: []string{"\n"}}
)

func with(r llm.Request, change func(*llm.Request)) llm.Request {
	change(&r)
	return r
}

func keyOf(t *testing.T, id llm.Identity, r llm.Request, generation int) ledger.Key {
	t.Helper()
	k, err := ledger.KeyOf(id, r, generation)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The keys of released ledgers. A change here makes every stored call unfindable: a new field of a
// request or an identity needs omitempty, and no field may move, be renamed or lose it.
func TestKeysOfReleasedLedgers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		id         llm.Identity
		req        llm.Request
		generation int
		want       string
	}{
		{"greedy", scorer, question, 0, "cb6ff6ca580c65d7022bb8964b223f98cfdc865ffc3ab5a8005ee63d71a09c75"},
		{"sampled", scorer, sampled, 0, "322da1dadb49b36d9956741da0637e7f1636bd1d1d51ad925fec96a864441ee4"},
		{"asked again", scorer, sampled, 1, "9cef4221c60f6caa42881244c7bc3970cdd1e5e44b3c686964df6b6625b1f3a2"},
		{"scored", scorer, forced, 0, "906b9ebe69edde21092613761c9dcc0cad2b69a46350bbc81cb6d6efdc8d871e"},
		{"embedded", scorer, embedded, 0, "cbfbda438d84eb345388c38dd449f24645cc631f8887131e3c555a799d0be95d"},
		{"all of decoding", llm.Identity{Engine: "vllm", Model: "org/model"}, with(sampled, func(r *llm.Request) { r.Decoding = sampledIn }), 0, "b15ad79908758ede2c349fd2e27195ae42ef00aff0b7654907187967c3eab0d1"},
		{"turns", scorer, with(question, func(r *llm.Request) {
			r.Prompt.Messages = []llm.Message{{Role: llm.System, Content: "Kurz. <&>"}, {Role: llm.User, Content: "Où? 東京 \u2028"}, {Role: llm.Assistant, Content: "?"}, {Role: llm.User, Content: "!"}}
		}), 0, "114893283a92cc50b414968b7cbe7b1fbbf7234abdc413f4b389711e72aca6ec"},
	} {
		if got := keyOf(t, tc.id, tc.req, tc.generation).String(); got != tc.want {
			t.Errorf("%s: key %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestEveryFieldIsInTheKey(t *testing.T) {
	t.Parallel()
	base := with(sampled, func(r *llm.Request) { r.Decoding = sampledIn })
	seen := map[ledger.Key]string{keyOf(t, scorer, base, 0): "the base", keyOf(t, scorer, base, 1): "the generation"}
	check := func(name string, k ledger.Key) {
		if other, ok := seen[k]; ok {
			t.Errorf("%s does not tell it from %s", name, other)
		}
		seen[k] = name
	}
	for name, change := range map[string]func(*llm.Request){
		"message":     func(r *llm.Request) { r.Prompt = llm.Chat("Which town?", "Answer:") },
		"role":        func(r *llm.Request) { r.Prompt.Messages = []llm.Message{{Role: llm.System, Content: "Which city?"}} },
		"opening":     func(r *llm.Request) { r.Prompt.Opening = "" },
		"text":        func(r *llm.Request) { r.Prompt = llm.Prompt{Text: "Which city?Answer:"} },
		"no bos":      func(r *llm.Request) { r.Prompt = llm.Prompt{Text: "Which city?Answer:", NoBOS: true} },
		"max tokens":  func(r *llm.Request) { r.Decoding.MaxTokens++ },
		"temperature": func(r *llm.Request) { r.Decoding.Temperature = math.Nextafter(0.7, 1) },
		"top-k":       func(r *llm.Request) { r.Decoding.TopK++ },
		"top-p":       func(r *llm.Request) { r.Decoding.TopP = 0.9 },
		"min-p":       func(r *llm.Request) { r.Decoding.MinP = 0 },
		"penalty":     func(r *llm.Request) { r.Decoding.RepetitionPenalty = 1.2 },
		"stop":        func(r *llm.Request) { r.Decoding.Stop = []string{"\n", "."} },
		"seed":        func(r *llm.Request) { r.Seed++ },
		"sample":      func(r *llm.Request) { r.Sample++ },
	} {
		check(name, keyOf(t, scorer, with(base, change), 0))
	}
	for name, change := range map[string]func(*llm.Identity){
		"engine":   func(id *llm.Identity) { id.Engine = "x" },
		"version":  func(id *llm.Identity) { id.Version = "b2" },
		"model":    func(id *llm.Identity) { id.Model = "n.gguf" },
		"weights":  func(id *llm.Identity) { id.Weights = "" },
		"mode":     func(id *llm.Identity) { id.Mode = "fast" },
		"settings": func(id *llm.Identity) { id.Settings = map[string]string{"cpu": "haswell"} },
	} {
		id := scorer
		change(&id)
		check(name, keyOf(t, id, base, 0))
	}
	check("the answer", keyOf(t, scorer, forced, 0))
	check("what is embedded", keyOf(t, scorer, embedded, 0))
	check("a blank before the answer", keyOf(t, scorer, with(forced, func(r *llm.Request) { r.Answer = "4" }), 0))
}

// Fields that came later must leave old keys alone, so all but the first ones are optional.
func TestLaterFieldsAreOptional(t *testing.T) {
	t.Parallel()
	first := map[string]bool{"engine": true, "model": true, "kind": true, "prompt": true, "role": true, "content": true, "max_tokens": true, "temperature": true}
	for _, v := range []any{llm.Identity{}, llm.Request{}, llm.Prompt{}, llm.Message{}, llm.Decoding{}, llm.Details{}} {
		for f := range reflect.TypeOf(v).Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "-" && !first[name] && options != "omitempty" && options != "omitzero" {
				t.Errorf("%T.%s has the tag %q: without omitempty it changes the key of every stored call", v, f.Name, f.Tag)
			}
		}
	}
}

func TestWhatCannotChangeAReplyDoesNotSplitTheKey(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]llm.Request{
		"seed and sample at temperature 0": {question, with(question, func(r *llm.Request) { r.Seed, r.Sample = 9, 4 })},
		"minus zero":                       {question, with(question, func(r *llm.Request) { r.Decoding.Temperature = math.Copysign(0, -1) })},
		"top-p 1":                          {sampled, with(sampled, func(r *llm.Request) { r.Decoding.TopP = 1 })},
		"penalty 1":                        {sampled, with(sampled, func(r *llm.Request) { r.Decoding.RepetitionPenalty = 1 })},
		"what a plan reads":                {sampled, with(sampled, func(r *llm.Request) { r.Usual = "Paris" })},
		"decoding of a score":              {forced, with(forced, func(r *llm.Request) { r.Decoding, r.Seed, r.Sample = sampledIn, 1, 2 })},
		"decoding of an embedding":         {embedded, with(embedded, func(r *llm.Request) { r.Decoding, r.Seed, r.Sample = sampledIn, 1, 2 })},
		"details of a score":               {forced, with(forced, func(r *llm.Request) { r.Details.End = true })},
		"no stop strings":                  {sampled, with(sampled, func(r *llm.Request) { r.Decoding.Stop = []string{} })},
	} {
		if keyOf(t, scorer, pair[0], 0) != keyOf(t, scorer, pair[1], 0) {
			t.Errorf("%s splits the key", name)
		}
	}
}

func TestNoKeyWithoutLosslessForm(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]llm.Request{
		"a byte that is no UTF-8":   with(question, func(r *llm.Request) { r.Prompt = llm.Chat("caf\xe9", "") }),
		"after backslashes":         with(question, func(r *llm.Request) { r.Prompt = llm.Chat(`a\\`+"\xff", "") }),
		"in a stop string":          with(question, func(r *llm.Request) { r.Decoding.Stop = []string{"\xc3"} }),
		"a temperature that is NaN": with(question, func(r *llm.Request) { r.Decoding.Temperature = math.NaN() }),
	} {
		if k, err := ledger.KeyOf(scorer, r, 0); err == nil {
			t.Errorf("%s has the key %v", name, k)
		}
	}
	for _, fine := range []string{"\ufffd", `\ufffd`, `\\ufffd`, "\x00\n\"", strings.Repeat(`\`, 7) + `ufffd\ufffd`} {
		if _, err := ledger.KeyOf(scorer, with(question, func(r *llm.Request) { r.Prompt = llm.Chat(fine, "") }), 0); err != nil {
			t.Errorf("%q: %v", fine, err)
		}
	}
}

func TestParseKey(t *testing.T) {
	t.Parallel()
	k := keyOf(t, scorer, question, 0)
	if got, err := ledger.ParseKey(k.String()); err != nil || got != k {
		t.Errorf("%v, %v", got, err)
	}
	for _, s := range []string{"", "00", k.String() + "00", strings.Repeat("g", 64)} {
		if _, err := ledger.ParseKey(s); err == nil {
			t.Errorf("%q is taken for a key", s)
		}
	}
}
