// Package scores makes typed columns of a table that has confidence scores and correctness labels,
// whoever wrote it, and evaluates them: metrics with intervals, paired comparisons, gates.
//
// A score has a [Kind]. It is declared, or guessed from name and values, and then the guess is among
// the table's notes; a declaration that the values contradict is an error, so that no log-probability
// is ever binned as a confidence. Labels may be written in any of the usual vocabularies, or be
// graded. What is missing has a reason and is counted.
//
// It may change; the stable packages of this module are named in docs/design.md.
package scores
