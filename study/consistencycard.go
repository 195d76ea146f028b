package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/prompt"
)

// consistencyRules say how consistency was measured; thresholds are those of the sources, nil where the filter is off.
func (f *File) consistencyRules(thresholds []threshold) []card.Rule {
	c := f.Consistency
	if c == nil {
		return nil
	}
	rules := []card.Rule{
		{ID: "consistency", What: fmt.Sprintf("%d samples of the original prompt and up to %d perturbed ones at temperature %g, each perturbed one after a perturbation of its own, put before the question with one blank between; all models answer after the same perturbations",
			c.Samples, c.Perturbed, f.Sampling.Temperature)},
		{ID: "c3", What: fmt.Sprintf("1 − MMD²/2 or its like: kernels %s, estimators %s, the first of each is the main one; raw values are kept, clipped ones serve display and calibration errors",
			strings.Join(c.Kernels, ", "), strings.Join(c.Estimators, ", "))},
		{ID: "performance", What: "mean correctness of an item over its original samples; samples without an answer are left out and counted"},
	}
	for i, p := range c.Perturbations {
		rules = append(rules, card.Rule{ID: "perturbations " + p.Name, What: f.sourceWords(p, thresholds[min(i, len(thresholds)):])})
	}
	for _, d := range f.Datasets {
		rules = append(rules, card.Rule{ID: "answers of " + d.Name, What: taskWords(f.taskOf(d.Name)) + fmt.Sprintf(", at most %d tokens", f.answerTokens(d.Name))})
	}
	return append(rules, f.baselineRules()...)
}

// sourceWords says where the perturbations of a source come from and what is refused; its threshold comes first.
func (f *File) sourceWords(p PerturbationSource, thresholds []threshold) string {
	c := f.Consistency
	words := f.fromWords(p)
	if p.From == FromModel {
		words += fmt.Sprintf(", asked for %d at once, at most %d times an item, at temperature %g with top-p %g", p.Batch, p.Batches, f.Sampling.Temperature, writingTopP)
	}
	words += fmt.Sprintf("; at most %d characters; refused are those that are empty or too long, hold an accepted or a wrong answer or a choice, repeat the question or ask something, or have the words of another", c.MaxCharacters)
	if len(thresholds) == 0 {
		words += "; vectors are not compared"
	} else {
		words += fmt.Sprintf("; refused from a cosine of %.4f with another or with the question (%s)", thresholds[0].k, thresholds[0].from)
	}
	return words + fmt.Sprintf("; an item with fewer than %d ends the study", c.AtLeast)
}

func taskWords(task string) string {
	return map[string]string{
		TaskShort:  "the first line of the reply; alike if equal in normal form (unicode); judged by the study's first rule, or by the accepted range where the references state one",
		TaskNumber: "the number of the reply, in one form; judged as a number, or by the accepted range",
		TaskLetter: "the letter of an option; judged by letter",
		TaskCode:   "the first code block of the reply; alike if equal; not judged, since unit tests are not run",
	}[task]
}

func (f *File) baselineRules() []card.Rule {
	c := f.Consistency
	rules := []card.Rule{{ID: "self-consistency", What: "mean similarity of two original answers under the main kernel"}}
	if c.Paraphrases > 0 {
		rules = append(rules, card.Rule{ID: "paraphrasing consistency", What: fmt.Sprintf("the same of answers to up to %d paraphrases of the question, written by %s", c.Paraphrases, c.Paraphraser)})
	}
	if *c.SelfReport {
		rules = append(rules, card.Rule{ID: "self-report", What: "the confidence from 0 to 1 that the greedy reply to the prompt " + string(prompt.Confidence) + " states, of letters to " + string(prompt.LetterConfidence)})
	}
	if judged, clusters := c.judged(); judged {
		what := "says of every pair of different answers whether they are the same, at temperature 0, each pair once"
		if clusters {
			what = "says whether answers are the same, at temperature 0; each new one is compared with the first of each cluster"
		}
		rules = append(rules, card.Rule{ID: "equivalence", What: c.Judge + " " + what})
	}
	if f.comparesCosines() {
		rules = append(rules, card.Rule{ID: "embeddings", What: "vectors of " + f.Embeddings.String() + ", each text alone"})
	}
	if c.TopicJudge != "" {
		rules = append(rules, card.Rule{ID: "topic alignment", What: c.TopicJudge + " sees each perturbation alone and says which of six domains it belongs to"})
	}
	return rules
}

// consistencyPrompts are the prompts that consistency uses: those of the set, and the forms.
func (r *runner) consistencyPrompts() (used []prompt.Name, forms []prompt.Text) {
	c := r.file.Consistency
	if c == nil {
		return nil, nil
	}
	for _, d := range r.file.Datasets {
		switch r.file.taskOf(d.Name) {
		case TaskLetter:
			used = append(used, prompt.Letter)
			if *c.SelfReport {
				used = append(used, prompt.LetterConfidence)
			}
		case TaskCode:
			used = append(used, prompt.Code)
		default:
			used = append(used, prompt.AnswerOnly)
		}
	}
	judged, _ := c.judged()
	writes := slices.ContainsFunc(c.Perturbations, func(p PerturbationSource) bool { return p.From == FromModel })
	needed := map[prompt.Name]bool{prompt.Perturbations: writes, prompt.Paraphrases: c.Paraphrases > 0, prompt.Equivalence: judged, prompt.Topic: c.TopicJudge != ""}
	for _, t := range r.prompts.FormTexts() {
		if needed[t.Name] {
			forms = append(forms, t)
		}
	}
	return used, forms
}
