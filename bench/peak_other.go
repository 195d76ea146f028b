//go:build !unix

package main

import "time"

// peakMB is the most memory that this process had; this system does not tell.
func peakMB() (float64, bool) { return 0, false }

// processorTime is what this process has computed so far; this system does not tell.
func processorTime() (time.Duration, bool) { return 0, false }
