package weights

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// patience is how long a lock may be held by others before a person is told why nothing moves.
const patience = time.Second

// lock makes the cache folder and takes its lock, so that two processes do not fetch the same file
// at once. The operating system drops the lock of a process that dies.
func (c *Cache) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(c.home, 0o755); err != nil {
		return nil, fmt.Errorf("cache folder: %w; set %s to a folder that can be written", err, HomeVariable)
	}
	type result struct {
		unlock func()
		err    error
	}
	got := make(chan result, 1)
	go func() {
		unlock, err := lockedfile.MutexAt(filepath.Join(c.home, "lock")).Lock()
		got <- result{unlock, err}
	}()
	waiting := time.NewTimer(patience)
	defer waiting.Stop()
	for {
		select {
		case r := <-got:
			if r.err != nil {
				return nil, fmt.Errorf("cache lock: %w; set %s to a folder that can be written", r.err, HomeVariable)
			}
			return r.unlock, nil
		case <-waiting.C:
			c.reporter.Note("another process is filling this cache; waiting for it")
		case <-ctx.Done():
			go func() {
				if r := <-got; r.err == nil {
					r.unlock()
				}
			}()
			return nil, ctx.Err()
		}
	}
}
