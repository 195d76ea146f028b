package study

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"
)

// ParseMemory reads a size of memory, such as "2GB" (2·10⁹ bytes), "1.5GiB" or a number of bytes, as a bound.
// Nothing is no bound and gives 0; a bound of 0 is an error.
func ParseMemory(size string) (int64, error) {
	if size == "" {
		return 0, nil
	}
	n, err := humanize.ParseBytes(size)
	switch {
	case err != nil:
		return 0, fmt.Errorf("memory %q is no size", size)
	case n == 0 || n > math.MaxInt64:
		return 0, fmt.Errorf("memory %q is no possible bound", size)
	}
	return int64(n), nil
}
