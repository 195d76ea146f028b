package ledger

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
)

// committer is the one writer of a process. While a transaction is being made durable, the writes
// that arrive gather, and the next transaction takes them all: the cost of a sync is shared, and
// nobody waits for a timer.
type committer struct {
	conn *sql.Conn
	stmt statements
	seen rowCache
	// prompts and ids pack what only this goroutine writes; unpack is that of the store.
	prompts, ids learner
	unpack       func([]byte) ([]byte, error)
	jobs         chan *job
	quit         chan struct{}
	done         chan struct{}
}

// job is one write. run may be called twice, if the transaction that it shared was rolled back.
type job struct {
	run  func(*committer) error
	done chan error
}

// maxGroup bounds a transaction, so that its latency stays small.
const maxGroup = 1024

func newCommitter(db *sql.DB, unpack func([]byte) ([]byte, error)) (*committer, error) {
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &committer{conn: conn, unpack: unpack, jobs: make(chan *job), quit: make(chan struct{}), done: make(chan struct{})}
	if err := c.stmt.prepare(ctx, conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	c.forget()
	go c.loop()
	return c, nil
}

// do runs a write and returns when it is durable. A write that has begun is not given up when ctx ends.
func (c *committer) do(ctx context.Context, run func(*committer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{run: run, done: make(chan error, 1)}
	select {
	case c.jobs <- j:
		return <-j.done
	case <-c.quit:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close ends the loop after the writes under way.
func (c *committer) close() error {
	close(c.quit)
	<-c.done
	return errors.Join(c.stmt.close(), c.conn.Close())
}

func (c *committer) loop() {
	defer close(c.done)
	for {
		select {
		case j := <-c.jobs:
			c.group(c.gather(j))
		case <-c.quit:
			return
		}
	}
}

// gather takes what is waiting now, and lets those come who are about to: each transaction that several share
// spares the others.
func (c *committer) gather(first *job) []*job {
	jobs := []*job{first}
	runtime.Gosched()
	for len(jobs) < maxGroup {
		select {
		case j := <-c.jobs:
			jobs = append(jobs, j)
		default:
			return jobs
		}
	}
	return jobs
}

// group commits jobs together. If that fails, each is tried alone, so that only what is itself
// impossible fails.
func (c *committer) group(jobs []*job) {
	err := c.transact(jobs...)
	for _, j := range jobs {
		if err != nil && len(jobs) > 1 {
			j.done <- c.transact(j)
			continue
		}
		j.done <- err
	}
}

// transact runs jobs in one transaction. It takes the write lock at the start: a lock that is
// raised halfway fails at once where another process is writing.
func (c *committer) transact(jobs ...*job) error {
	ctx := context.Background()
	if _, err := c.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	var err error
	for _, j := range jobs {
		if err = j.run(c); err != nil {
			break
		}
	}
	if err == nil {
		_, err = c.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		c.forget()
		// After some errors SQLite has rolled back by itself; then this one says so and no more.
		_, _ = c.conn.ExecContext(ctx, "ROLLBACK")
	}
	return err
}

// forget drops what is known of rows: after a rollback they may be gone.
func (c *committer) forget() {
	c.seen.clear()
	c.prompts, c.ids = learner{purpose: forPrompts}, learner{purpose: forIDs}
}
