//go:build unix

package cli

import (
	"runtime"
	"syscall"
)

// peakBytes is the most memory that this process had, 0 if the system does not tell.
func peakBytes() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss) // in bytes there, in kilobytes elsewhere
	}
	return int64(u.Maxrss) * 1024
}
