// Package consistency measures whether a model's answers survive context that should not matter: it
// builds Cross-Contextual Consistency, C3, of Wu, Jiang and Aragam 2026 (arXiv 2608.10315).
//
// A [Comparison] holds the answers to one item under the original prompt and under perturbed ones, with a
// [Kernel] that says how alike two answers are. Its [Comparison.C3] is 1 − MMD²/2, with the agreements
// within and across the two sets beside it:
//
//	c := consistency.CompareAnswers(original, perturbed)
//	r, err := c.C3(consistency.Options{})          // r.State says whether the number means anything
//	iv, err := c.Bootstrap(consistency.Options{}, consistency.Resampling{Level: .95, N: 1000, Seed: seed})
//
// Around it: the baselines of appendix J ([Comparison.Agreement], [ModalShare], [SelfReport]); their
// evaluation against performance ([Evaluate], appendix E.2); the checks of appendices A and B
// ([CheckNeutrality], [FindLeaks], [TopicAlignment], [Converge]); trends over models ([TrendOf], Figures 1
// and 2); the [Diagnosis] of benchmarks (section 5.3); and what decides which perturbations are used at all
// ([Pool], [CalibrateDiversity], [Guard]).
//
// All functions are pure and draw chance only from the seed they are given: equal inputs give equal
// results. Nothing here asks a model; what is collected elsewhere comes in as texts, vectors and verdicts.
// Stopping the sampling of an item once its interval is narrow will stand beside [Converge], and scores of
// long answers by atomic facts beside the baselines.
package consistency
