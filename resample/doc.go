// Package resample gives intervals to statistics of package metric by the bootstrap.
//
// [Paired] resamples the items of one setting (one model on one data set) and evaluates every
// statistic of every score on the same draws, so that differences are paired:
//
//	scores, err := metric.PrepareJointly(quality, verbalised, token)
//	draws, err := resample.Paired(ctx, scores, []metric.Statistic{metric.AUROC(), metric.AURC()},
//		resample.Options{Seed: resample.SettingSeed(study, model, dataset, "bootstrap")})
//	level := draws.Value(0, 0, .95)                  // AUROC of the verbalised score
//	gap := draws.Contrast("gap.auroc", .95,          // AUROC, verbalised minus token
//		resample.Term{Score: 0, Stat: 0, Weight: 1},
//		resample.Term{Score: 1, Stat: 0, Weight: -1})
//
// [MeanOverSettings] averages over settings first and takes percentiles then, as "Same Answer,
// Different Confidence", Appendix A, does.
//
// The same seed gives the same bytes on any number of processors: each resample has a generator of
// its own, seeded by the seed of the setting and the number of the resample. A draw on which a
// statistic is undefined is left out of its interval and counted in [measure.Interval].Undefined.
package resample
