//go:build unix

package main

import (
	"runtime"
	"syscall"
	"time"
)

// peakMB is the most memory that this process had.
func peakMB() (float64, bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	if runtime.GOOS == "darwin" {
		return float64(u.Maxrss) / 1e6, true // in bytes there, in kilobytes elsewhere
	}
	return float64(u.Maxrss) * 1024 / 1e6, true
}

// processorTime is what this process has computed so far.
func processorTime() (time.Duration, bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
