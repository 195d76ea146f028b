package study

import (
	"slices"
	"strings"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

// guesses is how many are asked for in one reply; Tian et al. 2023 ask for 4 at most.
const guesses = 4

// Most new tokens of replies that are longer than an answer with its probability.
const (
	guessesTokens   = 128
	reasoningTokens = 384
)

// asked is how a question of a quantifier is put to a model.
func (r *runner) asked(m *model, q quantify.Question) collect.Asked {
	a := collect.Asked{Name: string(q), Decoding: m.decoding(r.file.Protocol.MaxTokens)}
	switch q {
	case quantify.IsTrue, quantify.IsTrueWithIdeas:
		a.IsTrue = &prompt.IsTrue{}
	case quantify.IsTrueSwapped, quantify.IsTrueWithIdeasSwapped:
		a.IsTrue = &prompt.IsTrue{Swapped: true}
	case quantify.Top1: // as in the main comparison, and so no further call
		a.Usual = "Guess: two words\nProbability: 0.85"
		a.Elicit = func(_ llm.Prompt, question, _ string) (llm.Prompt, error) {
			return r.prompts.Ask(prompt.Confidence, m.form, question)
		}
	case quantify.TopK:
		a.Decoding, a.Usual = m.decoding(guessesTokens), strings.Repeat("G1: two words\nP1: 0.5\n", guesses)
		a.Elicit = func(_ llm.Prompt, question, _ string) (llm.Prompt, error) {
			return prompt.TopGuesses(m.form, question, guesses)
		}
	case quantify.TwoStage:
		a.Usual = usualStated
		a.Elicit = func(first llm.Prompt, question, answer string) (llm.Prompt, error) {
			return prompt.SecondStage(m.form, first, question, answer)
		}
	case quantify.Reasoning:
		a.Decoding, a.Usual = m.decoding(reasoningTokens), strings.Repeat("some words ", 30)+"\nGuess: two words\nProbability: 0.85"
		a.Elicit = func(_ llm.Prompt, question, _ string) (llm.Prompt, error) { return prompt.Reasoned(m.form, question) }
	case quantify.Linguistic:
		a.Usual = "Guess: two words\nConfidence: likely"
		a.Elicit = func(_ llm.Prompt, question, _ string) (llm.Prompt, error) {
			return prompt.Linguistic(m.form, question, phrases())
		}
	}
	a.WithIdeas = q == quantify.IsTrueWithIdeas || q == quantify.IsTrueWithIdeasSwapped
	return a
}

// askedTexts are the questions about answers that the study asks, in words.
func (f *File) askedTexts() []prompt.Text {
	needs := f.needs()
	by := map[prompt.Name][]quantify.Question{
		"is-true":     {quantify.IsTrue, quantify.IsTrueSwapped, quantify.IsTrueWithIdeas, quantify.IsTrueWithIdeasSwapped},
		"own-answer":  {quantify.OwnAnswer},
		"top-guesses": {quantify.TopK}, "reasoned": {quantify.Reasoning}, "linguistic": {quantify.Linguistic}, "second-stage": {quantify.TwoStage},
	}
	var list []prompt.Text
	for _, t := range prompt.AskedTexts() {
		used := t.Name == "entailment" && f.entails() && !f.Entailment.OnServer()
		for _, q := range by[t.Name] {
			used = used || slices.Contains(needs.Questions, q)
		}
		if used {
			list = append(list, t)
		}
	}
	if len(f.modelJudges()) > 0 {
		list = append(list, prompt.DefaultVerdict().Text())
	}
	return list
}

const usualStated = " 0.85"

// phrases are those that the reply is chosen from, each once.
func phrases() []string {
	var list []string
	for _, p := range quantify.Phrases() {
		list = append(list, p.Text)
	}
	return list
}

// readElicited reads the replies to questions in words. A confidence in another guess than the answer is none in the
// answer.
func (r *runner) readElicited(e *quantify.Evidence, u collect.Uncertain) {
	parser, err := prompt.NewParser(r.file.Protocol.Parser, prompt.Unit)
	if err != nil {
		return // refused when the file was checked
	}
	for name, w := range u.Written {
		q := quantify.Question(name)
		switch {
		case q == quantify.TopK && w.Missing != record.Present:
			e.Guesses = quantify.Guesses{Missing: w.Missing}
		case q == quantify.TopK:
			e.Guesses = quantify.ParseGuesses(w.Reply, w.Truncated)
		case w.Missing != record.Present:
			e.Stated[q] = record.Absent(w.Missing)
		case q == quantify.TwoStage:
			e.Stated[q], _ = parser.ParseSupplied(w.Reply, w.Truncated)
		default:
			e.Stated[q] = ofOwn(u.Answer.Text, parser.Parse(w.Reply, w.Truncated), statedIn(q, w))
		}
	}
}

// statedIn reads the phrase of a reply in words of probability; nothing of other replies.
func statedIn(q quantify.Question, w collect.Written) *record.Number {
	if q != quantify.Linguistic {
		return nil
	}
	phrase := record.Absent(record.NoProbability)
	if line := prompt.LabelledLine(w.Reply, prompt.ConfidenceMarker); line != "" {
		phrase = quantify.ParsePhrase(line)
	}
	return &phrase
}

// ofOwn is the stated confidence where the guess that it is in is the answer.
func ofOwn(answer string, parsed prompt.Parsed, phrase *record.Number) record.Number {
	switch {
	case parsed.GuessMissing != record.Present:
		return record.Absent(parsed.GuessMissing)
	case !strings.EqualFold(strings.TrimSpace(parsed.Guess), strings.TrimSpace(answer)):
		return record.Absent(quantify.NotAmongGuesses)
	case phrase != nil:
		return *phrase
	}
	return parsed.Probability
}
