//go:build !unix

package main

// peakMB is the most memory that this process had; this system does not tell.
func peakMB() (float64, bool) { return 0, false }
