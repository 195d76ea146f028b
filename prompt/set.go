package prompt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknown: the set has no prompt, or the package no context or parser, of that name.
var ErrUnknown = errors.New("unknown")

// Set is the prompts of a study. It is immutable and safe for concurrent use.
type Set struct {
	prompts map[Name]compiled
	forms   map[Name]form
	own     map[Name]bool
}

// Text is one prompt in full, for the measurement card.
type Text struct {
	Name Name
	// Text is the template, with {{.Question}} where the question goes.
	Text string
	// Own says that the user gave this text, or the one that it follows from.
	Own bool
}

// Default returns the built-in prompts.
func Default() *Set {
	s, err := New(nil)
	if err != nil {
		panic("prompt: a built-in prompt is broken: " + err.Error())
	}
	return s
}

// New returns the built-in prompts with some replaced. A replacement is a text/template whose only
// action is {{.Question}}, or for one of [FormNames] a text with the fields of the built-in one; trailing
// blanks and line ends are dropped. Besides:
//
//   - Bare and AnswerOnly end in a line "Answer:", because contexts move it into the assistant turn;
//   - Confidence, ConfidencePercent and LetterConfidence name the labels "Guess:" and "Probability:" that the parsers
//     look for, ConfidenceWithoutProbability only the first;
//   - Question and AnswerOnlyInstruction follow from Bare and AnswerOnly and cannot be replaced;
//   - who replaces Confidence and wants ConfidenceWithoutProbability gives that too: the set does
//     not pair one author's prompt with another's ablation, and lacks it otherwise.
func New(replace map[Name]string) (*Set, error) {
	s := &Set{prompts: map[Name]compiled{}, forms: map[Name]form{}, own: map[Name]bool{}}
	var errs []error
	for name, text := range replace {
		errs = append(errs, s.add(name, text))
		s.own[name] = true
	}
	for _, name := range Names() {
		text := builtin(name)
		orphan := name == ConfidenceWithoutProbability && s.own[Confidence]
		if text == "" || s.own[name] || orphan {
			continue
		}
		errs = append(errs, s.add(name, text))
	}
	for _, name := range FormNames() {
		if !s.own[name] {
			errs = append(errs, s.add(name, formKinds[name].text))
		}
	}
	s.derive(Question, Bare)
	s.derive(AnswerOnlyInstruction, AnswerOnly)
	if err := joinSorted(errs); err != nil {
		return nil, err
	}
	return s, nil
}

// Override checks one replacement as [New] does, and returns it in the form in which it is used.
func Override(name, text string) (Text, error) {
	if _, ok := formKinds[Name(name)]; ok {
		f, err := newForm(Name(name), text)
		return Text{Name(name), f.text, true}, err
	}
	c, err := checked(Name(name), text)
	return Text{Name(name), c.text, true}, err
}

func (s *Set) add(name Name, text string) error {
	if _, ok := formKinds[name]; ok {
		f, err := newForm(name, text)
		if err == nil {
			s.forms[name] = f
		}
		return err
	}
	c, err := checked(name, text)
	if err == nil {
		s.prompts[name] = c
	}
	return err
}

func checked(name Name, text string) (compiled, error) {
	c, err := compile(name, text)
	if err != nil {
		return compiled{}, err
	}
	return c, checkMarkers(name, c.text)
}

// derive adds the prompt name, which is from without its final marker.
func (s *Set) derive(name, from Name) {
	source, ok := s.prompts[from]
	if !ok {
		return // Its own error is reported already.
	}
	s.own[name] = s.own[from]
	s.prompts[name], _ = compile(name, strings.TrimSuffix(source.text, AnswerMarker))
}

func checkMarkers(name Name, text string) error {
	switch name {
	case Bare, AnswerOnly:
		if !strings.HasSuffix(text, "\n"+AnswerMarker) {
			return fmt.Errorf("prompt %s: must end in a line %q", name, AnswerMarker)
		}
		if !strings.Contains(strings.TrimSuffix(text, AnswerMarker), "{{") {
			return fmt.Errorf("prompt %s: the question must stand before %q", name, AnswerMarker)
		}
	case Letter, Code: // The contexts add the marker themselves; code has none.
	case Confidence, ConfidencePercent, LetterConfidence:
		if !strings.Contains(text, GuessMarker) || !strings.Contains(text, ProbabilityMarker) {
			return fmt.Errorf("prompt %s: must ask for the labels %q and %q", name, GuessMarker, ProbabilityMarker)
		}
	case ConfidenceWithoutProbability:
		if !strings.Contains(text, GuessMarker) || strings.Contains(text, ProbabilityMarker) {
			return fmt.Errorf("prompt %s: must ask for the label %q and not for %q", name, GuessMarker, ProbabilityMarker)
		}
	case Question, AnswerOnlyInstruction:
		return fmt.Errorf("prompt %s: follows from another prompt and cannot be replaced: replace %s or %s", name, Bare, AnswerOnly)
	default:
		return fmt.Errorf("prompt %q: %w: the prompts are %s", name, ErrUnknown, list(append(Names(), FormNames()...)))
	}
	return nil
}

// Render returns the prompt with the question in its place: the content of the user turn.
// It wraps ErrUnknown where the set has no such prompt.
func (s *Set) Render(name Name, question string) (string, error) {
	c, ok := s.prompts[name]
	switch {
	case !ok && name == ConfidenceWithoutProbability && s.own[Confidence]:
		return "", fmt.Errorf("prompt %q: %w: %q was replaced, so give this one too", name, ErrUnknown, Confidence)
	case !ok:
		return "", fmt.Errorf("prompt %q: %w: the prompts are %s", name, ErrUnknown, list(Names()))
	}
	return c.fill(question)
}

// Texts returns every prompt of the set in full, in the order of [Names].
func (s *Set) Texts() []Text {
	var texts []Text
	for _, name := range Names() {
		if c, ok := s.prompts[name]; ok {
			texts = append(texts, Text{name, c.text, s.own[name]})
		}
	}
	return texts
}

// joinSorted joins errors in the order of their texts, whatever order a map gave them in.
func joinSorted(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func list[S ~string](names []S) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}
