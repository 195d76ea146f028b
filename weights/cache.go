package weights

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// Environment variables that the command and the library both honour.
const (
	// HomeVariable names the cache folder.
	HomeVariable = "CREDENCE_HOME"
	// CatalogueVariable names a catalogue file that replaces the built-in one.
	CatalogueVariable = "CREDENCE_CATALOGUE"
)

// Options says where the cache is and how it may be filled. The zero value is usable.
type Options struct {
	// Home is the cache folder; empty is [DefaultHome].
	Home string
	// Catalogue is what can be fetched; nil is the file that CREDENCE_CATALOGUE names, else [BuiltIn].
	Catalogue *Catalogue
	// Offline forbids every source but this machine.
	Offline bool
	// EngineLibrary is a folder with the engine's libraries to use instead of those of the cache.
	EngineLibrary string
	// Reporter is told what happens; nil is silence.
	Reporter Reporter
	// HTTP fetches URLs; nil is a client that gives up in seconds on a host that does not answer.
	HTTP *http.Client
}

// DefaultHome is the folder that CREDENCE_HOME names, else credence in the user's cache folder.
func DefaultHome() (string, error) {
	if dir := os.Getenv(HomeVariable); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", &InputError{fmt.Sprintf("no cache folder: %v; set %s", err, HomeVariable)}
	}
	return filepath.Join(dir, "credence"), nil
}

// Cache is a folder with weights and libraries. Several processes may use one at the same time.
type Cache struct {
	home          string
	catalogue     *Catalogue
	offline       bool
	engineLibrary string
	reporter      Reporter
	http          *http.Client
	clients       clients
}

// Open opens a cache. The folder is made when something is put into it, not before.
func Open(o Options) (*Cache, error) {
	c := &Cache{
		home: o.Home, catalogue: o.Catalogue, offline: o.Offline, engineLibrary: o.EngineLibrary,
		reporter: o.Reporter, http: o.HTTP, clients: newClients(),
	}
	var err error
	if c.home == "" {
		c.home, err = DefaultHome()
	} else {
		c.home, err = filepath.Abs(c.home)
	}
	if err != nil {
		return nil, err
	}
	if c.catalogue == nil {
		if c.catalogue, err = defaultCatalogue(); err != nil {
			return nil, err
		}
	}
	if c.reporter == nil {
		c.reporter = silence{}
	}
	if c.http == nil {
		c.http = newHTTPClient()
	}
	return c, nil
}

func defaultCatalogue() (*Catalogue, error) {
	if file := os.Getenv(CatalogueVariable); file != "" {
		return ReadCatalogue(file)
	}
	return BuiltIn(), nil
}

// Home is the cache folder, absolute.
func (c *Cache) Home() string { return c.home }

// Catalogue is what this cache can be filled with.
func (c *Cache) Catalogue() *Catalogue { return c.catalogue }

// Paths is where a model and its engine lie on this machine.
type Paths struct {
	// Library is the folder of the engine's libraries.
	Library string
	// LibraryVersion is the release of llama.cpp; empty for a folder that the user gave.
	LibraryVersion string
	// Weights is the GGUF file, SHA256 its checksum in hex.
	Weights string
	SHA256  string
	// Model is the catalogue's entry; nil for a file that the user gave and the catalogue does not know.
	Model *Model
}

// Ensure returns the paths of a model and of the libraries that run it. The model is a name of the
// catalogue (empty is its default) or the path of a GGUF file. What is missing is fetched; what is
// there costs no more than a look at sizes and times.
//
// Errors: [*InputError] for a name or file that cannot be, [*SpaceError] where the disk is too
// full, [*UnavailableError] where no source has the bytes, ctx.Err() when interrupted; what was
// fetched until then is kept and used the next time.
func (c *Cache) Ensure(ctx context.Context, model string) (Paths, error) {
	var paths Paths
	var missing []artefact
	file, err := c.resolve(model)
	if err != nil {
		return Paths{}, err
	}
	if file == "" {
		m, err := c.catalogue.Model(model)
		if err != nil {
			return Paths{}, err
		}
		paths.Model, paths.SHA256 = &m, m.SHA256
		missing = append(missing, c.model(m))
	}
	if c.engineLibrary == "" {
		e, err := c.catalogue.Engine("")
		if err != nil {
			return Paths{}, err
		}
		paths.LibraryVersion = e.Version
		missing = append(missing, c.engine(e))
	} else if err := checkLibraryFolder(c.engineLibrary); err != nil {
		return Paths{}, err
	}
	if err := c.ensure(ctx, missing, false); err != nil {
		return Paths{}, err
	}
	return c.locate(ctx, paths, file)
}

// locate fills in the paths of what is there by now.
func (c *Cache) locate(ctx context.Context, p Paths, file string) (Paths, error) {
	var err error
	if p.Library = c.engineLibrary; p.Library == "" {
		e, err := c.catalogue.Engine("")
		if err != nil {
			return Paths{}, err
		}
		p.Library = c.engine(e).path()
	} else if p.Library, err = filepath.Abs(p.Library); err != nil {
		return Paths{}, err
	}
	if file == "" {
		p.Weights = c.model(*p.Model).path()
		return p, nil
	}
	p.Weights = file
	if p.SHA256, err = c.fileSum(ctx, file); err != nil {
		return Paths{}, err
	}
	for _, m := range c.catalogue.Models {
		if m.SHA256 == p.SHA256 {
			p.Model = &m
		}
	}
	return p, nil
}

// resolve returns the absolute path if model means a file, and nothing if it means a name.
func (c *Cache) resolve(model string) (string, error) {
	if _, err := c.catalogue.Model(model); err == nil {
		return "", nil
	}
	info, err := os.Stat(model)
	switch {
	case err == nil && info.Mode().IsRegular():
		return filepath.Abs(model)
	case err == nil:
		return "", &InputError{fmt.Sprintf("weights %s: is not a file; give a GGUF file or a name of the catalogue", model)}
	case strings.ContainsAny(model, `/\`) || strings.EqualFold(filepath.Ext(model), ".gguf"):
		return "", &InputError{fmt.Sprintf("weights: %v; give a GGUF file or a name of the catalogue", err)}
	}
	return "", nil
}

// Pull fetches the named models (none: the default one) and the engine's libraries. With verify,
// what is there is hashed again, and what is damaged is fetched again.
func (c *Cache) Pull(ctx context.Context, names []string, verify bool) error {
	if len(names) == 0 {
		names = []string{c.catalogue.Default}
	}
	var all []artefact
	for _, name := range names {
		m, err := c.catalogue.Model(name)
		if err != nil {
			return err
		}
		all = append(all, c.model(m))
	}
	if c.engineLibrary == "" {
		e, err := c.catalogue.Engine("")
		if err != nil {
			return err
		}
		all = append(all, c.engine(e))
	}
	return c.ensure(ctx, all, verify)
}

// artefact is one thing that the cache holds: a file of weights, a set of libraries.
type artefact interface {
	// item describes it for people.
	item() Item
	// path is where it lies when it is there.
	path() string
	// ready says whether it is there and whole; verify hashes it even if nothing seems to have changed.
	ready(ctx context.Context, verify bool) (bool, error)
	// space is how many bytes of disk fetching it takes beyond what is there.
	space() int64
	// fetch puts it there. The caller holds the cache's lock.
	fetch(ctx context.Context) error
}

// ensure fetches those of wanted that are not there, one process at a time.
func (c *Cache) ensure(ctx context.Context, wanted []artefact, verify bool) error {
	missing, err := missingOf(ctx, wanted, verify)
	if err != nil || len(missing) == 0 {
		return err
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	// Another process may have fetched it while this one waited.
	if missing, err = missingOf(ctx, missing, false); err != nil || len(missing) == 0 {
		return err
	}
	c.announce(missing)
	if err := c.checkSpace(missing); err != nil {
		return err
	}
	for _, a := range missing {
		if err := a.fetch(ctx); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("interrupted while fetching %s; what has come is kept: %w", a.item().Name, ctx.Err())
			}
			return err
		}
		c.reporter.Done(a.item())
	}
	return nil
}

func missingOf(ctx context.Context, wanted []artefact, verify bool) ([]artefact, error) {
	var missing []artefact
	for _, a := range wanted {
		ok, err := a.ready(ctx, verify)
		if err != nil {
			return nil, err
		}
		if !ok {
			missing = append(missing, a)
		}
	}
	return missing, nil
}

// failed notes that a source did not help. That nothing was put into the folder incoming is no news.
func (c *Cache) failed(attempts []Attempt, item, source string, err error) []Attempt {
	if errors.Is(err, errNotThere) {
		return attempts
	}
	c.reporter.Note(fmt.Sprintf("%s: %s: %v", item, source, err))
	return append(attempts, Attempt{source, err})
}

func (c *Cache) announce(missing []artefact) {
	a := Announcement{Home: c.home}
	for _, m := range missing {
		a.Items = append(a.Items, m.item())
	}
	c.reporter.Announce(a)
}

// SpaceError says that the disk is too full for what is to be fetched.
type SpaceError struct {
	Folder     string
	Need, Free int64 // bytes
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("not enough space in %s: %s needed, %s free; make room, or set %s to a folder on another disk",
		e.Folder, FormatBytes(e.Need), FormatBytes(e.Free), HomeVariable)
}

func (c *Cache) checkSpace(missing []artefact) error {
	var need int64
	for _, a := range missing {
		need += a.space()
	}
	free, err := freeSpace(c.home)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("space in %s: %w", c.home, err)
	}
	if free < need {
		return &SpaceError{c.home, need, free}
	}
	return nil
}
