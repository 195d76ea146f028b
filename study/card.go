package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
)

// card states the protocol of the run from what was really used.
func (r *runner) card() *card.Card {
	p := r.file.Protocol
	c := &card.Card{
		Study:        r.file.Name,
		Purpose:      r.file.Purpose,
		Base:         p.Contexts[0],
		Aggregations: p.Aggregations,
		Parser:       card.Rule{ID: p.Parser, What: parserWords(p.Parser)},
		Tokenisation: "context and answer are tokenised apart and joined; the score is of the parsed answer, not of the generated tokens; after a marker one blank belongs to the answer",
		Answers:      card.Rule{ID: "generated", What: "the model's own, in free text, written together with the stated confidence; both scores and the label are of this one answer"},
		Elicitation:  card.Rule{ID: string(prompt.Confidence), What: "a probability on the scale " + prompt.ScaleOf(prompt.Confidence).String() + ", stated after the answer in the same reply"},
		Metrics:      metricRules(),
		Intervals:    r.intervalWords(),
	}
	for _, m := range r.models {
		c.Models = append(c.Models, card.Model{Name: m.Name, Identity: m.identity, Form: m.form.String(), Licence: m.opened.Licence, Exactness: m.verified.Words, Checks: m.verified.Checks})
		c.Generation = append(c.Generation, r.generationWords(m))
	}
	for _, d := range r.data {
		c.Datasets = append(c.Datasets, card.Dataset{Name: d.Name, Items: len(d.Items), SHA256: d.SHA256, Notes: d.Notes})
	}
	c.Imported = r.importedOnCard()
	for _, rule := range p.Correctness {
		c.Correctness = append(c.Correctness, card.Rule{ID: rule, What: ruleWords(rule)})
		c.Validation = append(c.Validation, card.Validation{Judge: rule, Type: "exact or fuzzy match", Threshold: "none, the rule says yes or no"})
	}
	c.Parts = slices.Concat(r.file.partRules(), r.file.consistencyRules(r.consistent.thresholds), r.uncertaintyRules())
	c.Agreement = agreements(p.Correctness, r.judgements)
	r.cardContexts(c)
	for _, s := range r.settings {
		for _, x := range s.Comparisons {
			c.Settings = append(c.Settings, card.Setting{
				Setting: x.Setting.String(), Judge: x.Choice.Judge, Asked: x.Asked, Used: x.Used,
				ParseRate: x.ParseRate, FallbackRate: x.FallbackRate, LeftOut: x.LeftOut,
			})
		}
	}
	c.Check(r.missing()...)
	return c
}

// agreements counts, for each setting and each two judges, how often they say the same. Judgements are
// in the order of settings.
func agreements(judges []string, judgements []record.Judgement) []card.Agreement {
	var settings []record.Setting
	verdicts := map[record.Setting]map[record.AnswerID]map[string]record.Verdict{}
	for _, j := range judgements {
		if j.Answer.Origin != mainOrigin {
			continue // references are correct by definition, and would pass for agreement
		}
		of := verdicts[j.Answer.Setting]
		if of == nil {
			settings = append(settings, j.Answer.Setting)
			of = map[record.AnswerID]map[string]record.Verdict{}
			verdicts[j.Answer.Setting] = of
		}
		if of[j.Answer] == nil {
			of[j.Answer] = map[string]record.Verdict{}
		}
		of[j.Answer][j.Judge] = j.Verdict
	}
	var list []card.Agreement
	for _, s := range settings {
		for i, a := range judges {
			for _, b := range judges[i+1:] {
				list = append(list, agreement(s, a, b, verdicts[s]))
			}
		}
	}
	return list
}

func agreement(s record.Setting, a, b string, verdicts map[record.AnswerID]map[string]record.Verdict) card.Agreement {
	n := card.Agreement{Setting: s.String(), A: a, B: b}
	for _, of := range verdicts {
		switch x, y := of[a], of[b]; {
		case x == record.NotJudged || y == record.NotJudged:
			n.NotJudged++
		case x == record.Correct && y == record.Correct:
			n.Both++
		case x == record.Correct:
			n.OnlyA++
		case y == record.Correct:
			n.OnlyB++
		default:
			n.Neither++
		}
	}
	return n
}

// cardContexts describes the contexts and gives every prompt that was used in full.
func (r *runner) cardContexts(c *card.Card) {
	used := []prompt.Name{prompt.Confidence}
	for _, name := range r.file.allContexts() {
		context, err := prompt.ContextNamed(name)
		if err != nil {
			continue // refused when the file was checked
		}
		used = append(used, context.Prompt)
		for _, form := range r.forms() {
			label := context.Name
			if len(r.forms()) > 1 {
				label += " (" + form.String() + ")"
			}
			c.Contexts = append(c.Contexts, card.Context{Name: label, What: context.Describe(form)})
		}
	}
	if len(r.file.Quantifiers) > 0 {
		used = append(used, prompt.AnswerOnly)
		for _, t := range r.file.askedTexts() {
			c.Prompts = append(c.Prompts, card.Prompt{Name: string(t.Name), Text: t.Text})
		}
	}
	asked, forms := r.consistencyPrompts()
	used = append(used, asked...)
	for _, t := range forms {
		c.Prompts = append(c.Prompts, card.Prompt{Name: string(t.Name), Text: t.Text, Own: t.Own})
	}
	for _, t := range r.prompts.Texts() {
		if slices.Contains(used, t.Name) {
			c.Prompts = append(c.Prompts, card.Prompt{Name: string(t.Name), Text: t.Text, Own: t.Own})
		}
	}
}

func (r *runner) forms() []prompt.Form {
	var forms []prompt.Form
	for _, m := range r.models {
		if !slices.Contains(forms, m.form) {
			forms = append(forms, m.form)
		}
	}
	return forms
}

func (r *runner) generationWords(m ranModel) string {
	penalty := "no repetition penalty"
	if p := m.penalty(); p != 1 {
		penalty = fmt.Sprintf("repetition penalty %g (%s)", p, m.opened.PenaltySource)
	}
	words := fmt.Sprintf("%s: greedy, at most %d tokens, %s", m.Name, r.file.Protocol.MaxTokens, penalty)
	if m.Limit > 0 {
		words += fmt.Sprintf("; the first %d items of each data set only", m.Limit)
	}
	return words
}

func parserWords(name string) string {
	if name == string(prompt.Lenient) {
		return "the paper's: first text after Guess:, number after Probability:, else the first standalone number in [0,1]; Markdown is kept"
	}
	return "labels on a line of their own only, no guessing of numbers"
}

// ruleWords says what a judge does, from the two halves of its id.
func ruleWords(id string) string {
	rule, normaliser, _ := strings.Cut(id, ".")
	what := map[string]string{
		string(judge.Containment): "correct if, for any accepted answer, the two texts are equal or one is a substring of the other",
		string(judge.Exact):       "correct if the text equals any accepted answer",
	}[rule]
	how := map[string]string{
		judge.ASCII.String():   "compared in lower case with everything but ASCII letters and digits as blanks",
		judge.Unicode.String(): "compared in one case and one normal form (NFC), letters and digits of every script kept",
	}[normaliser]
	return what + "; " + how
}

func metricRules() []card.Rule {
	var rules []card.Rule
	for _, id := range protocol.Metrics() {
		s, err := metric.ByID(id)
		if err != nil {
			panic(err) // the ids are this module's own
		}
		rules = append(rules, card.Rule{ID: id, What: s.Definition + " (" + s.Source + ")"})
	}
	return rules
}

func (r *runner) intervalWords() string {
	n := *r.file.Analysis.Resamples
	if n == 0 {
		return card.NoIntervals
	}
	return fmt.Sprintf("intervals: %g %% percentile, paired bootstrap over items, %d resamples, study seed %d; each setting has a generator of its own fixed by seed, model and data set; not corrected for the number of comparisons",
		100*r.file.Analysis.Level, n, r.file.Seed)
}

// missing lists what a reader must be told besides the reporting items, by whoever publishes the study.
func (r *runner) missing() []string {
	list := r.identicalSamples()
	for _, m := range r.models {
		for _, u := range r.file.unsupported(m.capabilities()) {
			list = append(list, m.Name+" gives no value of "+u.String())
		}
		if why := r.file.fewerAlternatives(m.capabilities().Details); why != "" {
			list = append(list, m.Name+": "+why)
		}
		if m.identity.Weights == "" {
			list = append(list, m.Name+": the weights' checksum is not known")
		}
		if m.penalty() == 1 && m.opened.PenaltySource == "" {
			list = append(list, m.Name+": the release's own generation configuration is not known here; none was applied")
		}
	}
	for _, d := range r.data {
		if d.Source != "" && d.Source != "built in" {
			list = append(list, d.Name+": origin and licence of the questions are for the author to state")
		}
	}
	return list
}
