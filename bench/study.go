package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llamacpp"
	"github.com/credence-lab/credence/study"
)

// study runs the built-in study on more items, with an engine that is watched. It holds the tokens that were
// decoded against those that all texts have, the time against what the engine's own rates make of the tokens,
// and the peak of memory. Then the same answers are scored again, alone, for the peers.
func (b *bench) study(ctx context.Context) error {
	fmt.Printf("Built-in study, %d items, four contexts\n", b.items)
	f := study.Quickstart()
	f.Datasets[0] = study.Data{Name: "facts-120", Limit: b.items}
	folder, err := os.MkdirTemp("", "credence-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	w := &watch{config: b.config}
	if _, _, err := study.Run(ctx, f, study.Options{Folder: folder, Open: w}); err != nil {
		return err
	}
	peak, known := peakMB()
	if known {
		wanted("peak of memory", peak, "MB", peak < 900, "< 900")
	}
	all := w.work.Decoded + w.work.Shared
	ratio := float64(all) / float64(w.work.Decoded)
	told("tokens of all texts", float64(all), "tokens")
	told("tokens decoded", float64(w.work.Decoded), "tokens")
	wanted("tokens of all texts for each decoded one", ratio, "", ratio >= 3, ">= 3")
	if err := b.pace(ctx, w); err != nil {
		return err
	}
	if err := b.again(ctx, w.scored); err != nil {
		return err
	}
	fmt.Println()
	return nil
}

// pace holds the study's time against the rates that the engine has for prompts and for generation in
// batches.
func (b *bench) pace(ctx context.Context, w *watch) error {
	prompt, err := b.promptRate(ctx)
	if err != nil {
		return err
	}
	generate, err := b.generationRate(ctx, sideBySide)
	if err != nil {
		return err
	}
	read := float64(w.work.Decoded) - float64(w.generated)
	expected := read/prompt + float64(w.generated)/generate
	told("prompt rate, texts of 512 tokens", prompt, "tokens/s")
	told(fmt.Sprintf("generation rate, %d texts at once", sideBySide), generate, "tokens/s")
	told("time of loading and asking", w.took.Seconds(), "s")
	over := w.took.Seconds() / expected
	wanted(fmt.Sprintf("time for each second that the rates give (%.1f s)", expected), over, "", over <= 1.25, "<= 1.25")
	return nil
}

// sideBySide is how many items a study has open.
const sideBySide = 16

// again scores what the study scored, by a new engine, as one caller who asks for all at once.
func (b *bench) again(ctx context.Context, scored []llm.Request) (err error) {
	e, err := llamacpp.New(b.config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := warm(ctx, e); err != nil {
		return err
	}
	start := time.Now()
	results := e.Do(ctx, scored)
	took := time.Since(start).Seconds()
	answers := make([]exported, len(results))
	for i, r := range results {
		if r.Err != nil {
			return r.Err
		}
		answers[i].Prompt = r.Reply.PromptIDs
		for _, t := range r.Reply.Tokens {
			answers[i].Answer = append(answers[i].Answer, t.ID)
			answers[i].LogProbs = append(answers[i].LogProbs, t.LogProb)
		}
	}
	rate := float64(len(answers)) / took
	told(fmt.Sprintf("the study's %d answers scored again", len(answers)), rate, "answers/s")
	if b.export == "" {
		return nil
	}
	data, err := json.Marshal(peerFile{b.config.Weights, b.config.LibraryDir, e.Identity().Settings["cpu"], rate, answers})
	if err != nil {
		return err
	}
	return os.WriteFile(b.export, data, 0o600)
}

// peerFile is what the peers read: token ids, and what this engine made of them.
type peerFile struct {
	Weights string `json:"weights"`
	// Library is the folder of the engine's libraries, CPU the variant in use: the server computes with them.
	Library string     `json:"library"`
	CPU     string     `json:"cpu"`
	Rate    float64    `json:"answers_per_second"`
	Answers []exported `json:"answers"`
}

type exported struct {
	Prompt   []int32   `json:"prompt"`
	Answer   []int32   `json:"answer"`
	LogProbs []float64 `json:"log_probs"`
}

// watch opens the engine and keeps what was asked of it.
type watch struct {
	config llamacpp.Config

	mu        sync.Mutex
	scored    []llm.Request
	generated int64
	asked     time.Time
	work      llamacpp.Work
	took      time.Duration
}

func (w *watch) Open(context.Context, study.Model) (study.Opened, error) {
	e, err := llamacpp.New(w.config)
	return study.Opened{Engine: &watched{e, w}}, err
}

type watched struct {
	*llamacpp.Engine
	of *watch
}

func (e *watched) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	e.of.mu.Lock()
	if e.of.asked.IsZero() {
		e.of.asked = time.Now()
	}
	e.of.mu.Unlock()
	results := e.Engine.Do(ctx, reqs)
	e.of.mu.Lock()
	defer e.of.mu.Unlock()
	for i, r := range results {
		switch {
		case r.Err != nil:
		case reqs[i].Kind == llm.Score:
			e.of.scored = append(e.of.scored, reqs[i])
		default:
			e.of.generated += int64(len(r.Reply.Tokens))
		}
	}
	e.of.work, e.of.took = e.Work(), time.Since(e.of.asked)
	return results
}
