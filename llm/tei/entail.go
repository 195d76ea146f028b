package tei

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
)

// Entailer asks a server that serves a model for natural-language inference with three labels. Its methods
// are safe for concurrent use.
type Entailer struct {
	*server
	labels map[string]meaning // by label in lower case
}

// meaning is what a label says.
type meaning int

const (
	entails meaning = iota
	neither
	contradicts
	meanings int = iota
)

var meaningNames = map[string]meaning{"entails": entails, "neither": neither, "contradicts": contradicts}

// OpenEntailer asks the server what it serves, and refuses a model whose labels it cannot tell apart.
func OpenEntailer(ctx context.Context, c Config) (*Entailer, error) {
	s, err := meet(ctx, c)
	if err != nil {
		return nil, err
	}
	e := &Entailer{server: s}
	if e.labels, err = s.meaningsOf(c.Labels); err != nil {
		s.Close()
		return nil, err
	}
	return e, nil
}

// meaningsOf finds what each label of the model means: by the user's word, or by how it begins.
func (s *server) meaningsOf(said map[string]string) (map[string]meaning, error) {
	wrong := func(format string, args ...any) error {
		return &wire.ConfigError{What: fmt.Sprintf("model %s: ", wire.Line(s.info.Model)) + fmt.Sprintf(format, args...)}
	}
	if s.info.Type.Classifier == nil {
		return nil, wrong("it is no classifier")
	}
	labels := slices.Sorted(maps.Values(s.info.Type.Classifier.Labels))
	given := make(map[string]meaning, len(said))
	for label, means := range said {
		m, ok := meaningNames[means]
		if !ok || !slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, label) }) {
			return nil, wrong("label %q cannot mean %q; the labels are %s, the meanings entails, neither, contradicts", label, means, wire.Line(strings.Join(labels, ", ")))
		}
		given[strings.ToLower(label)] = m
	}
	out := make(map[string]meaning, meanings)
	seen := map[meaning]bool{}
	for _, label := range labels {
		lower := strings.ToLower(label)
		m, ok := given[lower]
		if !ok {
			m, ok = meaningOf(lower)
		}
		if !ok || seen[m] {
			return nil, wrong("its labels %s are not one each for entailment, neutral and contradiction; say what they mean", wire.Line(strings.Join(labels, ", ")))
		}
		out[lower], seen[m] = m, true
	}
	if len(out) != meanings {
		return nil, wrong("it has the labels %s, and three are needed: entailment, neutral and contradiction", wire.Line(strings.Join(labels, ", ")))
	}
	return out, nil
}

func meaningOf(label string) (meaning, bool) {
	switch {
	case strings.HasPrefix(label, "entail"):
		return entails, true
	case strings.HasPrefix(label, "neutral"):
		return neither, true
	case strings.HasPrefix(label, "contra"):
		return contradicts, true
	}
	return 0, false // "not_entailment" is two of them
}

// Identity is the model's name and revision. See [llm.Entailer].
func (e *Entailer) Identity() llm.Identity { return e.identity(map[string]string{}) }

// Close closes idle connections. See [llm.Entailer].
func (e *Entailer) Close() error { return e.shut() }

// Entail judges all pairs, several to a request; see [llm.Entailer].
func (e *Entailer) Entail(ctx context.Context, pairs []llm.Pair) []llm.EntailmentResult {
	results := make([]llm.EntailmentResult, len(pairs))
	var good []int
	for i, p := range pairs {
		if results[i].Err = e.ready(ctx, p.Premise, p.Hypothesis); results[i].Err == nil && (strings.TrimSpace(p.Premise) == "" || strings.TrimSpace(p.Hypothesis) == "") {
			results[i].Err = llm.ErrEmptyText
		}
		if results[i].Err == nil {
			good = append(good, i)
		}
	}
	e.batches(len(good), func(from, to int) error {
		sent := make([][2]string, to-from)
		for k := range sent {
			p := pairs[good[from+k]]
			sent[k] = [2]string{p.Premise, p.Hypothesis}
		}
		found, err := e.ask(ctx, sent)
		for k := range found {
			results[good[from+k]] = llm.EntailmentResult{Entailment: found[k]}
		}
		return err
	}, func(i int, err error) { results[good[i]] = llm.EntailmentResult{Err: err} })
	return results
}

type prediction struct {
	Label string   `json:"label"`
	Score *float64 `json:"score"`
}

func (e *Entailer) ask(ctx context.Context, pairs [][2]string) ([]llm.Entailment, error) {
	size := 0
	for _, p := range pairs {
		size += len(p[0]) + len(p[1])
	}
	var lists [][]prediction
	var out []llm.Entailment
	err := e.Post(ctx, "/predict", size/bytesPerToken, map[string]any{"inputs": pairs, "truncate": false, "raw_scores": false}, wire.Checked(&lists, func(lists *[][]prediction) error {
		if len(*lists) != len(pairs) {
			return wire.Malformedf("%d predictions for %d pairs", len(*lists), len(pairs))
		}
		out = make([]llm.Entailment, len(pairs))
		for i, list := range *lists {
			one, err := e.read(list)
			if err != nil {
				return err
			}
			out[i] = one
		}
		return nil
	}))
	if err != nil {
		return nil, err
	}
	return out, nil
}

// sumTolerance is how far the three probabilities may be from 1.
const sumTolerance = .01

// read takes the three probabilities out of a prediction, whatever their order.
func (e *Entailer) read(list []prediction) (llm.Entailment, error) {
	var found [meanings]*float64
	for _, p := range list {
		m, ok := e.labels[strings.ToLower(p.Label)]
		if !ok || found[m] != nil {
			return llm.Entailment{}, wire.Malformedf("label %q is unknown or comes twice", wire.Line(p.Label))
		}
		found[m] = p.Score
	}
	sum := 0.
	for _, p := range found {
		if p == nil || !(*p >= 0 && *p <= 1+sumTolerance) {
			return llm.Entailment{}, wire.Malformedf("a label has no probability")
		}
		sum += *p
	}
	if math.Abs(sum-1) > sumTolerance {
		return llm.Entailment{}, wire.Malformedf("the probabilities of the labels add up to %g", sum)
	}
	return llm.Entailment{Entails: min(*found[entails], 1), Neither: min(*found[neither], 1), Contradicts: min(*found[contradicts], 1)}, nil
}
