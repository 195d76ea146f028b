package wire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxAfter is the longest wait that is believed. A longer one is no guidance.
const maxAfter = 24 * time.Hour

// retryAfter is how long a server asks to wait, and whether it says so in a form that can be used: in
// milliseconds (retry-after-ms), or in seconds or as a date (Retry-After, RFC 9110 section 10.2.3). A
// form that cannot be used does not hide the next one. A date that is past means at once.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	if d, ok := duration(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d, true
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if d, ok := duration(value, time.Second); ok {
		return d, true
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	wait := max(date.Sub(now), 0)
	return wait, wait <= maxAfter
}

// duration reads a number of units: not negative, finite, and no longer than maxAfter.
func duration(text string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > float64(maxAfter/unit) {
		return 0, false
	}
	return time.Duration(n * float64(unit)), true
}
