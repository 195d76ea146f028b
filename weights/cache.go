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
	if there, err := os.Stat(c.home); err == nil && !there.IsDir() {
		return nil, &InputError{fmt.Sprintf("the cache folder %s is a file; set %s to a folder", c.home, HomeVariable)}
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
	file, err := c.resolve(model)
	if err != nil {
		return Paths{}, err
	}
	library, err := c.library()
	if err != nil {
		return Paths{}, err
	}
	wanted := []artefact{library}
	var paths Paths
	if file == "" {
		m, err := c.catalogue.Model(model)
		if err != nil {
			return Paths{}, err
		}
		f := c.model(m)
		wanted = append(wanted, f)
		paths.Model, paths.Weights, paths.SHA256 = &m, f.path(), m.SHA256
	}
	if err := c.ensure(ctx, wanted, false); err != nil {
		return Paths{}, err
	}
	paths.Library, paths.LibraryVersion = library.path(), library.version()
	if file != "" {
		err = c.identify(ctx, file, &paths)
	}
	return paths, err
}

// identify fills in what is known of a file that the user gave.
func (c *Cache) identify(ctx context.Context, file string, p *Paths) error {
	sum, err := c.fileSum(ctx, file)
	if err != nil {
		return err
	}
	p.Weights, p.SHA256 = file, sum
	for _, m := range c.catalogue.Models {
		if m.SHA256 == sum {
			p.Model = &m
		}
	}
	return nil
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

// Tool returns the folder of a tool of the catalogue, and fetches it where it is missing. The errors are
// those of [Cache.Ensure].
func (c *Cache) Tool(ctx context.Context, name string) (string, error) {
	t, ok := c.catalogue.Tool(name, "")
	if !ok {
		return "", &InputError{fmt.Sprintf("no tool %q for this platform", name)}
	}
	f := c.engine(t)
	return f.path(), c.ensure(ctx, []artefact{f}, false)
}

// Pull fetches the named models and tools (none: the default model) and the engine's libraries. With verify,
// what is there is hashed again, and what is damaged is fetched again. It returns what is there
// then; the errors are those of [Cache.Ensure].
func (c *Cache) Pull(ctx context.Context, names []string, verify bool) ([]Item, error) {
	if len(names) == 0 {
		names = []string{c.catalogue.Default}
	}
	var all []artefact
	if library, err := c.library(); err == nil {
		all = append(all, library)
	} else {
		// The models are of use with an engine from elsewhere.
		c.reporter.Note(err.Error())
	}
	for _, name := range names {
		if t, ok := c.catalogue.Tool(name, ""); ok {
			all = append(all, c.engine(t))
			continue
		}
		if c.catalogue.isTool(name) {
			c.reporter.Note(name + " is a tool for another platform; left out")
			continue
		}
		m, err := c.catalogue.Model(name)
		if err != nil {
			return nil, err
		}
		all = append(all, c.model(m))
	}
	if err := c.ensure(ctx, all, verify); err != nil {
		return nil, err
	}
	items := make([]Item, len(all))
	for i, a := range all {
		items[i] = a.item()
	}
	return items, nil
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
	// unavailable is the error after all attempts have failed.
	unavailable([]Attempt) error
}

// ensure fetches those of wanted that are not there, one process at a time.
func (c *Cache) ensure(ctx context.Context, wanted []artefact, verify bool) error {
	missing, err := missingOf(ctx, wanted, verify)
	if err != nil || len(missing) == 0 {
		return err
	}
	if c.offline && c.folderCarrier().ask(ctx) != nil {
		return unavailable(missing)
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
	defer c.reporter.End()
	if !c.offline {
		c.announce(missing)
	}
	if err := c.checkSpace(missing); err != nil {
		return err
	}
	return c.fetchAll(ctx, missing)
}

// fetchAll goes on after something that no source has, so that one error names all that is wanting.
func (c *Cache) fetchAll(ctx context.Context, missing []artefact) error {
	var errs []error
	for _, a := range missing {
		err := a.fetch(ctx)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted while fetching %s; what has come is kept: %w", a.item().Name, ctx.Err())
		}
		var none *UnavailableError
		switch {
		case err == nil:
			c.reporter.Done(a.item())
		case errors.As(err, &none):
			errs = append(errs, err)
		default:
			return fmt.Errorf("fetching %s: %w", a.item().Name, err)
		}
	}
	return errors.Join(errs...)
}

func unavailable(missing []artefact) error {
	errs := make([]error, len(missing))
	for i, a := range missing {
		errs[i] = a.unavailable(nil)
	}
	return errors.Join(errs...)
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
