// Package validation says how far an evaluation of uncertainty quantifiers can be trusted when judges,
// and not people, decide what is correct: it builds "A Tale of Two Error Categories" (Ilia and Aziz 2026),
// sections 3.2, 4, 5 and 6 with appendices B and D.
//
// A [Table] has items with the scores of quantifiers, the verdicts of judges and the labels of people.
// [Validate] makes a [Result] of it, from the parts that each file of this package computes: agreement
// with people ([Confusion], [Group]), the [Matrix] of every metric, [Place] averages by quality of judge,
// the exact [Decomposition] of what a judge's errors do to an AUROC, the [Tradeoff] of its errors at a
// threshold and around an instance, subsampled ranks ([Subsampled]), [Fits] of the judge model,
// and a [Recommendation].
//
// All functions are pure: the same table and options give the same result. Labels and scores that are
// missing are left out and counted, never taken for anything else. Differences, ranks and decompositions
// of a judge rest on the same items: those with a label of people, a verdict of the judge, and every score.
//
// Intervals corrected for judge error, prediction-powered intervals and the planner of annotations will
// take a Table too, and stand beside Result.
package validation
