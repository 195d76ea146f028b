package ledger

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// All that is held is renewed in one go, what was let go is not, and nothing ticks when nothing is held.
func TestHolder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var renewed []int
		h := &holder{every: time.Second, renew: func(keys []Key) {
			mu.Lock()
			defer mu.Unlock()
			renewed = append(renewed, len(keys))
		}}
		first, second := h.hold([]Key{{1}, {2}}), h.hold([]Key{{3}})
		time.Sleep(2500 * time.Millisecond)
		first()
		time.Sleep(time.Second)
		second()
		time.Sleep(time.Hour)
		mu.Lock()
		if want := []int{3, 3, 1}; !slices.Equal(renewed, want) {
			t.Errorf("renewed %v keys, want %v", renewed, want)
		}
		mu.Unlock()
		third := h.hold([]Key{{4}})
		time.Sleep(1500 * time.Millisecond)
		third()
		if want := []int{3, 3, 1, 1}; !slices.Equal(renewed, want) {
			t.Errorf("renewed %v keys, want %v", renewed, want)
		}
		time.Sleep(time.Hour)
	})
}

// A claim that is renewed after its call was delivered would keep others waiting, so letting go waits.
func TestReleaseWaitsForTheRenewalUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		over := false
		h := &holder{every: time.Second, renew: func([]Key) {
			time.Sleep(time.Minute)
			over = true
		}}
		release := h.hold([]Key{{1}})
		time.Sleep(2 * time.Second)
		release()
		if !over {
			t.Error("let go while the claim was being renewed")
		}
		time.Sleep(time.Hour)
	})
}
