// Package bayes infers how good judges of correctness are, from their judgements and the labels of
// people, and maps the scores of quantifiers to comparable confidences: the Bayesian data analysis of
// "A Tale of Two Error Categories", Appendix B.
//
// [FitJudges] fits the judge model, with all judges of the data together, alone, or one threshold of
// each family ([FitScopes] does all three, since they differ); [FitExactly] fits one judge without
// Monte-Carlo error; [FitResponses] fits the item-response model; [PriorSensitivity] shows what the
// priors do:
//
//	p, err := bayes.FitJudges(ctx, data, bayes.PaperPriors(), bayes.NUTS, bayes.Options{Seed: seed})
//	f1, ok := p.By("rouge-l@0.1", bayes.F1)  // its median, intervals and diagnostics
//	p.Convergence.Verdict                    // whether the draws may stand for the posterior
//
// The sampler is there for other models too: [Sample] draws from any [Model] with the no-U-turn
// sampler, [Summarise] describes the draws, and [Assess] judges them. A fit that has not converged
// gives every value its warnings, and one with a chain that stands still gives no values.
//
// The same seed gives the same bytes on any number of processors: each chain has a generator of its
// own, seeded by the seed of the fit and the number of the chain.
//
// What the judge model rests on: judgements are independent given the correctness of the items. Those
// of thresholds of one score are not, and the check [CheckOthers] shows it.
package bayes
