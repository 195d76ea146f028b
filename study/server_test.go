package study

import (
	"errors"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/llm/openai"
)

const served = `name: s
datasets: [{name: facts}]
models:
  - name: big
    engine: vllm
    url: http://127.0.0.1:8000
    model: org/big
    key_env: BIG_KEY
    concurrency: 64
    requests_per_minute: 600
`

func TestModelOfAServer(t *testing.T) {
	t.Parallel()
	f, err := Parse("s.yaml", []byte(served))
	if err != nil {
		t.Fatal(err)
	}
	want := Server{URL: "http://127.0.0.1:8000", Served: "org/big", KeyEnv: "BIG_KEY", Concurrency: 64, RequestsPerMinute: 600}
	if d := cmp.Diff(want, f.Models[0].Server); d != "" || !f.Models[0].OnServer() || !f.Models[0].Loopback() {
		t.Error(d)
	}
	// The effective file reads back as the same study, and says nothing of weights.
	text, err := yaml.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again.yaml", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if d := cmp.Diff(f.Models, again.Models); d != "" || strings.Contains(string(text), "weights") {
		t.Errorf("%s\n%s", d, text)
	}
}

func TestServersThatCannotBe(t *testing.T) {
	t.Parallel()
	for change, want := range map[[2]string]string{
		{"    url: http://127.0.0.1:8000\n", ""}:            "has no server",
		{"engine: vllm", "engine: llamacpp"}:                "settings of a server",
		{"key_env: BIG_KEY", "key: sk-secret"}:              `unknown key "key"`,
		{"key_env: BIG_KEY", "weights: a.gguf"}:             "a server's own business",
		{"key_env: BIG_KEY", "key_env: A\n    key_file: b"}: "both say",
		{"http://127", "http://me:secret@127"}:              "more than the address",
		{"concurrency: 64", "concurrency: -1"}:              "between 0 and",
		{"concurrency: 64", "thinking: maybe"}:              "unknown thinking",
		{"requests_per_minute", "request_per_minute"}:       `did you mean "requests_per_minute"`,
	} {
		_, err := Parse("s.yaml", []byte(strings.Replace(served, change[0], change[1], 1)))
		var wrong *InputError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") && !strings.Contains(want, "key") {
			t.Errorf("%q: %v, want %q", change[1], err, want)
		}
	}
}

func TestVerdictOnAServer(t *testing.T) {
	t.Parallel()
	good := openai.Finding{Check: "one", State: openai.Good}
	doubt := openai.Finding{Check: "two", State: openai.Doubtful, Found: "so so", Affects: []string{"token confidence"}}
	samples := openai.Finding{Check: "three", State: openai.Bad, Found: "all alike", Affects: []string{"samples"}}
	untrue := openai.Finding{Check: "four", State: openai.Bad, Found: "made up", Affects: []string{"token confidence"}}
	words, err := verdict([]openai.Finding{good, doubt, samples})
	if want := "a server; of 3 checks at the start 1 hold; two: so so; three: all alike"; words != want || err != nil {
		t.Errorf("%q, %v", words, err)
	}
	if _, err := verdict([]openai.Finding{good, untrue}); err == nil || !strings.Contains(err.Error(), "made up") {
		t.Errorf("%v", err)
	}
}
