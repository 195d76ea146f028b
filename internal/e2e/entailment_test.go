package e2e

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llamacpp"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/weights"
)

// labelledPair is one line of testdata/entailment.jsonl: twenty pairs of each relation, written and
// labelled for this project.
type labelledPair struct {
	Premise, Hypothesis, Relation string
}

var relationNames = []string{prompt.Entails: "entails", prompt.Neither: "neither", prompt.Contradicts: "contradicts"}

func labelledPairs(t *testing.T) []labelledPair {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "entailment.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var list []labelledPair
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var p labelledPair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

func TestLabelledPairsAreBalancedAndApart(t *testing.T) {
	t.Parallel()
	count, seen := map[string]int{}, map[[2]string]bool{}
	for _, p := range labelledPairs(t) {
		if !slices.Contains(relationNames, p.Relation) || p.Premise == p.Hypothesis || seen[[2]string{p.Premise, p.Hypothesis}] {
			t.Errorf("%+v", p)
		}
		seen[[2]string{p.Premise, p.Hypothesis}] = true
		count[p.Relation]++
	}
	for _, name := range relationNames {
		if count[name] != 20 {
			t.Errorf("%d pairs that one %s the other", count[name], name)
		}
	}
}

// TestEntailmentOfTheEmbeddedModels measures what the forced choice of the embedded models is worth: how
// often it is the label of a person. docs/entailment.md has the figures.
func TestEntailmentOfTheEmbeddedModels(t *testing.T) {
	if os.Getenv("CREDENCE_STRESS") == "" {
		t.Skip("CREDENCE_STRESS is not set: the measurement takes minutes")
	}
	cache, err := weights.Open(weights.Options{Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"qwen2.5-coder-0.5b-instruct", "qwen2.5-coder-1.5b-instruct"} {
		files, err := cache.Ensure(t.Context(), name)
		if err != nil {
			t.Logf("%s is not on this machine: %v", name, err)
			continue
		}
		engine, err := llamacpp.New(llamacpp.Config{LibraryDir: files.Library, Weights: files.Weights, WeightsSHA256: files.SHA256})
		if err != nil {
			t.Fatal(err)
		}
		right, confusion := agreementOf(t, engine)
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
		t.Logf("%s: %d of 60 as labelled; label (row) against choice (column), in the order %v: %v", name, right, relationNames, confusion)
	}
}

func agreementOf(t *testing.T, engine llm.Engine) (right int, confusion [3][3]int) {
	t.Helper()
	for _, p := range labelledPairs(t) {
		ask, err := prompt.Entailment(prompt.Chat, "", p.Premise, p.Hypothesis)
		if err != nil {
			t.Fatal(err)
		}
		requests := make([]llm.Request, prompt.EntailmentOptions)
		for i := range requests {
			requests[i] = llm.Request{Kind: llm.Score, Prompt: ask, Answer: prompt.Option(i)}
		}
		best, most := 0, math.Inf(-1)
		for i, result := range engine.Do(t.Context(), requests) {
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			sum := 0.
			for _, token := range result.Reply.Tokens {
				sum += token.LogProb
			}
			if sum > most {
				best, most = i, sum
			}
		}
		label := slices.Index(relationNames, p.Relation)
		confusion[label][best]++
		if label == best {
			right++
		}
	}
	return right, confusion
}
