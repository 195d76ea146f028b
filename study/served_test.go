package study_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
	"github.com/credence-lab/credence/study"
)

// servedStudy asks a model that a server runs.
const servedStudy = "name: x\nmodels:\n- {name: a, engine: vllm, url: \"http://server\", model: scripted/model}\ndatasets:\n- {name: facts, limit: 6}\nanalysis: {resamples: 0}\n"

// serverModel answers the built-in questions, and what the check of a server asks.
func serverModel(t *testing.T) *llmtest.Scripted { return servedModel(t, false) }

// servedModel is serverModel; a terse one writes the answer alone where no other words are wanted.
func servedModel(t *testing.T, terse bool) *llmtest.Scripted {
	t.Helper()
	facts, err := dataset.Builtin("facts")
	if err != nil {
		t.Fatal(err)
	}
	planted := []llmtest.Item{{
		Question: "Name the planets of the solar system, one after another.",
		Answer:   "Mercury, Venus",
		Replies: []llmtest.Reply{{Choices: []llmtest.Choice{
			{Text: "Mercury, Venus", Weight: 3}, {Text: "Jupiter", Weight: 2}, {Text: "Neptune and", Weight: 2}, {Text: "All of", Weight: 2}, {Text: "Eight of", Weight: 2},
		}}},
		Levels: []llmtest.Level{{LogProb: -.2}, {Answer: "Xylophone quota", LogProb: -7}},
	}}
	for i, item := range facts.Items {
		confident := llmtest.Confident(item, i%3 != 0, .6+.05*float64(i%7))
		if terse {
			confident.Replies = []llmtest.Reply{{User: "no other words", Choices: []llmtest.Choice{{Text: confident.Answer}}}}
		}
		planted = append(planted, confident)
	}
	return llmtest.NewQuiz(planted, llmtest.ContextOf(2048))
}

// serverOpener asks a handler without a network, so that time in a test can be made up.
type serverOpener struct{ handler http.Handler }

func (o serverOpener) Open(ctx context.Context, m study.Model) (study.Opened, error) {
	engine, err := openai.Open(ctx, openai.Config{
		URL: m.URL, Dialect: openai.Dialect(m.Engine), Model: m.Served, Transport: fake.Direct{Handler: o.handler},
		Timeout: time.Minute, Deadline: time.Hour,
	})
	if err != nil {
		return study.Opened{}, err
	}
	return study.ServedBy(engine), nil
}

// runServed runs a study through a handler.
func runServed(t *testing.T, folder string, f *study.File, handler http.Handler) (*study.Results, *study.RunInfo) {
	t.Helper()
	results, info, err := study.Run(t.Context(), f, study.Options{Folder: folder, Open: serverOpener{handler}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return results, info
}

// TestServersGiveAlternativesAndEnds quantifies over what servers tell of tokens besides their values. What one was
// started without, or tells fewer of, is said before its first call.
func TestServersGiveAlternativesAndEnds(t *testing.T) {
	t.Parallel()
	const quantifiers = "quantifiers: [token-entropy, token-negentropy, probability-margin, log-probability.end, token-entropy.end]\nsampling: {samples: 2}\n"
	for _, c := range []struct {
		engine string
		lies   fake.Lies
		note   string // part of one; none if empty
		none   bool   // no value of those that read alternatives
	}{
		{engine: "vllm"}, {engine: "sglang"}, {engine: "sglang-openai"},
		{engine: "tgi", note: "5 alternatives to each token"},
		{engine: "vllm", lies: fake.Lies{MostCandidates: 6}, note: "5 alternatives to each token"},
		{engine: "vllm", lies: fake.Lies{MostCandidates: 1}, note: "no value of probability-margin: no alternatives", none: true},
	} {
		text := strings.Replace(servedStudy, "engine: vllm", "engine: "+c.engine, 1) + quantifiers
		handler := fake.New(c.engine, servedModel(t, true), c.lies)
		var notes []string
		folder := t.TempDir()
		results, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: serverOpener{handler}, Version: "test", Note: func(about, note string) { notes = append(notes, about+": "+note) }})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"token-entropy", "token-negentropy", "probability-margin", "log-probability.end", "token-entropy.end"} {
			_, missing := valueOf(t, results.Uncertainty[0], id)
			switch lacks := c.none && id != "log-probability.end"; {
			case lacks && missing["no alternatives"] != 6, !lacks && len(missing) > 0:
				t.Errorf("%s, %q: %s is missing %v", c.engine, c.note, id, missing)
			}
		}
		said := strings.Join(notes, "\n")
		if strings.Contains(said, "alternatives") != (c.note != "") || !strings.Contains(said, c.note) {
			t.Errorf("%s: notes %q, want %q", c.engine, notes, c.note)
		}
		if card := read(t, folder, "card.md"); strings.Contains(card, "alternatives to each token, as") != (c.note != "" && !c.none) {
			t.Errorf("%s, %q: the card says otherwise than the notes", c.engine, c.note)
		}
	}
}
