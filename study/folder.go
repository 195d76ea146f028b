package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Files of a run's folder.
const (
	studyFile      = "study.yaml"
	ledgerFile     = "ledger.db"
	resultsFile    = "results.json"
	runFile        = "run.json"
	cardFile       = "card.md"
	reportFile     = "report.html"
	answersFile    = "answers.parquet"
	readingsFile   = "readings.parquet"
	tokensFile     = "tokens.parquet"
	judgementsFile = "judgements.parquet"
	metricsFile    = "metrics.parquet"
	multiverseFile = "multiverse.parquet"
	nearFile       = "near-correct.csv"
	lockFile       = ".lock"
)

// FolderError is a run folder that cannot be used.
type FolderError struct {
	Path, What string
	Err        error
}

func (e *FolderError) Error() string { return e.Path + ": " + e.What }

// Unwrap returns the cause.
func (e *FolderError) Unwrap() error { return e.Err }

// unusable is a folder that was named and cannot hold a run: the user's to mend, so it exits with 2.
type unusable struct{ *FolderError }

func (unusable) BadInput() bool { return true }

// folder is a run's folder, locked against a second run for as long as it is open.
type folder struct {
	path string
	lock *flock.Flock
}

// openFolder makes the folder where needed and locks it. A folder that holds other things than a run
// is refused: a run replaces files by name.
func openFolder(path string) (*folder, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, unusable{&FolderError{path, "cannot make the run folder: " + cause(err) + "; choose another with --out", err}}
	}
	if err := refuseForeign(path); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(path, lockFile))
	held, err := lock.TryLock()
	if err != nil {
		return nil, unusable{&FolderError{path, "cannot write here: " + cause(err) + "; choose another folder with --out", err}}
	}
	if !held {
		return nil, &FolderError{path, "another credence is writing this run; wait for it, or choose another folder with --out", nil}
	}
	f := &folder{path, lock}
	f.sweep()
	return f, nil
}

// Hold keeps runs from a folder until release is called, for whoever changes files in it. A folder in which no run
// ever was is left as it is.
func Hold(path string) (release func(), err error) {
	if _, err := os.Stat(filepath.Join(path, lockFile)); err != nil {
		return func() {}, nil
	}
	lock := flock.New(filepath.Join(path, lockFile))
	held, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, unusable{&FolderError{path, "cannot write here: " + cause(err), err}}
	case !held:
		return nil, &FolderError{path, "a run is using it; wait for it, or end it", nil}
	}
	return func() { _ = lock.Unlock() }, nil
}

// sweep removes what a killed run left half written. The lock is held, so nobody is writing.
func (f *folder) sweep() {
	left, _ := filepath.Glob(f.join(".*.tmp-*"))
	for _, path := range left {
		_ = os.Remove(path)
	}
}

func refuseForeign(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return &FolderError{path, "cannot be read: " + cause(err), err}
	}
	if len(entries) == 0 {
		return nil
	}
	// A study.yaml alone is no mark of a run: it is what people call the study that they wrote.
	for _, name := range []string{lockFile, ledgerFile} {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return nil
		}
	}
	return unusable{&FolderError{path, fmt.Sprintf("is not empty and holds no run (%q and others); choose another folder with --out", entries[0].Name()), nil}}
}

func (f *folder) close() error { return f.lock.Unlock() }

func (f *folder) has(name string) bool {
	_, err := os.Stat(f.join(name))
	return err == nil
}

func (f *folder) join(name string) string { return filepath.Join(f.path, name) }

// write replaces a file as a whole: readers see the old or the new one, never a part.
func (f *folder) write(name string, data []byte) error {
	return f.writeWith(name, func(file *os.File) error {
		_, err := file.Write(data)
		return err
	})
}

func (f *folder) writeWith(name string, fill func(*os.File) error) (err error) {
	temp, err := os.CreateTemp(f.path, "."+name+".tmp-*")
	if err != nil {
		return &FolderError{f.path, "cannot write " + name + ": " + cause(err), err}
	}
	defer func() {
		if err != nil {
			err = &FolderError{f.path, "cannot write " + name + ": " + cause(err), errors.Join(err, temp.Close(), os.Remove(temp.Name()))}
		}
	}()
	if err := fill(temp); err != nil {
		return err
	}
	if err := temp.Chmod(0o644); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), f.join(name))
}
