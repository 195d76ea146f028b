package cli

import (
	"fmt"
	"time"
)

// pace is how fast counted work goes.
type pace struct {
	began time.Time
	// first is how much was done when it began: what an earlier run has left goes faster than what is new.
	first int
}

// speed is the rate in units a second and the time left at that rate; known is false before the first
// unit is done.
func (p pace) speed(now time.Time, done, total int) (rate float64, left time.Duration, known bool) {
	seconds := now.Sub(p.began).Seconds()
	if done <= p.first || seconds <= 0 {
		return 0, 0, false
	}
	rate = float64(done-p.first) / seconds
	return rate, time.Duration(float64(total-done) / rate * float64(time.Second)), true
}

// rateWords writes a rate in two digits, of a minute where that is easier to imagine.
func rateWords(rate float64) string {
	switch {
	case rate >= 10:
		return fmt.Sprintf("%.0f/s", rate)
	case rate >= 1:
		return fmt.Sprintf("%.1f/s", rate)
	case rate*60 >= 10:
		return fmt.Sprintf("%.0f/min", rate*60)
	}
	return fmt.Sprintf("%.1f/min", rate*60)
}

// leftWords writes the time left to the second, without the seconds of more than an hour.
func leftWords(left time.Duration) string {
	if left >= time.Hour {
		left = left.Round(time.Minute)
		return fmt.Sprintf("%dh%02dm left", left/time.Hour, left%time.Hour/time.Minute)
	}
	return left.Round(time.Second).String() + " left"
}
