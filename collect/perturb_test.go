package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// batches is a sampler with planted candidates.
type batches [][]string

func (b batches) Batch(_ context.Context, _ record.Item, i int) ([]string, bool, error) {
	return b[min(i, len(b)-1)], true, nil
}

var capital = record.Item{
	ID: "1", Question: "What is the capital of Italy?", References: []string{"Rome"}, Choices: []string{"Rome", "Milan"}, Incorrect: []string{"Naples"},
}

func TestHostileCandidatesAreRefusedForTheirReason(t *testing.T) {
	t.Parallel()
	embed := llmtest.NewScripted(nil)
	p := &Perturbing{
		Sampler: batches{{
			"Trains cross the\nmountains.", "", "...", strings.Repeat("word ", 60), "In ROME, all is well.", "Milan is large.", "Many love Naples!",
			"What is the capital of Italy?", "the capital of Italy", "What is the capital of Italie", "Is it raining?", "trains cross, the mountains",
			"Trains cross the mountain.", "Some people collect old coins.", "Frogs sleep in winter.", "Kites fly best at noon.",
		}},
		Wanted: 3, AtLeast: 3, Batches: 5, MaxCharacters: 200, Embed: embed, K: .7,
	}
	got, err := p.Item(t.Context(), capital)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Trains cross the mountains.", "Some people collect old coins.", "Frogs sleep in winter."}; !slices.Equal(got.Kept, want) {
		t.Errorf("kept %q, want %q", got.Kept, want)
	}
	var refusals []consistency.Refusal
	for _, c := range got.Candidates {
		refusals = append(refusals, c.Refusal)
	}
	want := []consistency.Refusal{
		"", consistency.RefusedEmpty, consistency.RefusedEmpty, consistency.RefusedLong, consistency.RefusedReference, consistency.RefusedChoice, consistency.RefusedChoice,
		consistency.RefusedCopy, consistency.RefusedCopy, consistency.RefusedParaphrase, consistency.RefusedQuestion, consistency.RefusedRepeat,
		consistency.RefusedAlike, "", "", RefusedSurplus,
	}
	if !slices.Equal(refusals, want) {
		t.Errorf("refusals\n%q, want\n%q", refusals, want)
	}
	if got.Batches != 1 {
		t.Errorf("%d batches for what one gave", got.Batches)
	}
	for _, c := range embed.Calls() {
		if strings.Contains(c.Prompt.Text, "ROME") || strings.HasPrefix(c.Prompt.Text, "word word") {
			t.Errorf("embedded without need: %q", c.Prompt.Text)
		}
	}
}

func TestASamplerThatRepeatsItselfEndsInWords(t *testing.T) {
	t.Parallel()
	p := &Perturbing{Sampler: batches{{"Trains cross the mountains."}}, Wanted: 4, AtLeast: 2, Batches: 7, MaxCharacters: 200}
	_, err := p.Item(t.Context(), capital)
	var few *TooFewError
	if !errors.As(err, &few) {
		t.Fatal(err)
	}
	const want = "item 1: 1 of 4 perturbations after 7 batches (2 would do); of 7 candidates were refused: 6 repeats one that was kept"
	if err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	p.AtLeast = 1
	got, err := p.Item(t.Context(), capital)
	if err != nil || len(got.Kept) != 1 || got.Refusals()[consistency.RefusedRepeat] != 6 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAModelIsAskedInBatchesUntilThereAreEnough(t *testing.T) {
	t.Parallel()
	replies := []string{
		"Here you are:\n1. Trains cross the mountains.\n2. Rome was not built in a day.", "I would rather not.", "1. Frogs sleep in winter.\n2. Kites fly.\n3. Bees hum.",
	}
	model := sampled(func(sample int) string { return replies[sample] })
	p := &Perturbing{
		Sampler: &ModelSampler{Ask: model, Prompts: prompt.Default(), Number: 2, Decoding: llm.Decoding{MaxTokens: 100, Temperature: 1}, Seed: 3},
		Wanted:  3, AtLeast: 3, Batches: 5, MaxCharacters: 200,
	}
	got, err := p.Item(t.Context(), capital)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Trains cross the mountains.", "Frogs sleep in winter.", "Kites fly."}; !slices.Equal(got.Kept, want) || got.Batches != 3 {
		t.Errorf("kept %q after %d batches, want %q", got.Kept, got.Batches, want)
	}
	for i, r := range model.requests {
		if r.Sample != i || r.Seed != 3 || strings.Contains(r.Prompt.Messages[0].Content, "Rome") {
			t.Errorf("request %d is sample %d of seed %d: %s", i, r.Sample, r.Seed, r.Prompt.Messages[0].Content)
		}
	}
}

// sampled is an asker that says something for each sample.
func sampled(say func(sample int) string) *saying { return &saying{say: say} }

type saying struct {
	say      func(int) string
	requests []llm.Request
}

func (s *saying) Do(_ context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	for i, r := range reqs {
		s.requests = append(s.requests, r)
		results[i].Reply = llm.Reply{Text: s.say(r.Sample), Finish: llm.FinishEnd}
	}
	return results
}

func TestSnippetsAreDrawnWithoutReplacementAndBySeed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, number := rapid.IntRange(1, 60).Draw(t, "n"), rapid.IntRange(1, 9).Draw(t, "number")
		var all []string
		for i := range n {
			all = append(all, fmt.Sprint(i))
		}
		s := &Snippets{All: all, Number: number, Seed: rapid.Uint64().Draw(t, "seed")}
		var drawn []string
		for i, more := 0, true; more; i++ {
			var batch []string
			batch, more, _ = s.Batch(context.Background(), capital, i)
			again, _, _ := s.Batch(context.Background(), capital, i)
			if !slices.Equal(batch, again) {
				t.Fatalf("batch %d is %v and %v", i, batch, again)
			}
			drawn = append(drawn, batch...)
		}
		slices.Sort(drawn)
		slices.Sort(all)
		if !slices.Equal(drawn, all) {
			t.Fatalf("drawn %v of %v", drawn, all)
		}
	})
	s := &Snippets{All: BuiltinCorpus(), Number: 10, Seed: 1}
	a, _, _ := s.Batch(t.Context(), record.Item{ID: "a"}, 0)
	b, _, _ := s.Batch(t.Context(), record.Item{ID: "b"}, 0)
	s.Seed = 2
	c, _, _ := s.Batch(t.Context(), record.Item{ID: "a"}, 0)
	if slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("items or seeds share an order")
	}
	s.ByItem = map[string][]string{"a": {"own"}}
	if own, more, _ := s.Batch(t.Context(), record.Item{ID: "a"}, 0); !slices.Equal(own, []string{"own"}) || more {
		t.Errorf("an item's own text: %v, %v", own, more)
	}
}

func TestReadSnippets(t *testing.T) {
	t.Parallel()
	const text = "One two three four. Five six seven eight nine ten.\n\nA b.\nOne two three four. Five six seven eight nine ten.\n" +
		"a b c d e f g h i j k l m n o p\u202e\x00 q r s t u v w x y z\n"
	got, err := ReadSnippets(strings.NewReader(text), 8)
	want := []string{"One two three four. Five six seven eight nine ten.", "a b c d e f g h"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if _, err := ReadSnippets(strings.NewReader("a\n\xff\xfe"), 8); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("no UTF-8: %v", err)
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.IntRange(1, 20).Draw(t, "words")
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab .?\n"))).Draw(t, "text")
		list, err := ReadSnippets(strings.NewReader(text), words)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if n := len(strings.Fields(s)); 2*n < words || n > words+words/2 {
				t.Fatalf("a snippet of %d words where %d are meant: %q", n, words, s)
			}
		}
	})
}

func TestBuiltinTextsAreWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, list := range [][]string{BuiltinCorpus(), Premises()} {
		sorted := slices.Clone(list)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) != len(list) {
			t.Error("a sentence occurs twice")
		}
		for _, s := range list {
			if n := len(strings.Fields(s)); n < 7 || n > 18 || strings.ContainsAny(s, "?0123456789") || !strings.HasSuffix(s, ".") {
				t.Errorf("%d words: %q", n, s)
			}
		}
	}
	if len(BuiltinCorpus()) != 100 || len(Premises()) != 30 {
		t.Errorf("%d sentences, %d premises", len(BuiltinCorpus()), len(Premises()))
	}
}

func TestParaphrasesAreDistinctAndGiveNothingAway(t *testing.T) {
	t.Parallel()
	replies := []string{
		"1. Which city is Italy's capital?\n2. What is the capital of Italy?\n3. Is Rome the capital of Italy?\n4. WHICH city is Italy's capital",
		"1. Name the capital city of Italy.\n2. " + strings.Repeat("long ", 100) + "\n3. Italy has which capital?",
	}
	model := sampled(func(sample int) string { return replies[min(sample, 1)] })
	p := &Paraphrasing{Ask: model, Prompts: prompt.Default(), Wanted: 3, Number: 4, Batches: 4, Decoding: llm.Decoding{MaxTokens: 100, Temperature: 1}}
	got, err := p.All(t.Context(), []record.Item{capital}, Pace{Open: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Which city is Italy's capital?", "Name the capital city of Italy.", "Italy has which capital?"}
	if !slices.Equal(got[0].Kept, want) || got[0].Batches != 2 {
		t.Errorf("%+v", got[0])
	}
	if r := got[0].Refused; r[consistency.RefusedCopy] != 1 || r[consistency.RefusedReference] != 1 || r[consistency.RefusedLong] != 1 {
		t.Errorf("refused %v", r)
	}
	p.Wanted = 9
	if few, err := p.Text(t.Context(), capital.Question, nil); err != nil || few.Batches != 4 || len(few.Kept) >= 9 {
		t.Errorf("%+v, %v", few, err)
	}
}
