package collect

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Lost are the items that could not be had although others could: a server answered about each of them in a way
// that cannot be used, or refused it, as often as it was asked.
type Lost struct {
	mu   sync.Mutex
	errs map[int]error
	list []error // in the order of items
}

// maxLost is how many items may be lost before it looks as if all would be.
const maxLost = 20

var errTooMany = errors.New("too many items were lost")

// takes keeps an error that is one item's own, and reports whether it is and whether there may be more: an error
// says so of its request by a method OfRequest.
func (l *Lost) takes(i int, err error) (own, room bool) {
	var one interface{ OfRequest() bool }
	if !errors.As(err, &one) || !one.OfRequest() {
		return false, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.errs == nil {
		l.errs = make(map[int]error)
	}
	l.errs[i] = err
	return true, len(l.errs) <= maxLost
}

func (l *Lost) sorted() *Lost {
	for _, i := range slices.Sorted(maps.Keys(l.errs)) {
		l.list = append(l.list, l.errs[i])
	}
	return l
}

// Error names every item with what was wrong.
func (l *Lost) Error() string {
	words := make([]string, len(l.list))
	for i, err := range l.list {
		words[i] = err.Error()
	}
	head := "1 item could not be had, all others were asked"
	switch n := len(words); {
	case n > maxLost:
		head = fmt.Sprintf("%d items could not be had, and no more were asked", n)
	case n > 1:
		head = fmt.Sprintf("%d items could not be had, all others were asked", n)
	}
	return head + ": " + strings.Join(words, "; ")
}

// Unwrap gives the errors of the items, in their order.
func (l *Lost) Unwrap() []error { return l.list }
