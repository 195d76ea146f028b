package quantify_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

// goldenCase is one case of testdata/uq.json: explicit tokens, samples and entailment, and what
// lm-polygraph, uqlm and plain formulas make of them.
type goldenCase struct {
	Name  string
	Input struct {
		Answer           string         `json:"greedy_text"`
		Samples          []string       `json:"sample_texts"`
		AnswerLogProbs   []float64      `json:"greedy_token_logprobs"`
		SampleLogProbs   [][]float64    `json:"sample_token_logprobs"`
		AnswerEntropies  []float64      `json:"greedy_token_entropies"`
		AnswerTop5       [][]float64    `json:"greedy_top5_logprobs"`
		Entailment       [][][3]float64 `json:"nli"` // contradiction, neutral, entailment
		Embeddings       [][]float64    `json:"embeddings"`
		SampleSimilarity [][]float64    `json:"sample_similarity"`
		GreedySimilarity []float64      `json:"greedy_similarity"`
	}
	Expect map[string]map[string]json.RawMessage
}

func goldenCases(t testing.TB) []goldenCase {
	t.Helper()
	raw, err := os.ReadFile("testdata/uq.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []goldenCase }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 10 {
		t.Fatalf("%d cases, want 10", len(file.Cases))
	}
	return file.Cases
}

func ofLogs(text string, logs []float64) quantify.Text {
	t := quantify.Text{Text: text, Tokens: make([]record.Token, len(logs))}
	for i, l := range logs {
		t.Tokens[i].LogProb = l
	}
	return t
}

// A reading says how the entailments of a case, which are given by position and differ between equal texts,
// reached a toolkit.
type reading int

const (
	// byPosition: as they are given.
	byPosition reading = iota
	// byText: uqlm looks a pair of texts up, and finds that of their first positions.
	byText
	// askedOnce: by text, and a text entails itself without being asked.
	askedOnce
)

// evidence puts a case together.
func (c goldenCase) evidence(t testing.TB, how reading) *quantify.Evidence {
	t.Helper()
	in := c.Input
	e := &quantify.Evidence{Answer: ofLogs(in.Answer, in.AnswerLogProbs), Embeddings: in.Embeddings}
	e.Answer.Alternatives, e.Answer.Entropies = in.AnswerTop5, in.AnswerEntropies
	texts := []string{in.Answer}
	for i, text := range in.Samples {
		e.Samples = append(e.Samples, ofLogs(text, in.SampleLogProbs[i]))
		texts = append(texts, text)
	}
	n := len(texts)
	position := map[string]int{}
	for i, text := range texts {
		if _, known := position[text]; !known {
			position[text] = i
		}
	}
	relations, similarities := make([][]quantify.Relation, n), make([][]record.Number, n)
	for i := range n {
		relations[i], similarities[i] = make([]quantify.Relation, n), make([]record.Number, n)
		for j := range n {
			cell := in.Entailment[i][j]
			if how != byPosition {
				cell = in.Entailment[position[texts[i]]][position[texts[j]]]
			}
			relations[i][j] = quantify.Relation{Contradicts: cell[0], Neither: cell[1], Entails: cell[2]}
			if how == askedOnce && texts[i] == texts[j] {
				relations[i][j] = quantify.Relation{Entails: 1}
			}
			switch {
			case i > 0 && j > 0:
				similarities[i][j] = record.Known(in.SampleSimilarity[i-1][j-1])
			case i != j:
				similarities[i][j] = record.Known(in.GreedySimilarity[max(i, j)-1])
			default:
				similarities[i][j] = record.Known(1)
			}
		}
	}
	var err error
	if e.Entailment, err = quantify.NewRelations(relations); err != nil {
		t.Fatal(err)
	}
	if e.Similarity, err = quantify.NewSimilarities(similarities); err != nil {
		t.Fatal(err)
	}
	return e
}

func same(x float64) float64       { return x }
func negated(x float64) float64    { return -x }
func complement(x float64) float64 { return 1 - x }

// golden says which quantifier gives which number of a toolkit, after a change of direction.
var golden = []struct {
	toolkit, name, id string
	turn              func(float64) float64
}{
	{"numpy_formula", "logprob_sum", "log-probability", same},
	{"numpy_formula", "logprob_mean", "normalised-log-probability", same},
	{"numpy_formula", "perplexity_exp", "perplexity", same},
	{"numpy_formula", "min_token_prob", "minimum", same},
	{"numpy_formula", "predictive_entropy_mc", "sequence-entropy", same},
	{"numpy_formula", "predictive_entropy_mc_length_normalised", "sequence-entropy.normalised", same},
	{"numpy_formula", "predictive_entropy_text_frequency", "predictive-entropy", same},
	{"numpy_formula", "semantic_entropy_discrete", "semantic-entropy", same},
	{"numpy_formula", "num_classes", "semantic-classes", same},
	{"numpy_formula", "semantic_entropy_rao_SU", "semantic-entropy.likelihood", same},
	{"numpy_formula", "semantic_confidence_seedC_forward", "semantic-confidence", same},
	{"numpy_formula", "semantic_confidence_seedC_either", "semantic-confidence.either", same},
	{"numpy_formula", "semantic_confidence_seedC_both", "semantic-confidence.both", same},

	{"lm_polygraph", "MaximumSequenceProbability", "log-probability", negated},
	{"lm_polygraph", "Perplexity", "normalised-log-probability", negated},
	{"lm_polygraph", "MeanTokenEntropy", "token-entropy.full", same},
	{"lm_polygraph", "MonteCarloSequenceEntropy", "sequence-entropy", same},
	{"lm_polygraph", "MonteCarloNormalizedSequenceEntropy", "sequence-entropy.normalised", same},
	{"lm_polygraph", "SemanticEntropy_sum_mean", "semantic-entropy.lm-polygraph", same},
	{"lm_polygraph", "SemanticEntropy_sum_mean_unique", "semantic-entropy.distinct.lm-polygraph", same},
	{"lm_polygraph", "SemanticEntropy_frequency_mean", "semantic-entropy", same},
	{"lm_polygraph", "NumSemSets", "semantic-sets", same},
	{"lm_polygraph", "SentenceSAR", "sentence-sar", same},
	{"lm_polygraph", "CocoaMSP", "cocoa", same},
	{"lm_polygraph", "CocoaPPL", "cocoa.normalised", same},
	{"lm_polygraph", "CocoaMTE", "cocoa.entropy", same},
	{"lm_polygraph", "KernelLanguageEntropy", "kernel-language-entropy.lm-polygraph", same},
	{"lm_polygraph", "LUQ", "luq", same},
	{"lm_polygraph", "LabelProb", "semantic-modal-share", complement},
	{"lm_polygraph", "SemanticDensityOutput", "semantic-density.lm-polygraph", negated},
	{"lm_polygraph", "LexicalSimilarity_rouge1", "lexical-similarity.rouge-1.lm-polygraph", negated},
	{"lm_polygraph", "LexicalSimilarity_rouge2", "lexical-similarity.rouge-2.lm-polygraph", negated},
	{"lm_polygraph", "LexicalSimilarity_rougeL", "lexical-similarity.rouge-l.lm-polygraph", negated},
	{"lm_polygraph", "EigValLaplacian_NLI_entail", "eigv.entailment", same},
	{"lm_polygraph", "EigValLaplacian_NLI_contra", "eigv.noncontradiction", same},
	{"lm_polygraph", "EigValLaplacian_Jaccard", "eigv.jaccard", same},
	{"lm_polygraph", "DegMat_NLI_entail", "degree.entailment", same},
	{"lm_polygraph", "DegMat_NLI_contra", "degree.noncontradiction", same},
	{"lm_polygraph", "DegMat_Jaccard", "degree.jaccard", same},
	{"lm_polygraph", "Eccentricity_NLI_entail", "eccentricity.entailment", same},
	{"lm_polygraph", "Eccentricity_NLI_contra", "eccentricity.noncontradiction", same},
	{"lm_polygraph", "Eccentricity_Jaccard", "eccentricity.jaccard", same},

	{"uqlm", "min_probability", "minimum", same},
	{"uqlm", "sequence_probability", "geometric-mean", same},
	{"uqlm", "sequence_probability_raw", "product", same},
	{"uqlm", "min_token_negentropy_top5", "token-negentropy.minimum", same},
	{"uqlm", "mean_token_negentropy_top5", "token-negentropy", same},
	{"uqlm", "probability_margin_top5", "probability-margin", same},
	{"uqlm", "monte_carlo_probability", "sampled-probability.uqlm", same},
	{"uqlm", "monte_carlo_probability_raw", "sampled-probability.product.uqlm", same},
	{"uqlm", "exact_match", "answer-agreement", same},
	{"uqlm", "discrete_semantic_entropy", "semantic-entropy.uqlm", same},
	{"uqlm", "semantic_negentropy", "semantic-negentropy.uqlm", same},
	{"uqlm", "tokenprob_semantic_entropy", "semantic-entropy.likelihood.uqlm", same},
	{"uqlm", "tokenprob_semantic_negentropy", "semantic-negentropy.likelihood.uqlm", same},
	{"uqlm", "semantic_sets_confidence", "semantic-sets-confidence.uqlm", same},
	{"uqlm", "noncontradiction", "noncontradiction", same},
	{"uqlm", "entailment", "entailment-agreement", same},
	{"uqlm", "cosine_sim_formula_on_given_embeddings", "cosine-agreement", same},
	{"uqlm", "consistency_and_confidence_cocoa_formula", "cocoa.uqlm", same},
	{"uqlm", "semantic_density", "semantic-density.uqlm", same},
}

func TestValuesOfOtherToolkits(t *testing.T) {
	t.Parallel()
	for _, c := range goldenCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			asGiven, certain := c.evidence(t, byPosition), c.evidence(t, askedOnce)
			for _, g := range golden {
				e := asGiven
				switch {
				case g.name == "semantic_density":
					e = c.evidence(t, byText)
				case g.toolkit == "uqlm":
					e = certain
				}
				var want float64
				if err := json.Unmarshal(c.Expect[g.toolkit][g.name], &want); err != nil {
					t.Errorf("%s %s: %v", g.toolkit, g.name, err)
					continue
				}
				got := value(t, g.id, e)
				if !close(g.turn(got), want, tolerance(g.name)) {
					t.Errorf("%s: %s %s = %.17g, %s gives %.17g", g.id, g.toolkit, g.name, g.turn(got), g.toolkit, want)
				}
			}
		})
	}
}

// tolerance is 1e-12 but where a toolkit's own numbers are that coarse: lm-polygraph leaves eigenvalues below
// 1e-8 out of the kernel's entropy, and takes the root of a sum that should be 0.
func tolerance(name string) float64 {
	switch name {
	case "KernelLanguageEntropy":
		return 1e-6
	case "Eccentricity_NLI_entail", "Eccentricity_NLI_contra", "Eccentricity_Jaccard":
		return 1e-7
	}
	return 1e-12
}

func TestClassesOfOtherToolkits(t *testing.T) {
	t.Parallel()
	for _, c := range goldenCases(t) {
		for toolkit, name := range map[string]string{"numpy_formula": "classes_bidirectional_first_member", "lm_polygraph": "semantic_classes"} {
			var want []int
			if err := json.Unmarshal(c.Expect[toolkit][name], &want); err != nil {
				t.Fatal(err)
			}
			got, why := quantify.MeaningsOf(c.evidence(t, byPosition), quantify.Strict, quantify.TextsAlone)
			if why != record.Present || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %v %q, %s gives %v", c.Name, got, why, toolkit, want)
			}
		}
	}
}

// fatal is a test, or a property's.
type fatal interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// value computes one quantifier, which must have a value.
func value(t fatal, id string, e *quantify.Evidence) float64 {
	t.Helper()
	q, err := quantify.ByID(id)
	if err != nil {
		t.Fatal(err)
	}
	number, err := q.Of(e)
	if err != nil {
		t.Fatal(err)
	}
	x, ok := number.Get()
	if !ok {
		t.Fatalf("%s is missing: %s", id, number.Missing())
	}
	return x
}

func close(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*math.Max(1, math.Abs(b))
}
