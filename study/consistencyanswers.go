package study

import (
	"context"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// askConsistency asks one setting for its samples.
func (r *runner) askConsistency(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, pace collect.Pace) error {
	c, setting := r.file.Consistency, settingOf(m, d)
	spec := &collect.Consistency{
		Setting: setting, Prompts: r.prompts, Form: m.form, Samples: c.Samples, Seed: r.file.Seed, OptionSeed: r.file.Seed,
		Sampling: llm.Decoding{MaxTokens: r.file.answerTokens(d.Name), Temperature: r.file.Sampling.Temperature},
	}
	if err := r.file.reading(spec, d.Name); err != nil {
		return err
	}
	for i, p := range c.Perturbations {
		of := collect.Contexts{Source: p.Name, ByItem: map[string][]string{}}
		for _, found := range r.consistent.perturbed[d.Name][i] {
			of.ByItem[found.Item] = found.Kept
		}
		spec.Contexts = append(spec.Contexts, of)
	}
	if c.Paraphrases > 0 {
		spec.Paraphrases = map[string][]string{}
		for i, found := range r.consistent.paraphrased[d.Name] {
			if i < len(d.Items) { // a model may be asked of the first items only
				spec.Paraphrases[d.Items[i].ID] = found.Kept
			}
		}
	}
	var err error
	if r.consistent.trials[setting], err = spec.All(ctx, ask, d.Items, pace); err != nil {
		return err
	}
	return r.askLetterConfidence(ctx, m, ask, d, pace)
}

// reading says how the answers of a data set are asked for and read.
func (f *File) reading(spec *collect.Consistency, name string) error {
	parser, err := prompt.NewParser(f.Protocol.Parser, prompt.Unit)
	if err != nil {
		return err
	}
	spec.Prompt, spec.Label = prompt.AnswerOnly, string(prompt.AnswerOnly)
	switch f.taskOf(name) {
	case TaskNumber:
		spec.Label += "/" + TaskNumber
		spec.Read = func(reply string, _ bool, _ int) (string, record.Missing) {
			text, why := prompt.WithoutThinking(reply)
			if why != record.Present {
				return "", why
			}
			return judge.NumberIn(text)
		}
	case TaskLetter:
		spec.Prompt, spec.Label, spec.Lettered = prompt.Letter, string(prompt.Letter), true
		spec.Read = func(reply string, _ bool, options int) (string, record.Missing) {
			return prompt.ParseLetter(reply, options)
		}
	case TaskCode:
		spec.Prompt, spec.Label = prompt.Code, string(prompt.Code)
		spec.Read = func(reply string, _ bool, _ int) (string, record.Missing) { return prompt.ParseCode(reply) }
	default:
		spec.Read = func(reply string, _ bool, _ int) (string, record.Missing) { return parser.ParseAnswer(reply) }
	}
	return nil
}

// answerTokens is the most tokens of an answer of consistency.
func (f *File) answerTokens(name string) int {
	switch {
	case f.Consistency.MaxTokens > 0:
		return f.Consistency.MaxTokens
	case f.taskOf(name) == TaskCode:
		return defaultCodeTokens
	}
	return f.Protocol.MaxTokens
}

// askLetterConfidence asks for a letter with its probability where the answers are letters: elsewhere the study's
// main prompt has asked already.
func (r *runner) askLetterConfidence(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, pace collect.Pace) error {
	if !*r.file.Consistency.SelfReport || r.file.taskOf(d.Name) != TaskLetter {
		return nil
	}
	parser, err := prompt.NewParser(r.file.Protocol.Parser, prompt.Unit)
	if err != nil {
		return err
	}
	setting := settingOf(m, d)
	spec := &collect.Spec{Setting: setting, Prompts: r.prompts, Form: m.form, OptionSeed: r.file.Seed, Elicitations: []collect.Elicitation{{
		Prompt: prompt.LetterConfidence, Parser: parser, Lettered: true, Decoding: m.decoding(letterTokens),
	}}}
	records, err := spec.All(ctx, ask, d.Items, pace)
	r.consistent.stated[setting] = statedBy(records.Stated, prompt.LetterConfidence)
	return err
}

// statedBy are the stated probabilities under a prompt, by item.
func statedBy(list []record.Reading, name prompt.Name) map[string]record.Number {
	found := map[string]record.Number{}
	for _, s := range list {
		if s.Protocol.Elicitation == string(name) && s.Answer.Origin == (record.Origin{Source: record.Generated, Prompt: string(name)}) {
			found[s.Answer.Item] = s.Value
		}
	}
	return found
}
