//go:build !linux && !darwin && !windows

package weights

import "errors"

// freeSpace is not known here; a full disk then shows when it is written to.
func freeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }
