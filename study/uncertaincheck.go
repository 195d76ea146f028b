package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

// quantifiersOf are the study's quantifiers; "default" stands for those of the paper.
func (f *File) quantifiersOf() ([]quantify.Quantifier, error) {
	var list []quantify.Quantifier
	for i, id := range f.Quantifiers {
		if id == "default" {
			list = append(list, quantify.Default()...)
			continue
		}
		q, err := quantify.ByID(id)
		if err != nil {
			return nil, f.at.errorf(fmt.Sprintf("$.quantifiers[%d]", i), "\"default\" stands for those of the paper; docs/quantifiers.md lists all", "%v", err)
		}
		list = append(list, q)
	}
	for i, q := range list {
		for _, before := range list[:i] {
			if before.ID == q.ID {
				return nil, f.at.errorf("$.quantifiers", "list it once", "quantifiers has %q twice", q.ID)
			}
		}
	}
	return list, nil
}

// givenEvidence is what an engine can give that can all that a study asks, and vectors and entailment where the
// study says where they come from.
func (f *File) givenEvidence() quantify.Needs {
	have := quantify.Everything()
	have.Samples = f.Sampling.Samples
	const parts = quantify.LogProbs | quantify.EndOfTurn | quantify.TopAlternatives | quantify.FullEntropy
	have.Answer, have.Sample = parts, parts
	have.Similarity, have.Embeddings = 0, !f.Embeddings.IsZero()
	if f.Entailment.By == NoEntailment {
		have.Entailment, have.EntailmentWithQuestion = 0, 0
	}
	return have
}

func (f *File) checkQuantifiers() error {
	list, err := f.quantifiersOf()
	if err != nil {
		return err
	}
	if f.Sampling.Samples < 0 || f.Sampling.Samples > maxSamples {
		return f.at.errorf("$.sampling.samples", fmt.Sprintf("use 1 to %d", maxSamples), "samples is %d", f.Sampling.Samples)
	}
	if t := f.Sampling.Temperature; !(t > 0 && t <= math.MaxFloat32) && len(list) > 0 {
		return f.at.errorf("$.sampling.temperature", "the paper's is 1", "temperature %g draws no samples", t)
	}
	if n := f.Sampling.Alternatives; n != 0 && (n < 2 || n > llm.MaxAlternatives) {
		return f.at.errorf("$.sampling.alternatives", fmt.Sprintf("use 2 to %d", llm.MaxAlternatives), "alternatives is %d", n)
	}
	have := f.givenEvidence()
	for _, q := range list {
		if lacking := q.Needs.Lacking(have); len(lacking) > 0 {
			return f.at.errorf("$.quantifiers", "leave it out", "the quantifier %q cannot be had here: %s", q.ID, joinMissing(lacking))
		}
	}
	if err := f.checkEnsemble(list); err != nil {
		return err
	}
	if err := f.checkJudges(len(list) > 0); err != nil {
		return err
	}
	return f.checkJudging()
}

// maxSamples bounds what a typing error can cost.
const maxSamples = 1000

func joinMissing(list []record.Missing) string {
	words := make([]string, len(list))
	for i, m := range list {
		words[i] = string(m)
	}
	return strings.Join(words, ", ")
}

func (f *File) checkJudges(quantified bool) error {
	if len(f.Judges) > 0 && !quantified {
		return f.at.errorf("$.judges", "add \"quantifiers: [default]\"; the main comparison is judged by protocol.correctness", "judges without quantifiers have nothing to judge")
	}
	for i, text := range f.Judges {
		node := fmt.Sprintf("$.judges[%d]", i)
		id, err := judge.ParseID(text)
		if err != nil {
			return f.at.errorf(node, "docs/judges.md lists all", "%v", err)
		}
		if slices.Contains(f.Judges[:i], text) {
			return f.at.errorf(node, "list it once", "judges has %q twice", text)
		}
		switch {
		case asksModels(id):
			if err := f.checkMembers(node, id); err != nil {
				return err
			}
		case id.Judge == embeddingJudge && f.Embeddings.IsZero():
			return f.at.errorf(node, "add \"embeddings: all-minilm-l6-v2\"", "the judge %q compares embeddings, and the study names no model of them", text)
		case id.Judge == embeddingJudge:
		case comparesTokens(id) && f.Embeddings.Engine != engineTEI:
			return f.at.errorf(node, "add \"embeddings: {engine: tei, url: …}\"", "the judge %q compares the vectors of tokens, which only a text-embeddings-inference server gives", text)
		case comparesTokens(id):
		case id.Judge == importedJudge:
			if err := f.checkImport(node, id); err != nil {
				return err
			}
		case !id.Entry().FromText():
			return f.at.errorf(node, "people label a finished run with \"credence annotate\"; \"credence validate\" holds its judges against them", "the judge %q cannot be asked in a study", text)
		}
	}
	return f.checkImports()
}

// textJudges are the judges that compare texts.
func (f *File) textJudges() []string {
	return slices.DeleteFunc(slices.Clone(f.Judges), func(id string) bool {
		parsed, err := judge.ParseID(id)
		return err == nil && !parsed.Entry().FromText()
	})
}

// embeddingJudges are those that compare vectors.
func (f *File) embeddingJudges() []judge.ID {
	var list []judge.ID
	for _, text := range f.Judges {
		if id, err := judge.ParseID(text); err == nil && id.Judge == embeddingJudge {
			list = append(list, id)
		}
	}
	return list
}

// comparesTokens reports whether a judge compares vectors of tokens.
func comparesTokens(id judge.ID) bool {
	return id.Judge == bertScore || id.Judge == bertPrecision || id.Judge == bertRecall
}

// tokenJudges are those that compare the vectors of tokens.
func (f *File) tokenJudges() []judge.ID {
	var list []judge.ID
	for _, text := range f.Judges {
		if id, err := judge.ParseID(text); err == nil && comparesTokens(id) {
			list = append(list, id)
		}
	}
	return list
}

// embeds reports whether anything in the study reads embeddings.
func (f *File) embeds() bool {
	return f.embedsTexts() || !f.Embeddings.IsZero() && len(f.tokenJudges()) > 0
}

// embedsTexts reports whether anything in the study reads the embeddings of texts as a whole.
func (f *File) embedsTexts() bool {
	return !f.Embeddings.IsZero() && (f.comparesCosines() || f.needs().Embeddings || len(f.embeddingJudges()) > 0)
}

// needs is what the quantifiers of the study read.
func (f *File) needs() quantify.Needs {
	list, err := f.quantifiersOf()
	if err != nil {
		return quantify.Needs{} // refused when the file was checked
	}
	return quantify.NeedsOf(list)
}

// reads reports whether any quantifier reads a part of tokens.
func (f *File) reads(p quantify.Parts) bool {
	n := f.needs()
	return (n.Answer|n.Sample)&p != 0
}

// Unsupported is a quantifier that a model cannot support, and why.
type Unsupported struct {
	Quantifier string           `json:"quantifier"`
	Why        []record.Missing `json:"why"`
}

// unsupported lists the study's quantifiers that an engine which can do so much does not support. Their values
// will be missing.
func (f *File) unsupported(can llm.Capabilities) []Unsupported {
	list, err := f.quantifiersOf()
	if err != nil {
		return nil // refused when the file was checked
	}
	have := f.givenEvidence()
	parts := quantify.LogProbs
	if can.Details.Alternatives >= 2 {
		parts |= quantify.TopAlternatives
	}
	if can.Details.Entropy {
		parts |= quantify.FullEntropy
	}
	if can.Details.End {
		parts |= quantify.EndOfTurn
	}
	have.Answer, have.Sample = parts, parts
	if !can.Score {
		have.Questions = slices.DeleteFunc(quantify.Questions(), quantify.Question.Forced)
		if f.Entailment.By == OwnEntailment {
			have.Entailment, have.EntailmentWithQuestion = 0, 0
		}
	}
	var lacking []Unsupported
	for _, q := range list {
		if why := q.Needs.Lacking(have); len(why) > 0 {
			lacking = append(lacking, Unsupported{q.ID, why})
		}
	}
	return lacking
}

// fewerAlternatives says that an engine tells fewer alternatives than the study asks for; empty if it does not, or if
// nothing reads them.
func (f *File) fewerAlternatives(can llm.Details) string {
	n := can.Alternatives
	if n < 2 || n >= f.Sampling.Alternatives || !f.reads(quantify.TopAlternatives) {
		return ""
	}
	return fmt.Sprintf("%d alternatives to each token, as the server tells no more than that; sampling.alternatives is %d. Quantifiers that read them compare at one number only", n, f.Sampling.Alternatives)
}

// String is for people.
func (u Unsupported) String() string { return u.Quantifier + ": " + joinMissing(u.Why) }

// entails reports whether anything in the study reads entailment that somebody must be asked for.
func (f *File) entails() bool {
	needs := f.needs()
	asked := f.Entailment.By != LexicalEntailment && f.Entailment.By != NoEntailment
	return asked && (needs.Entailment != 0 || needs.EntailmentWithQuestion != 0)
}
