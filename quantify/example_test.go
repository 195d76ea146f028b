package quantify_test

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

// A set of quantifiers on one answer: what is needed is collected once, then all values come of it.
func Example() {
	set := []quantify.Quantifier{
		quantify.LogProbability(quantify.WithoutEnd),
		quantify.PredictiveEntropy(),
		quantify.SemanticEntropy(quantify.Strict, quantify.TextsAlone),
		quantify.PTrue(quantify.WithoutIdeas, quantify.TrueFirst),
	}
	need := quantify.NeedsOf(set)
	fmt.Println("entailment:", need.Entailment)

	texts := []string{"Paris", "In Paris", "Paris", "Lyon"}
	e := &quantify.Evidence{
		Answer: quantify.Text{Text: "Paris", Tokens: []record.Token{{LogProb: math.Log(.5)}, {LogProb: math.Log(.8)}}},
		Entailment: quantify.Relate("Paris", texts, func(premise, hypothesis string) quantify.Relation {
			if premise == "Lyon" || hypothesis == "Lyon" { // here a model is asked
				return quantify.Relation{Contradicts: .9, Neither: .1}
			}
			return quantify.Relation{Entails: .9, Neither: .1}
		}),
	}
	for _, text := range texts {
		e.Samples = append(e.Samples, quantify.Text{Text: text})
	}

	values, err := quantify.Evaluate(set, e)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, q := range set {
		if x, ok := values[i].Get(); ok {
			fmt.Printf("%s: %.3f %s (%s)\n", q.ID, x, q.Units, q.Orientation)
		} else {
			fmt.Printf("%s: %s\n", q.ID, values[i].Missing())
		}
	}
	// Output:
	// entailment: samples↔samples
	// log-probability: -0.916 nats (confidence)
	// predictive-entropy: 1.040 nats (uncertainty)
	// semantic-entropy: 0.562 nats (uncertainty)
	// p-true.no-ideas: not asked
}

// What a server can give decides which quantifiers a study can have, before it asks anything.
func ExampleNeeds_Lacking() {
	server := quantify.Needs{Answer: quantify.LogProbs, Sample: quantify.LogProbs, Samples: 10, Questions: quantify.Questions()}
	for _, q := range quantify.Default() {
		fmt.Println(q.ID, q.Needs.Lacking(server))
	}
	// Output:
	// log-probability []
	// normalised-log-probability []
	// predictive-entropy []
	// semantic-entropy [no entailment]
	// semantic-confidence [no entailment]
	// p-true []
	// verbalised-confidence []
}

func ExamplePairs_Of() {
	for _, pair := range (quantify.FromAnswer | quantify.AmongSamples).Of("Paris", []string{"Paris", "Lyon", "Lyon"}) {
		fmt.Println(pair.Premise, "→", pair.Hypothesis)
	}
	// Output:
	// Paris → Lyon
	// Lyon → Paris
}

// Two quantifiers of different range and direction, weighed by how well they tell right from wrong.
func ExampleCrossFit() {
	var labels, entropy, confidence []record.Number
	for i := range 40 {
		correct := float64(i % 2)
		labels = append(labels, record.Known(correct))
		entropy = append(entropy, record.Known(2-correct+float64(i%3)/2)) // tells, with some noise
		confidence = append(confidence, record.Known(float64(i%7)/7))     // does not
	}
	values, ensembles, err := quantify.CrossFit([]quantify.Column{
		{ID: "semantic-entropy", Orientation: measure.Uncertainty, Values: entropy},
		{ID: "verbalised-confidence", Orientation: measure.Confidence, Values: confidence},
	}, labels, 5, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(values), "values,", len(ensembles), "ensembles")
	fmt.Println("entropy weighs most:", ensembles[0].Weights()[0] > .8)
	// Output:
	// 40 values, 5 ensembles
	// entropy weighs most: true
}
