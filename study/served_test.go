package study_test

import (
	"context"
	"net/http"
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
func serverModel(t *testing.T) *llmtest.Scripted {
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
		planted = append(planted, llmtest.Confident(item, i%3 != 0, .6+.05*float64(i%7)))
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
