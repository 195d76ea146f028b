package collect_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/credence-lab/credence/collect"
)

// own is the error of one request, as a server's refusal of it.
type own struct{ i int }

func (e own) Error() string { return fmt.Sprintf("item %d: refused", e.i) }
func (own) OfRequest() bool { return true }

func TestLostItemsAreNamed(t *testing.T) {
	t.Parallel()
	list := make([]int, 100)
	for i := range list {
		list[i] = i
	}
	errDown := errors.New("no connection")
	for name, c := range map[string]struct {
		fails func(i int) error
		asked int // at least
		says  []string
	}{
		"three":      {func(i int) error { return when(i%40 == 7, own{i}) }, 100, []string{"3 items could not be had, all others were asked: item 7: refused; item 47: refused; item 87: refused"}},
		"one":        {func(i int) error { return when(i == 5, fmt.Errorf("%w", own{5})) }, 100, []string{"1 item could not be had, all others", "item 5"}},
		"most":       {func(i int) error { return when(i > 3, own{i}) }, 20, []string{"and no more were asked"}},
		"the server": {func(i int) error { return when(i == 50, errDown) }, 50, []string{"no connection"}},
	} {
		var mu sync.Mutex
		var asked, done []int
		_, err := collect.Each(t.Context(), list, 4, func(_ context.Context, i int) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, i)
			return i, c.fails(i)
		}, func(i int, gave int) {
			if done = append(done, i); gave != i {
				t.Errorf("%s: item %d gave %d", name, i, gave)
			}
		})
		if len(asked) < c.asked || name == "most" && len(asked) > 40 {
			t.Errorf("%s: %d asked", name, len(asked))
		}
		for _, want := range c.says {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", name, err, want)
			}
		}
		for _, i := range done {
			if c.fails(i) != nil {
				t.Errorf("%s: item %d was told as done", name, i)
			}
		}
		if name == "three" && (len(done) != 97 || slices.Contains(done, 47) || !errors.As(err, &own{})) {
			t.Errorf("%d items done, %v", len(done), err)
		}
	}
}

func when(fails bool, err error) error {
	if fails {
		return err
	}
	return nil
}
