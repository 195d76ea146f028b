package study

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// Plan says what a run would ask, without asking anything.
type Plan struct {
	Settings []SettingPlan `json:"settings"`
}

// SettingPlan is the plan of one setting. Tokens and time are estimates. Calls are exact for the main
// comparison as long as replies can be read; with further parts they are an upper bound, since an answer
// that repeats another or a reference is scored once.
type SettingPlan struct {
	Setting record.Setting `json:"setting"`
	Items   int            `json:"items"`
	// Calls to make, and calls that the ledger knows already.
	Calls int64 `json:"calls"`
	Known int64 `json:"known"`
	// PromptTokens to read at most: what begins alike is read once. GeneratedTokens to write.
	PromptTokens    int64 `json:"prompt_tokens"`
	GeneratedTokens int64 `json:"generated_tokens"`
	// Seconds at the speed of SpeedOf; 0 if no speed is known.
	Seconds float64 `json:"seconds"`
	SpeedOf string  `json:"speed_of,omitempty"`
	// Money that the calls cost at most, in Currency; absent without a price.
	Money    *float64 `json:"money,omitempty"`
	Currency string   `json:"currency,omitempty"`
	// MemoryBytes is what the model takes at most while it is loaded, MemoryFor what for; models are loaded one
	// at a time. 0 if it is not known, since the weights are not there.
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
	MemoryFor   string `json:"memory_for,omitempty"`
	// Unsupported are the quantifiers that the model does not support: their values will be missing.
	Unsupported []Unsupported `json:"unsupported,omitempty"`
	// Note says what has to happen before, such as a download; may be empty.
	Note string `json:"note,omitempty"`
}

// Planner describes a model without fetching or loading it. An Opener that is also a Planner can plan.
type Planner interface {
	// Describe returns the model with an engine that states identity and capabilities and is never
	// asked; note says what a run would have to fetch first.
	Describe(m Model) (o Opened, note string, err error)
}

// MakePlan runs the code of a study over the folder's ledger, read only, with an engine that returns
// replies of typical length.
func MakePlan(ctx context.Context, f *File, folder string, planner Planner) (_ *Plan, err error) {
	r := newRunner(f)
	if r.prompts, err = f.promptSet(); err != nil {
		return nil, err
	}
	if r.data, err = loadData(ctx, f.Datasets); err != nil {
		return nil, err
	}
	if err := r.readyForConsistency(); err != nil {
		return nil, err
	}
	if err := r.readImports(ctx); err != nil { // what a run would refuse
		return nil, err
	}
	known, err := openKnown(filepath.Join(folder, ledgerFile))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, known.Close()) }()
	plan := &Plan{}
	for _, p := range f.passes() {
		m := f.Models[p.model]
		if err := r.planModel(ctx, plan, known, planner, m, p.stage); err != nil {
			return nil, fmt.Errorf("model %s: %w", m.Name, err)
		}
	}
	r.gather()
	if err := r.planCross(ctx, plan, known, planner); err != nil {
		return nil, err
	}
	for _, stage := range f.sourceStages() {
		if err := r.planSource(ctx, plan, known, planner, stage); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// openKnown opens the ledger of an earlier run, or an empty one.
func openKnown(path string) (*ledger.Ledger, error) {
	l, err := ledger.OpenReadOnly(path)
	if errors.Is(err, os.ErrNotExist) {
		return ledger.InMemory(), nil
	}
	return l, err
}

func (r *runner) planModel(ctx context.Context, plan *Plan, known *ledger.Ledger, planner Planner, m Model, stage Stage) (err error) {
	opened, note, err := planner.Describe(m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Engine.Close()) }()
	described, err := withForm(m, opened, r.file.Protocol.MaxTokens, r.file.mustAsk()...)
	if err != nil {
		return err
	}
	p := r.plans[m.Name]
	if p == nil {
		p = &planned{stand: &typical{identity: opened.Engine.Identity(), can: opened.Engine.Capabilities()}}
		p.ask = known.Peek(p.stand)
		r.plans[m.Name] = p // later stages know what the earlier ones have asked
	}
	stand, ask := p.stand, p.ask
	stand.distinct = stage == StageUncertainty // nothing is under way
	for _, d := range r.dataOf(m) {
		before := p.count()
		if err := r.askSetting(ctx, described, ask, d, stage, func(int, int) {}); err != nil {
			return err
		}
		p := p.count().since(before)
		p.Setting, p.Items, p.Note = settingOf(described, d), len(d.Items), note
		p.Unsupported = r.file.unsupported(described.capabilities())
		p.MemoryBytes, p.MemoryFor = opened.Memory, opened.MemoryFor
		if s := opened.Speed; s.Prompt > 0 && s.Generate > 0 {
			took := float64(p.PromptTokens)/s.Prompt + float64(p.GeneratedTokens)/s.Generate
			p.Seconds, p.SpeedOf = time.Duration(took*float64(time.Second)).Round(time.Second).Seconds(), s.Where
		}
		p.charge(m.Price)
		plan.add(p)
	}
	return nil
}

// planned is a model as far as it has been asked in a plan.
type planned struct {
	stand *typical
	ask   *ledger.Asker
}

func (p *planned) count() SettingPlan {
	p.stand.mu.Lock()
	defer p.stand.mu.Unlock()
	return SettingPlan{Calls: p.ask.Counts().Made, Known: p.ask.Known(), PromptTokens: p.stand.prompt, GeneratedTokens: p.stand.generated}
}

func (s SettingPlan) since(before SettingPlan) SettingPlan {
	s.Calls -= before.Calls
	s.Known -= before.Known
	s.PromptTokens -= before.PromptTokens
	s.GeneratedTokens -= before.GeneratedTokens
	return s
}

// SourcePlanner is a Planner that also describes sources of entailment and embeddings.
type SourcePlanner interface {
	DescribeEmbeddings(e Embeddings) (engine llm.Engine, note string, err error)
	DescribeEntailment(e Entailment) (engine llm.Engine, note string, err error)
}

// planSource plans what a source is asked.
func (r *runner) planSource(ctx context.Context, plan *Plan, known *ledger.Ledger, planner Planner, stage Stage) (err error) {
	describe, ok := planner.(SourcePlanner)
	if !ok {
		return &InputError{Path: string(stage), What: "this engine has none", Hint: "leave it out of the study"}
	}
	var engine llm.Engine
	var note string
	if stage == StageEmbeddings {
		engine, note, err = describe.DescribeEmbeddings(r.file.embeddingsWanted())
	} else {
		engine, note, err = describe.DescribeEntailment(r.file.Entailment)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	stand := &typical{identity: engine.Identity(), can: engine.Capabilities()}
	ask := known.Peek(stand)
	if err := r.askSource(ctx, ask, stage, func(int, int) {}); err != nil {
		return err
	}
	items := 0
	for _, list := range r.uncertain {
		items += len(list)
	}
	p := SettingPlan{
		Setting: r.file.sourceName(stage), Items: items, Calls: ask.Counts().Made, Known: ask.Known(), PromptTokens: stand.prompt, Note: note,
	}
	p.charge(r.file.sourcePrice(stage))
	plan.add(p)
	return nil
}

// charge says what the tokens cost, where there is a price.
func (p *SettingPlan) charge(price *Price) {
	if price != nil {
		money := price.of(llm.Usage{Prompt: p.PromptTokens, Generated: p.GeneratedTokens})
		p.Money, p.Currency = &money, price.Currency
	}
}

// add takes in what a stage asks of a setting.
func (p *Plan) add(s SettingPlan) {
	for i := range p.Settings {
		if have := &p.Settings[i]; have.Setting == s.Setting {
			have.Calls += s.Calls
			have.Known += s.Known
			have.PromptTokens += s.PromptTokens
			have.GeneratedTokens += s.GeneratedTokens
			have.Seconds += s.Seconds
			if s.Money != nil {
				*have.Money += *s.Money
			}
			return
		}
	}
	p.Settings = append(p.Settings, s)
}

// Total is what the plan adds up to.
func (p *Plan) Total() Spending {
	var sum Spending
	for _, s := range p.Settings {
		sum = sum.add(Spending{Calls: s.Calls, Used: llm.Usage{Prompt: s.PromptTokens, Generated: s.GeneratedTokens}})
		if s.Money != nil {
			sum.Money, sum.Currency = sum.Money+*s.Money, s.Currency
		}
	}
	return sum
}

// typical is an engine that answers with the usual reply of each request and counts its tokens.
type typical struct {
	identity llm.Identity
	can      llm.Capabilities

	// distinct answers differ between prompts; see [distinct].
	distinct bool

	mu                sync.Mutex
	prompt, generated int64
}

func (e *typical) Identity() llm.Identity         { return e.identity }
func (e *typical) Capabilities() llm.Capabilities { return e.can }
func (e *typical) Close() error                   { return nil }

func (e *typical) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	for i, r := range reqs {
		results[i] = e.answer(r)
		if err := ctx.Err(); err != nil {
			results[i] = llm.Result{Err: err}
		}
	}
	return results
}

func (e *typical) answer(r llm.Request) llm.Result {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.prompt += promptTokens(r.Prompt)
	switch r.Kind {
	case llm.Score:
		e.prompt += textTokens(r.Answer)
		return llm.Result{Reply: llm.Reply{Tokens: []record.Token{{}}, Finish: llm.FinishScored}}
	case llm.Entail:
		e.prompt += textTokens(r.Answer)
		return llm.Result{Reply: llm.Entailment{Neither: 1}.Reply()}
	case llm.EmbedTokens:
		return llm.Result{Reply: llm.TokenReply([]record.Token{{}}, [][]float32{{1}})}
	case llm.Embed:
		return llm.Result{Reply: llm.Reply{Embedding: []float32{1}, Finish: llm.FinishEmbedded}}
	}
	e.generated += textTokens(r.Usual)
	text := r.Usual
	if e.distinct {
		text = distinct(r)
	}
	return llm.Result{Reply: llm.Reply{Text: text, Finish: llm.FinishEnd}}
}

// usualWords stand for an answer in what a plan takes for a reply.
const usualWords = "two words"

// distinct is the usual reply with another answer for each prompt: what is asked once of each text or pair of
// texts, whatever item they are of, is planned for as if no two items had the same.
func distinct(r llm.Request) string {
	h := fnv.New32a()
	for _, m := range r.Prompt.Messages {
		_, _ = h.Write([]byte(m.Content))
	}
	_, _ = h.Write([]byte(r.Prompt.Text + r.Prompt.Opening))
	return strings.ReplaceAll(r.Usual, usualWords, fmt.Sprintf("two %05x", h.Sum32()&0xfffff))
}

// Rules of thumb for English: four characters a token, and what a chat template adds.
const (
	charactersPerToken = 4
	templateTokens     = 30
)

func promptTokens(p llm.Prompt) int64 {
	n := textTokens(p.Text) + textTokens(p.Opening)
	for _, m := range p.Messages {
		n += textTokens(m.Content)
	}
	if len(p.Messages) > 0 {
		n += templateTokens
	}
	return n
}

func textTokens(s string) int64 {
	return int64((utf8.RuneCountInString(s) + charactersPerToken - 1) / charactersPerToken)
}
