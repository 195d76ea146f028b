package weights

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// library is where the engine's libraries come from: a folder of the user's, or of the cache.
type library interface {
	artefact
	version() string
}

// library is the one that the options and the platform lead to.
func (c *Cache) library() (library, error) {
	if c.engineLibrary != "" {
		dir, err := filepath.Abs(c.engineLibrary)
		if err != nil {
			return nil, err
		}
		return ownFolder(dir), checkLibraryFolder(dir)
	}
	engines, err := c.catalogue.EnginesFor("")
	if err != nil {
		return nil, err
	}
	choice := &engineChoice{}
	for _, e := range engines {
		choice.folders = append(choice.folders, c.engine(e))
	}
	choice.engineFolder = choice.folders[0]
	return choice, nil
}

// engineChoice is the sets of libraries for one platform: one that is there, else the first that can
// be had. The embedded one is the chosen, the first until then.
type engineChoice struct {
	*engineFolder
	folders []*engineFolder
}

func (c *engineChoice) ready(ctx context.Context, verify bool) (bool, error) {
	for _, f := range c.folders {
		ok, err := f.ready(ctx, verify)
		if ok || err != nil {
			c.engineFolder = f
			return ok, err
		}
	}
	return false, nil
}

func (c *engineChoice) fetch(ctx context.Context) error {
	var attempts []Attempt
	for _, f := range c.folders {
		c.engineFolder = f
		err := f.fetch(ctx)
		var none *UnavailableError
		if !errors.As(err, &none) {
			return err
		}
		attempts = append(attempts, none.Attempts...)
	}
	c.engineFolder = c.folders[0]
	return c.unavailable(attempts)
}

// unavailable names the ways to every set, each once.
func (c *engineChoice) unavailable(attempts []Attempt) error {
	e := &UnavailableError{Name: c.Name, Offline: c.cache.offline, Attempts: attempts}
	for _, f := range c.folders {
		e.Ways = append(e.Ways, f.ways()...)
	}
	e.Ways = append(e.Ways, fmt.Sprintf("a folder of your own with llama.cpp %s (%s): --engine-library DIR",
		c.Version, strings.Join(libraryNames(), ", ")))
	return e
}

// ownFolder is a folder that the user gave. It is used as it is.
type ownFolder string

func (o ownFolder) item() Item                                { return Item{Name: "engine", Path: string(o)} }
func (o ownFolder) path() string                              { return string(o) }
func (o ownFolder) version() string                           { return "" }
func (o ownFolder) ready(context.Context, bool) (bool, error) { return true, nil }
func (o ownFolder) space() int64                              { return 0 }
func (o ownFolder) fetch(context.Context) error               { return nil }
func (o ownFolder) unavailable([]Attempt) error               { return checkLibraryFolder(string(o)) }

// checkLibraryFolder says what a folder that the user gave lacks.
func checkLibraryFolder(dir string) error {
	if name, ok := lacking(dir); ok {
		return &InputError{fmt.Sprintf("engine library folder %s: no %s in it; it must have %s",
			dir, name, strings.Join(libraryNames(), ", "))}
	}
	return nil
}
