package study

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/internal/nearest"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/quantify"
)

// plainName reports whether a name may become a folder, a column value and part of a method id on
// every system: letters and digits of any script, and after the first of them also ".", "_" and "-".
func plainName(name string) bool {
	const most = 100
	for i, r := range name {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		if r == utf8.RuneError || !letter && (i == 0 || !strings.ContainsRune("._-", r)) {
			return false
		}
	}
	return name != "" && utf8.RuneCountInString(name) <= most
}

// MaxThreads is what the engine can start.
const MaxThreads = 512

// maxCount bounds numbers that the engine takes in 32 bits.
const maxCount = math.MaxInt32

func sensible(n int) bool { return n >= 0 && n <= maxCount }

// maxPurpose is the most characters of a purpose.
const maxPurpose = 300

// check says what is wrong with a study file after defaults are in; nil if nothing is.
func (f *File) check() error {
	for _, step := range []func() error{f.checkNames, f.checkProtocol, f.checkPrompts, f.checkAnalysis, f.checkSources, f.checkQuantifiers, f.checkConsistency, f.CheckBudget} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) checkNames() error {
	const rule = "use letters, digits, dots, dashes and underscores, starting with a letter or digit"
	if !plainName(f.Name) {
		return f.at.errorf("$.name", rule, "name %q cannot name a folder", f.Name)
	}
	if utf8.RuneCountInString(f.Purpose) > maxPurpose || strings.ContainsFunc(f.Purpose, unicode.IsControl) {
		return f.at.errorf("$.purpose", "say it in a sentence or two, on one line", "the purpose has more than %d characters or a line break", maxPurpose)
	}
	if len(f.Models) == 0 {
		return f.at.errorf("$.models", "name at least one, see \"credence models\"", "the study has no model")
	}
	if len(f.Datasets) == 0 {
		return f.at.errorf("$.datasets", "name a built-in set or a file", "the study has no data set")
	}
	seen := map[string]bool{}
	for i, m := range f.Models {
		node := fmt.Sprintf("$.models[%d]", i)
		if err := f.checkServer(node, m); err != nil {
			return err
		}
		switch {
		case !plainName(m.Name) && m.Name == m.Weights && m.Name != "":
			return f.at.errorf(node, "add \"name:\", such as \"mine\"", "a model named after its weights would be called %q", m.Name)
		case !plainName(m.Name):
			return f.at.errorf(node+".name", rule, "model name %q cannot be used", m.Name)
		case seen[m.Name]:
			return f.at.errorf(node+".name", "give each model its own name", "two models are called %q", m.Name)
		case m.Weights == "" && !m.OnServer():
			return f.at.errorf(node, "add \"weights:\" with a name from \"credence models\" or the path of a GGUF file", "model %q has no weights", m.Name)
		case !slices.Contains([]string{"auto", "chat", "base"}, m.Format):
			return f.at.errorf(node+".format", "use auto, chat or base", "unknown format %q", m.Format)
		case m.Mode != "exact" && m.Mode != "fast" && !m.OnServer():
			return f.at.errorf(node+".mode", "use exact or fast", "unknown mode %q", m.Mode)
		case m.RepetitionPenalty != nil && !(*m.RepetitionPenalty > 0 && *m.RepetitionPenalty < math.Inf(1)):
			return f.at.errorf(node+".repetition_penalty", "1 is none", "repetition_penalty %g is not a finite number above 0", *m.RepetitionPenalty)
		case m.Threads > MaxThreads:
			return f.at.errorf(node+".threads", "leave it out for one per core", "threads is %d, more than %d", m.Threads, MaxThreads)
		case m.Limit < 0:
			return f.at.errorf(node+".limit", "0 takes all", "limit %d is negative", m.Limit)
		case m.Group != "" && !plainName(m.Group):
			return f.at.errorf(node+".group", rule, "group %q cannot be used", m.Group)
		case !sensible(m.Threads) || !sensible(m.ContextTokens) || !sensible(m.GPULayers):
			return f.at.errorf(node, "leave it out for the default", "threads, context_tokens and gpu_layers lie between 0 and %d", maxCount)
		}
		if _, err := ParseMemory(m.Memory); err != nil {
			return f.at.errorf(node+".memory", "write a size such as 2GB, or leave it out for no bound", "%v", err)
		}
		seen[m.Name] = true
	}
	return f.checkDatasets()
}

func (f *File) checkDatasets() error {
	seen := map[string]bool{}
	for i, d := range f.Datasets {
		node := fmt.Sprintf("$.datasets[%d]", i)
		switch {
		case d.Name == "":
			return f.at.errorf(node, "add \"name:\" of a built-in set or \"file:\"", "data set %d has neither name nor file", i+1)
		case !plainName(d.Name):
			return f.at.errorf(node+".name", "add a plain \"name:\"", "data set name %q cannot be used", d.Name)
		case seen[d.Name]:
			return f.at.errorf(node+".name", "give each its own name", "two data sets are called %q", d.Name)
		case d.File == "" && !slices.Contains(dataset.BuiltinNames(), d.Name):
			return f.at.errorf(node+".name", "built in: "+strings.Join(dataset.BuiltinNames(), ", ")+"; for your own add \"file:\"", "there is no built-in data set %q", d.Name)
		case d.File == "" && !reflect.DeepEqual(d.Columns, dataset.Mapping{}):
			return f.at.errorf(node+".columns", "remove them, or add \"file:\"", "the built-in data set %q has columns of its own", d.Name)
		case d.Format != "" && d.File == "":
			return f.at.errorf(node+".format", "remove it, or add \"file:\"", "the built-in data set %q has a format of its own", d.Name)
		case d.Format != "" && !slices.Contains(dataset.Benchmarks(), d.Format):
			return f.at.errorf(node+".format", hintFor(d.Format, dataset.Benchmarks()), "unknown format %q", d.Format)
		case d.Format != "" && !reflect.DeepEqual(d.Columns, dataset.Mapping{}):
			return f.at.errorf(node+".columns", "remove one of the two", "the format %q has columns of its own", d.Format)
		case d.Limit < 0:
			return f.at.errorf(node+".limit", "0 takes all", "limit %d is negative", d.Limit)
		}
		seen[d.Name] = true
	}
	return nil
}

func (f *File) checkProtocol() error {
	p := f.Protocol
	for _, list := range []struct {
		key    string
		values []string
		known  []string
	}{
		{"contexts", p.Contexts, prompt.ContextNames()},
		{"aggregations", p.Aggregations, aggregationNames()},
		{"correctness", p.Correctness, judge.Names()},
		{"parser", []string{p.Parser}, prompt.ParserNames()},
		{"parts", p.Parts, Parts()},
	} {
		if len(list.values) == 0 && list.key != "parts" {
			return f.at.errorf("$.protocol."+list.key, "leave it out for the default", "%s is empty", list.key)
		}
		for i, v := range list.values {
			node := fmt.Sprintf("$.protocol.%s[%d]", list.key, i)
			if !slices.Contains(list.known, v) {
				return f.at.errorf(node, hintFor(v, list.known), "unknown %s value %q", list.key, v)
			}
			if slices.Contains(list.values[:i], v) {
				return f.at.errorf(node, "list it once", "%s has %q twice", list.key, v)
			}
		}
	}
	if p.MaxTokens < 1 {
		return f.at.errorf("$.protocol.max_tokens", "the paper's is 32", "max_tokens %d is not positive", p.MaxTokens)
	}
	return nil
}

func hintFor(word string, known []string) string {
	hint := "there are " + strings.Join(known, ", ")
	if near, ok := nearest.Of(word, known); ok {
		hint = fmt.Sprintf("did you mean %q? ", near) + hint
	}
	return hint
}

func aggregationNames() []string {
	var names []string
	for _, a := range quantify.Aggregations() {
		names = append(names, string(a))
	}
	return names
}

func (f *File) checkPrompts() error {
	for name, text := range f.Prompts {
		if _, err := prompt.Override(name, text); err != nil {
			return f.at.errorf("$.prompts."+name, "", "%v", err)
		}
	}
	return nil
}

// MaxResamples bounds the time and memory that a typing error can cost.
const MaxResamples = 10_000_000

func (f *File) checkAnalysis() error {
	a := f.Analysis
	if n := *a.Resamples; n < 0 || n > MaxResamples {
		return f.at.errorf("$.analysis.resamples", fmt.Sprintf("use 0 (no intervals) to %d", MaxResamples), "resamples is %d", n)
	}
	if !(a.Level > 0 && a.Level < 1) {
		return f.at.errorf("$.analysis.level", "the usual one is 0.95", "level %g is not between 0 and 1", a.Level)
	}
	return nil
}
