package metric

// calibrationFamilies are the calibration metrics beside the plainly binned ones.
func calibrationFamilies() []Family {
	return []Family{
		single(Brier()),
		reliability.family(), resolution.family(), uncertainty.family(), withinVariance.inBins(), withinCovariance.inBins(),
		logLossFamily(),
		single(KS()), kdeFamily(), smoothedFamily(), smoothECEFamily(), relplotFamily(),
		debiasedECE.family(), debiasedRMSCE.family(),
	}
}
