// Package bayescheck holds the long tests of package bayes: posteriors against those of another program, two
// samplers against each other, and simulation-based calibration. They stand apart because they
// compute for a while and share no memory, so that the race detector would only slow them down.
package bayescheck
