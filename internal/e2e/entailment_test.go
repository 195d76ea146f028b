package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llamacpp"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/weights"
)

// labelledPair is one line of testdata/entailment.jsonl: twenty pairs of each relation, written and
// labelled for this project.
type labelledPair struct {
	Premise, Hypothesis, Relation string
}

var relationNames = []string{"entails", "neither", "contradicts"}

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
		all, held := agreementOf(t, engine)
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
		t.Logf("%s (weights %s): all %s; held out %s; label (row) against choice (column), in the order %v: all %v, held out %v",
			name, files.SHA256[:8], all, held, relationNames, all.confusion, held.confusion)
	}
}

// agreement counts labels by choices.
type agreement struct {
	right, n  int
	confusion [3][3]int
}

func (a *agreement) add(label, choice int) {
	a.n++
	a.confusion[label][choice]++
	if label == choice {
		a.right++
	}
}

func (a agreement) String() string {
	v := metric.Proportion(a.right, a.n, .95)
	x, _ := v.Get()
	return fmt.Sprintf("%d of %d, %.2f [%.2f, %.2f]", a.right, a.n, x, v.Interval.Lower, v.Interval.Upper)
}

// agreementOf asks for the relation of all pairs as a study does. Held out are the second six of every twelve lines,
// which the wording was not chosen by.
func agreementOf(t *testing.T, engine llm.Engine) (all, held agreement) {
	t.Helper()
	list := labelledPairs(t)
	var pairs []collect.Pair
	for _, p := range list {
		pairs = append(pairs, collect.Pair{Premise: p.Premise, Hypothesis: p.Hypothesis})
	}
	found, err := collect.Entailment{Form: prompt.Chat}.All(t.Context(), engine, pairs, collect.Pace{Open: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range list {
		r := found[pairs[i]]
		if r.Missing != record.Present {
			t.Fatalf("%+v: %s", p, r.Missing)
		}
		choice := 0
		for k, x := range []float64{r.Entails, r.Neither, r.Contradicts} {
			if x > []float64{r.Entails, r.Neither, r.Contradicts}[choice] {
				choice = k
			}
		}
		label := slices.Index(relationNames, p.Relation)
		all.add(label, choice)
		if i/6%2 == 1 {
			held.add(label, choice)
		}
	}
	return all, held
}
