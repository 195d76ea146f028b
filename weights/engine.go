package weights

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
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
	return Item{Name: f.Name, Title: "llama.cpp " + f.Version + " libraries for " + f.Platform,
		Bytes: f.bytes(), Licence: f.Licence, Path: f.path()}
}

// space counts the files and the archive that they come in.
func (f *engineFolder) space() int64 {
	var largest int64
	for _, s := range f.Sources {
		largest = max(largest, s.Bytes)
	}
	return f.bytes() + largest
}

// ready says whether every file is there and whole, and every link leads to its file.
func (f *engineFolder) ready(ctx context.Context, verify bool) (bool, error) {
	m := readMarks(f.marks())
	dirty := false
	for _, file := range f.Files {
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
	if dirty {
		m.write(f.marks())
	}
	return true, nil
}

// sameContent says whether two names mean one file, or, where links are copies, two of one size.
func sameContent(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && (os.SameFile(x, y) || runtime.GOOS == "windows" && x.Size() == y.Size())
}

// fetch tries the sources in order until one has every file.
func (f *engineFolder) fetch(ctx context.Context) error {
	var attempts []Attempt
	for _, d := range f.deliveries() {
		err := f.unpackFrom(ctx, d)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if isLocal(err) {
			return err
		}
		attempts = f.cache.failed(attempts, f.Name, d.carrier.name(), err)
	}
	return f.unavailable(attempts)
}

type engineDelivery struct {
	carrier carrier
	source  EngineSource
}

func (f *engineFolder) deliveries() []engineDelivery {
	var list []engineDelivery
	for _, s := range f.Sources {
		list = append(list, engineDelivery{f.cache.folderCarrier(), s})
	}
	if f.cache.offline {
		return list
	}
	for _, s := range f.Sources {
		list = append(list, engineDelivery{f.cache.npmCarrier(), s})
	}
	return list
}

// unpackFrom puts the files of one source into a folder of their own, and that in its place when it
// is whole.
func (f *engineFolder) unpackFrom(ctx context.Context, d engineDelivery) error {
	if err := d.carrier.ask(ctx); err != nil {
		return err
	}
	report := func(n int64) {
		f.cache.reporter.Progress(Progress{f.Name, d.carrier.name(), min(n, d.source.Bytes) * f.bytes() / d.source.Bytes, f.bytes()})
	}
	archive, release, err := d.carrier.carry(ctx, d.source.Package, d.source.Version, report)
	if err != nil {
		return err
	}
	defer release()
	partial := f.path() + ".partial"
	if err := remake(partial); err != nil {
		return localError{err}
	}
	defer os.RemoveAll(partial)
	if err := f.unpack(ctx, archive, d.source.Folder, partial); err != nil {
		return err
	}
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

// unpack writes the catalogue's files from the archive into dir, checks them and makes the links.
func (f *engineFolder) unpack(ctx context.Context, archive, folder, dir string) error {
	wanted := map[string]File{}
	for _, file := range f.Files {
		wanted[folder+"/"+file.Name] = file
	}
	m := marks{}
	err := eachTarFile(archive, func(name string, r io.Reader) error {
		file, ok := wanted[name]
		if !ok {
			return ctx.Err()
		}
		delete(wanted, name)
		return unpackFile(ctx, file, r, dir, m)
	})
	if err != nil {
		return err
	}
	if len(wanted) > 0 {
		return fmt.Errorf("has no %s", strings.Join(slices.Sorted(maps.Keys(wanted)), ", "))
	}
	for link, target := range f.Links {
		if err := makeLink(dir, link, target); err != nil {
			return localError{err}
		}
	}
	m.write(filepath.Join(dir, "checked.json"))
	return nil
}

func unpackFile(ctx context.Context, file File, r io.Reader, dir string, m marks) (err error) {
	path := filepath.Join(dir, file.Name)
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return localError{err}
	}
	defer out.Close()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(localWriter{out}, h), contextReader{ctx, io.LimitReader(r, file.Bytes+1)})
	if err != nil {
		return err
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if n != file.Bytes || sum != file.SHA256 {
		return fmt.Errorf("%s %w: sha256 %s, expected %s; not accepted", file.Name, errOtherBytes, sum, file.SHA256)
	}
	if err := out.Sync(); err != nil {
		return localError{err}
	}
	info, err := out.Stat()
	if err != nil {
		return localError{err}
	}
	m[file.Name] = mark{info.Size(), info.ModTime(), sum}
	return nil
}

// localWriter marks errors of writing as this machine's.
type localWriter struct{ w io.Writer }

func (l localWriter) Write(b []byte) (int, error) {
	n, err := l.w.Write(b)
	if err != nil {
		err = localError{err}
	}
	return n, err
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

// checkLibraryFolder says what a folder that the user gave lacks.
func checkLibraryFolder(dir string) error {
	for _, name := range libraryNames() {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return &InputError{fmt.Sprintf("engine library folder %s: no %s in it; it must have %s",
				dir, name, strings.Join(libraryNames(), ", "))}
		}
	}
	return nil
}
