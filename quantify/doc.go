// Package quantify turns what was collected of an answer into confidence and uncertainty values. Its
// functions are pure: they ask no model and open no file, so that another quantifier costs no call.
//
// A [Quantifier] declares its direction, range, units, source, what it needs and what that costs; [All]
// lists them, [ByID] finds one, [Default] are the seven of "A Tale of Two Error Categories" (Ilia and
// Aziz 2026). What a set of them needs together is the [Needs.Union] of their needs, collected once into
// an [Evidence], from which [Evaluate] computes all values. A value that cannot be computed is missing for
// a reason (see [record.Missing] and [NoAlternatives] with its neighbours): never 0, never NaN.
//
// Values are left on the scale of their definition. [Quantifier.Orientation] says which end is the sure
// one; an [Ensemble] brings several onto one scale.
//
// An [Aggregation] makes a reading of the probabilities of an answer's tokens as "Same Answer, Different
// Confidence" (2026) has it; [TokenProbability] is the same as a quantifier.
//
// # Names
//
// An id is a name with its variant, joined by dots: "semantic-entropy.loose.question". A name alone is the
// form of the paper that the documentation cites. A variant that ends in "uqlm" or "lm-polygraph" computes
// what that library does under this name where it departs from the definition.
package quantify
