package quantify

import (
	"fmt"
	"strings"

	"github.com/credence-lab/credence/internal/nearest"
)

// Default is the set of "A Tale of Two Error Categories" (Ilia and Aziz 2026, section 4), in its order:
// log-probability, normalised log-probability, predictive entropy, semantic entropy, semantic confidence,
// P(True) and verbalised confidence.
func Default() []Quantifier {
	return []Quantifier{
		LogProbability(WithoutEnd), NormalisedLogProbability(WithoutEnd), PredictiveEntropy(),
		SemanticEntropy(Strict, TextsAlone), SemanticConfidence(Forward, TextsAlone),
		PTrue(WithIdeas, TrueFirst), Verbalised(OwnAnswer),
	}
}

// Family is quantifiers that read the same kind of thing.
type Family struct {
	Title       string
	Quantifiers []Quantifier
}

// Families lists every quantifier by what it reads, in a fixed order.
func Families() []Family {
	return []Family{
		{"Tokens of the answer", ofTokens()},
		{"Texts and tokens of samples", ofSamples()},
		{"Meanings of samples", ofMeaning()},
		{"Graphs and kernels over samples", ofGraphs()},
		{"Similarity and relevance", ofSimilarity()},
		{"Questions to the model", ofReplies()},
		{"As other toolkits have it", ofPeers()},
	}
}

// All lists every quantifier, in the order of [Families].
func All() []Quantifier {
	var all []Quantifier
	for _, f := range Families() {
		all = append(all, f.Quantifiers...)
	}
	return all
}

func ofTokens() []Quantifier {
	var all []Quantifier
	for _, ending := range []Ending{WithoutEnd, WithEnd} {
		all = append(all, LogProbability(ending), NormalisedLogProbability(ending), Perplexity(ending))
		for _, how := range Aggregations() {
			if how != FirstToken || ending == WithoutEnd { // the first token is the first either way
				all = append(all, TokenProbability(how, ending))
			}
		}
		all = append(all, TokenEntropy(ending), TokenNegentropy(Mean, ending), TokenNegentropy(Min, ending), ProbabilityMargin(ending))
	}
	return append(all, FullTokenEntropy())
}

func ofSamples() []Quantifier {
	return []Quantifier{
		PredictiveEntropy(),
		SequenceEntropy(BySum, WithoutEnd), SequenceEntropy(ByToken, WithoutEnd),
		SequenceEntropy(BySum, WithEnd), SequenceEntropy(ByToken, WithEnd),
		ModalShare(), AnswerAgreement(), PairwiseAgreement(), PairwiseCosine(), CosineAgreement(),
		LexicalSimilarity(RougeL), LexicalSimilarity(Jaccard),
	}
}

func ofMeaning() []Quantifier {
	var all []Quantifier
	for _, premise := range []Premise{TextsAlone, AfterQuestion} {
		for _, eq := range []Equivalence{Strict, Loose, Either} {
			all = append(all,
				SemanticEntropy(eq, premise), LikelihoodSemanticEntropy(eq, premise),
				SemanticModalShare(eq, premise), SemanticAgreement(eq, premise), SemanticClasses(eq, premise))
		}
		for _, direction := range []Contradiction{Forward, InEither, InBoth} {
			all = append(all, SemanticConfidence(direction, premise))
		}
		all = append(all,
			SemanticSets(premise), EntailmentAgreement(premise), Noncontradiction(premise), LUQ(premise),
			SemanticDensity(premise))
	}
	return all
}

func ofGraphs() []Quantifier {
	var all []Quantifier
	for _, of := range []func(Affinity, Premise) Quantifier{EigV, Degree, Eccentricity} {
		all = append(all,
			of(ByEntailment, TextsAlone), of(ByNoncontradiction, TextsAlone), of(ByJaccard, TextsAlone),
			of(ByEntailment, AfterQuestion), of(ByNoncontradiction, AfterQuestion))
	}
	return append(all, KernelLanguageEntropy(TextsAlone), KernelLanguageEntropy(AfterQuestion))
}

func ofSimilarity() []Quantifier {
	all := []Quantifier{TokenSAR()}
	for _, l := range []Likeness{Measured, Embedded} {
		all = append(all, SentenceSAR(l), SAR(l), CoCoA(Sequence, l), CoCoA(PerToken, l), CoCoA(PerTokenEntropy, l))
	}
	return all
}

func ofPeers() []Quantifier {
	return []Quantifier{
		SampledProbability(ByToken), SampledProbability(BySum),
		UQLMSemanticEntropy(Equal), UQLMSemanticEntropy(Likely),
		UQLMSemanticNegentropy(Equal), UQLMSemanticNegentropy(Likely), UQLMSemanticSetsConfidence(),
		UQLMSemanticDensity(TextsAlone), UQLMSemanticDensity(AfterQuestion), UQLMCoCoA(),
		LMPolygraphSemanticEntropy(false), LMPolygraphSemanticEntropy(true),
		LMPolygraphSemanticDensity(TextsAlone), LMPolygraphSemanticDensity(AfterQuestion),
		NormalisedKernelLanguageEntropy(),
		LexicalSimilarity(Rouge1Stemmed), LexicalSimilarity(Rouge2Stemmed), LexicalSimilarity(RougeLStemmed),
	}
}

func ofReplies() []Quantifier {
	return []Quantifier{
		PTrue(WithIdeas, TrueFirst), PTrue(WithIdeas, BothOrders), PTrue(WithoutIdeas, TrueFirst), PTrue(WithoutIdeas, BothOrders),
		Verbalised(OwnAnswer), Verbalised(Top1), VerbalisedTopK(AsStated), VerbalisedTopK(SumToOne),
		Verbalised(TwoStage), Verbalised(Reasoning), Verbalised(Linguistic),
	}
}

// ByID finds the quantifier with this id. The error of an unknown id names those that it may have meant.
func ByID(id string) (Quantifier, error) {
	all := All()
	ids := make([]string, len(all))
	for i, q := range all {
		if q.ID == id {
			return q, nil
		}
		ids[i] = q.ID
	}
	if meant, ok := nearest.Of(id, ids); ok {
		return Quantifier{}, fmt.Errorf("quantify: unknown quantifier %q; did you mean %q?", id, meant)
	}
	name, _, _ := strings.Cut(id, ".")
	var variants []string
	for _, known := range ids {
		if known == name || strings.HasPrefix(known, name+".") {
			variants = append(variants, known)
		}
	}
	if variants == nil {
		return Quantifier{}, fmt.Errorf("quantify: unknown quantifier %q; docs/quantifiers.md lists all", id)
	}
	return Quantifier{}, fmt.Errorf("quantify: unknown quantifier %q; of that name there are %s", id, strings.Join(variants, ", "))
}
