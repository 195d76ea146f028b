package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llamacpp"
	"github.com/credence-lab/credence/study"
	"github.com/credence-lab/credence/weights"
)

// engineFlags are the flags of every command that uses the embedded engine.
type engineFlags struct {
	library string
	offline bool
	threads int
	memory  memoryFlag
	layers  int
}

func (f *engineFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.library, "engine-library", os.Getenv("CREDENCE_ENGINE_LIBRARY"), "`folder` of llama.cpp's shared libraries, instead of fetching them (CREDENCE_ENGINE_LIBRARY)")
	cmd.Flags().BoolVar(&f.offline, "offline", offlineByDefault(), "use nothing but what is on this machine (CREDENCE_OFFLINE)")
	cmd.Flags().IntVar(&f.threads, "threads", 0, "threads to compute with; 0 takes one per core")
	cmd.Flags().Var(&f.memory, "memory", "most memory that a model may take, a `size` such as 2GB; what does not fit is refused at once")
	cmd.Flags().IntVar(&f.layers, "gpu-layers", 0, "`layers` that a GPU computes, with an --engine-library that can; 0 takes what the study says")
}

// offlineByDefault is what CREDENCE_OFFLINE says: anything but nothing, 0 and false.
func offlineByDefault() bool {
	value := os.Getenv("CREDENCE_OFFLINE")
	said, err := strconv.ParseBool(value)
	return said || err != nil && value != ""
}

// embedded opens models in process: weights and libraries from the cache, fetched where missing.
type embedded struct {
	cache *weights.Cache
	flags engineFlags
}

func (a *app) newEmbedded(flags engineFlags) (*embedded, error) {
	if flags.threads < 0 {
		return nil, usagef("--threads %d is negative; 0 takes one per core", flags.threads)
	}
	if flags.threads > study.MaxThreads {
		return nil, usagef("--threads %d is more than %d; 0 takes one per core", flags.threads, study.MaxThreads)
	}
	if flags.layers < 0 {
		return nil, usagef("--gpu-layers %d is negative; 0 takes what the study says", flags.layers)
	}
	cache, err := weights.Open(weights.Options{
		Offline:       flags.offline,
		EngineLibrary: flags.library,
		Reporter:      a.newReporter(),
	})
	return &embedded{cache, flags}, err
}

// Open fetches what is missing and makes the engine; the weights are read at the first call.
func (e *embedded) Open(ctx context.Context, m study.Model) (study.Opened, error) {
	if err := e.accepts(m); err != nil {
		return study.Opened{}, err
	}
	paths, err := e.cache.Ensure(ctx, m.Weights)
	if err != nil {
		return study.Opened{}, err
	}
	return e.open(m, paths)
}

// prepare fetches what is missing and returns how the engine would be made.
func (e *embedded) prepare(ctx context.Context, m study.Model) (llamacpp.Config, error) {
	paths, err := e.cache.Ensure(ctx, m.Weights)
	if err != nil {
		return llamacpp.Config{}, err
	}
	return e.config(m, paths), nil
}

// open makes the engine of a model whose parts are there.
func (e *embedded) open(m study.Model, paths weights.Paths) (study.Opened, error) {
	engine, err := llamacpp.New(e.config(m, paths))
	if err != nil {
		return study.Opened{}, err
	}
	memory := engine.Memory()
	opened := study.Opened{Engine: engine, Memory: memory.Total(), MemoryFor: memory.String()}
	if paths.Model != nil {
		describe(&opened, *paths.Model)
	}
	opened.Verify = func(ctx context.Context) (study.Verified, error) {
		matrix, err := engine.Exactness(ctx)
		if matrix == nil || err != nil {
			return study.Verified{}, err
		}
		return study.Verified{Words: exactnessWords(matrix)}, nil
	}
	return opened, nil
}

// exactnessWords say what the exactness matrix gave.
func exactnessWords(m *llamacpp.Matrix) string {
	if m.Exact() {
		return fmt.Sprintf("measured at start: all %d cases equal to the last bit", len(m.Rows))
	}
	equal := 0
	for _, r := range m.Rows {
		if r.Exact {
			equal++
		}
	}
	return fmt.Sprintf("measured at start: %d of %d cases equal to the last bit, the others up to %.2g nats apart: values are not reproducible",
		equal, len(m.Rows), m.Nats())
}

// Describe is Open for a plan: where something would have to be fetched, a stand-in states what the
// catalogue knows of the model.
func (e *embedded) Describe(m study.Model) (study.Opened, string, error) {
	if err := e.accepts(m); err != nil {
		return study.Opened{}, "", err
	}
	local, err := weights.Open(weights.Options{Offline: true, EngineLibrary: e.flags.library})
	if err != nil {
		return study.Opened{}, "", err
	}
	paths, err := local.Ensure(context.Background(), m.Weights)
	var missing *weights.UnavailableError
	switch {
	case err == nil:
		opened, err := e.open(m, paths)
		return opened, "", err
	case !errors.As(err, &missing):
		return study.Opened{}, "", err
	}
	entry, err := local.Catalogue().Model(m.Weights)
	if err != nil {
		return study.Opened{}, "", err
	}
	opened := study.Opened{Engine: absent{entry}}
	describe(&opened, entry)
	return opened, fmt.Sprintf("to fetch first: %s", missing.Name), nil
}

func (e *embedded) accepts(m study.Model) error {
	if m.Engine != "llamacpp" {
		return usagef("model %s: there is no engine %q; use \"llamacpp\", or the kind of a server that docs/servers.md lists", m.Name, m.Engine)
	}
	if entry, err := e.cache.Catalogue().Model(m.Weights); err == nil && entry.Embedding != nil {
		return usagef("model %s: %s gives vectors for texts and writes none; choose a model whose kind in \"credence models\" is chat or base", m.Name, entry.Name)
	}
	return nil
}

func (e *embedded) config(m study.Model, paths weights.Paths) llamacpp.Config {
	threads := m.Threads
	if e.flags.threads > 0 {
		threads = e.flags.threads
	}
	limit, err := study.ParseMemory(m.Memory)
	if err != nil {
		limit = 0 // refused when the file was checked
	}
	if e.flags.memory.bytes > 0 {
		limit = e.flags.memory.bytes
	}
	layers := m.GPULayers
	if e.flags.layers > 0 {
		layers = e.flags.layers
	}
	return llamacpp.Config{
		LibraryDir:    paths.Library,
		Weights:       paths.Weights,
		WeightsSHA256: paths.SHA256,
		Mode:          llamacpp.Mode(m.Mode),
		CPU:           m.CPU,
		Threads:       threads,
		ContextTokens: m.ContextTokens,
		MemoryLimit:   limit,
		GPULayers:     layers,
	}
}

// memoryFlag is a size of memory on the command line.
type memoryFlag struct {
	said  string
	bytes int64
}

func (f *memoryFlag) String() string { return f.said }
func (f *memoryFlag) Type() string   { return "size" }

func (f *memoryFlag) Set(said string) (err error) {
	f.said = said
	f.bytes, err = study.ParseMemory(said)
	return err
}

// describe adds what the catalogue knows of a model.
func describe(o *study.Opened, m weights.Model) {
	o.Licence = m.Licence.Name
	if g := m.Generation; g != nil {
		o.RepetitionPenalty, o.PenaltySource = g.RepetitionPenalty, g.Source
	}
	if s := m.Speed; s != nil {
		o.Speed = study.Speed{Prompt: s.Prompt, Generate: s.GenerateTen, Where: "two idle cores"}
	}
}

// absent stands for a model of the catalogue that is not on this machine.
type absent struct{ model weights.Model }

func (a absent) Identity() llm.Identity {
	return llm.Identity{Engine: "llamacpp", Model: a.model.File, Weights: a.model.SHA256}
}

func (a absent) Capabilities() llm.Capabilities {
	return llm.Capabilities{Generate: true, Score: true, Chat: a.model.Chat, Seeds: true}
}

func (a absent) Do(_ context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	for i := range results {
		results[i].Err = fmt.Errorf("%s is not on this machine", a.model.Name)
	}
	return results
}

func (a absent) Close() error { return nil }

// weightsName is the model name of a weights flag: a file's name without its ending.
func weightsName(weights string) string {
	name := weights[strings.LastIndexAny(weights, `/\`)+1:]
	return strings.TrimSuffix(name, ".gguf")
}
