// Package metric holds the statistics that say how good a confidence score is: calibration,
// ranking, selective prediction.
//
// A score and its labels are prepared once ([Prepare], or [PrepareJointly] for several scores of the
// same items): oriented, sorted most confident first, equal scores collapsed. A [Statistic] is then
// one linear pass over counts on that order. With the counts that the data have it is the plain
// metric; with other counts it is the metric of a resample, which is how package resample gets ten
// thousand of them cheaply:
//
//	p, err := metric.Prepare(score, quality, measure.Confidence)
//	v := metric.AUROC().On(p)
//
// Labels are qualities in [0,1]: 0 and 1 for incorrect and correct, or something between for graded
// answers. Calibration and correlation take a quality as it is; statistics of two classes cut it at
// .5 and say so.
//
// Three rules hold throughout. Ties are resolved by expectation over their random order, never by
// the order of input; [KSInInputOrder] and [ECEArraySplit], published forms that do otherwise, are
// therefore functions and no statistics. A NaN is a missing value and is counted; ±Inf is a legal
// rank. What cannot be computed is undefined with a reason, never 0 and never NaN.
//
// Every statistic has an id that carries its variant, such as "ece.equal-width.10.left-closed".
// [All] lists the usual ones and [ByID] finds any. Ids that end in the name of a tool, such as
// "ece.equal-mass.10.netcal", give what that tool prints, its faults included. Which end of a
// statistic is the good one says [Statistic.Better].
package metric
