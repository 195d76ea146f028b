package weights

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	// patience is how long a lock may be held by others before a person is told why nothing moves.
	patience = time.Second
	// lockEvery is how often a lock that others hold is tried.
	lockEvery = 50 * time.Millisecond
)

// lock makes the cache folder and takes its lock, so that two processes do not fetch the same file
// at once. The operating system drops the lock of a process that dies.
func (c *Cache) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(c.home, 0o755); err != nil {
		return nil, fmt.Errorf("cache folder: %w; set %s to a folder that can be written", err, HomeVariable)
	}
	lock := flock.New(filepath.Join(c.home, "lock"), flock.SetPermissions(0o666))
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	held, err := lock.TryLockContext(soon, lockEvery)
	if !held && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		c.reporter.Note("another process is filling this cache; waiting for it")
		held, err = lock.TryLockContext(ctx, lockEvery)
	}
	switch {
	case held:
		return func() { _ = lock.Unlock() }, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("cache lock: %w; set %s to a folder that can be written", err, HomeVariable)
}
