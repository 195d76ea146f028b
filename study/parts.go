package study

import (
	"fmt"
	"strings"

	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/quantify"
)

// partRules says on the card what each part of the study does, and by which rules.
func (f *File) partRules() []card.Rule {
	p := f.Protocol
	what := map[string]string{
		PartAblation: "the same answers are scored under four prompts with both markers; each edit is a change along a stated path, never a share",
		PartPercent:  "asked again on the scale " + prompt.Percent.String() + "; a reply without the label of its probability is dropped; compared in " + prompt.BareContext.Name + " and " + prompt.PercentGuessSlot.Name,
		PartAnswerOnly: fmt.Sprintf("asked for the answer alone, at most %d tokens; those answers keep their own labels; their probability is had by supplying them; compared with the main answers where both were scored",
			p.MaxTokens),
		PartReference: "the canonical reference is scored in the same contexts, which breaks the alignment rule; labels stay those of the own answers",
		PartSupplied: fmt.Sprintf("the assistant turn opens with Guess:, the answer, and on a new line Probability:, and goes on for at most %d tokens; supplied are the canonical reference, the first alias, the own answer again, and another model's wrong answer that differs from the own one (the first model by name), or where there is none the canonical answer of another question, drawn by seed and checked wrong; wrong answers near a reference are listed in %s for a person",
			suppliedTokens, nearFile),
		PartLetters: fmt.Sprintf("lettered options, at most %d tokens; choices of the data set in their own order, else the canonical answer and up to three wrong ones shuffled by a seed per question; items whose accepted option is not exactly one are not asked; judged by letter",
			letterTokens),
		PartMultiverse: fmt.Sprintf("the gap under every protocol that the records allow, %d resamples each", min(multiverseResamples, *f.Analysis.Resamples)),
	}
	var rules []card.Rule
	for _, part := range p.Parts {
		rules = append(rules, card.Rule{ID: part, What: what[part]})
	}
	if p.DropFallback {
		rules = append(rules, card.Rule{ID: "drop_fallback", What: "answers whose probability the parser took by its last resort are left out: " + string(protocol.FallbackDropped)})
	}
	return rules
}

// uncertaintyRules says how uncertainty was quantified and judged.
func (r *runner) uncertaintyRules() []card.Rule {
	f := r.file
	if len(f.Quantifiers) == 0 {
		return nil
	}
	rules := []card.Rule{{ID: "sampling", What: fmt.Sprintf("%d samples of each item at temperature %g, at most %d tokens, under the prompt %s, under which the answer is decoded greedily; tokens are those generated",
		f.Sampling.Samples, f.Sampling.Temperature, f.Protocol.MaxTokens, prompt.AnswerOnly)}}
	list, err := f.quantifiersOf()
	if err != nil {
		return rules // refused when the file was checked
	}
	for _, q := range list {
		rules = append(rules, card.Rule{ID: q.ID, What: fmt.Sprintf("%s, %s, %s (%s)", q.Formula, q.Orientation, q.Units, q.Source)})
	}
	if len(f.Ensemble) > 0 {
		rules = append(rules, card.Rule{ID: ensembleID, What: fmt.Sprintf("weighted mean of %s, each brought to [0,1] by its rank; weights, none below 0, tuned on the verdicts of each judge by cross-fitting in %d folds, so that no answer's own verdict is in its value", strings.Join(f.Ensemble, ", "), ensembleFolds)})
	}
	if n := quantify.NeedsOf(list); n.Entailment != 0 || n.EntailmentWithQuestion != 0 {
		rules = append(rules, card.Rule{ID: string(StageEntailment), What: f.entailmentWords() + r.identityOf(StageEntailment)})
	}
	if f.embeds() {
		rules = append(rules, card.Rule{ID: string(StageEmbeddings), What: "vectors of " + f.Embeddings.String() + ", each text alone" + r.identityOf(StageEmbeddings)})
	}
	for _, id := range f.Judges {
		parsed, err := judge.ParseID(id)
		if err != nil {
			continue
		}
		what := parsed.Entry().Definition
		if parsed.Judge == importedJudge {
			what = importWords(parsed)
		}
		rules = append(rules, card.Rule{ID: "judge " + id, What: what})
	}
	return rules
}

// entailmentWords say who judged what follows from what.
func (f *File) entailmentWords() string {
	const forced = ", by forced choice of True or False for the statement according to the text: p squared entails, (1-p) squared contradicts, the rest is neither; not a model made for it"
	switch e := f.Entailment; {
	case e.OnServer():
		return "judged by " + e.String()
	case e.By == OwnEntailment:
		return "judged by the answering model itself" + forced
	case e.By == LexicalEntailment:
		return "nobody was asked: common words stand in for meaning"
	case e.By == NoEntailment:
		return "nobody was asked"
	}
	return "judged by the model " + f.Entailment.By + forced
}

// identityOf says which model a source has.
func (r *runner) identityOf(stage Stage) string {
	for _, s := range r.sources {
		if s.name.Model == string(stage) {
			return " (" + s.identity.String() + ")"
		}
	}
	return ""
}
