//go:build !unix

package cli

// peakBytes is the most memory that this process had; this system does not tell.
func peakBytes() int64 { return 0 }
