package cli_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"strconv"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/study"
)

// scripted opens a model without weights that knows the built-in questions and those of the scripts:
// it is right on two in three, states more when it is right, and its tokens are likelier in the guess
// slot. CREDENCE_TEST_FAIL=N makes its N-th call fail, CREDENCE_TEST_DIE=N ends the process there as
// a kill would, CREDENCE_TEST_INTERRUPT=N interrupts it there as a person would and answers once the run was told
// to stop; with CREDENCE_TEST_INTERRUPT_TWICE it never answers and the person goes on.
type scripted struct{}

func (scripted) Open(_ context.Context, m study.Model) (study.Opened, error) {
	if m.Engine != "llamacpp" {
		return study.Opened{}, fmt.Errorf("there is no engine %q", m.Engine)
	}
	planted, err := plantedItems()
	if err != nil {
		return study.Opened{}, err
	}
	return study.Opened{
		Engine:            llmtest.NewQuiz(planted, disturbed(m.Weights)...),
		RepetitionPenalty: 1.1,
		PenaltySource:     "a script",
		Licence:           "none",
		Speed:             study.Speed{Prompt: 100, Generate: 20, Where: "paper"},
		Memory:            12e6,
		MemoryFor:         "12 MB: paper",
	}, nil
}

// disturbed are the options of an engine of some weights that breaks where the variables say so.
func disturbed(weights string) []llmtest.Option {
	options := []llmtest.Option{llmtest.Named(weights)}
	if n := number("CREDENCE_TEST_FAIL"); n > 0 {
		options = append(options, llmtest.FailOn(n, errors.New("the engine broke")))
	}
	if n := number("CREDENCE_TEST_DIE"); n > 0 {
		options = append(options, llmtest.Interrupted(func(_ context.Context, call int, _ llm.Request) error {
			if call == n {
				os.Exit(137)
			}
			return nil
		}))
	}
	if n := number("CREDENCE_TEST_INTERRUPT"); n > 0 {
		options = append(options, llmtest.Interrupted(func(ctx context.Context, call int, _ llm.Request) error {
			if call == n {
				interrupt(ctx)
			}
			return nil
		}))
	}
	return options
}

// OpenEmbeddings opens vectors of the letters of a text.
func (scripted) OpenEmbeddings(_ context.Context, e study.Embeddings) (llm.Engine, error) {
	return llmtest.NewScripted(nil, disturbed(e.Weights)...), nil
}

func (scripted) OpenEntailment(context.Context, study.Entailment) (llm.Engine, error) {
	return nil, errors.New("nobody judges entailment")
}

func interrupt(ctx context.Context) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		panic(err)
	}
	for first := true; first || os.Getenv("CREDENCE_TEST_INTERRUPT_TWICE") != ""; first = false {
		if err := self.Signal(os.Interrupt); err != nil {
			panic(err)
		}
		<-llm.Stop(ctx).Done()
	}
}

func (s scripted) Describe(m study.Model) (study.Opened, string, error) {
	opened, err := s.Open(context.Background(), m)
	return opened, "", err
}

func plantedItems() ([]llmtest.Item, error) {
	facts, err := dataset.Builtin("facts")
	if err != nil {
		return nil, err
	}
	var planted []llmtest.Item
	for _, item := range facts.Items {
		chance := hashed(item.ID)
		correct := chance < 2./3
		stated := math.Round(100*(.5+.3*chance)) / 100
		if correct {
			stated += .2
		}
		planted = append(planted, llmtest.Confident(item, correct, stated,
			llmtest.Level{Opening: "", LogProb: math.Log(.1 + .3*hashed(item.ID+"bare"))},
			llmtest.Level{Opening: "Guess:", LogProb: math.Log(stated)},
		))
	}
	for q, reply := range map[string]string{
		"What is the capital of France?":  "Guess: Paris\nProbability: 0.9",
		"What is the capital of Finland?": "Guess: Oslo\nProbability: 0.4",
		"Say nothing.":                    "I would rather not.",
	} {
		planted = append(planted, llmtest.Item{Question: q, Reply: reply})
	}
	// It knows three ways to say each statement whose paraphrases calibrate the filter of perturbations.
	for i, premise := range collect.Premises() {
		planted = append(planted, llmtest.Item{Question: premise, Reply: fmt.Sprintf("1. Statement number %d in the first of all its ways\n2. Statement number %d in the second of all its ways\n3. Statement number %d in the third of all its ways", i, i, i)})
	}
	return planted, nil
}

// hashed is a number in [0,1) that depends on text alone.
func hashed(text string) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return float64(h.Sum64()>>11) / (1 << 53)
}

func number(variable string) int {
	n, _ := strconv.Atoi(os.Getenv(variable))
	return n
}
