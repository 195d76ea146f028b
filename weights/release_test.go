package weights

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// releasePage serves a manifest and archives by the paths that release pages have.
type releasePage struct {
	url   string
	files map[string][]byte
}

func newReleasePage(t *testing.T) *releasePage {
	p := &releasePage{files: map[string][]byte{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := p.files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// publish puts up an archive and a manifest that has its checksum, and returns the source.
func (p *releasePage) publish(asset string, archive []byte) *Release {
	manifest := fmt.Sprintf(`{"version": 1, "tag": "v1", "sources": {"owner/name": {"tag": "b7", "assets": {%q: {"sha256": %q}}}}}`,
		asset, sumOf(archive))
	p.files["/owner/name/releases/download/b7/"+asset] = archive
	p.files["/manifest.json"] = []byte(manifest)
	return &Release{Manifest: p.url + "/manifest.json", SHA256: sumOf([]byte(manifest)), Site: p.url,
		Repository: "owner/name", Asset: strings.Replace(asset, "b7", "{tag}", 1), Bytes: int64(len(archive))}
}

// releaseTar is an archive as releases have them: a folder, versioned libraries, chains of links.
func releaseTar(t *testing.T, more ...member) []byte {
	var members []member
	for i, name := range libraryNames() {
		base := strings.TrimSuffix(name, filepath.Ext(name))
		real, between := base+".0.1"+filepath.Ext(name), base+".0"+filepath.Ext(name)
		members = append(members,
			member{"llama-b7/" + name, []byte(between), tar.TypeSymlink},
			member{"llama-b7/" + between, []byte(real), tar.TypeSymlink},
			member{"llama-b7/" + real, noise(uint64(i), 100), 0})
	}
	members = append(members, member{"llama-b7/llama-cli", []byte("a program"), 0}, member{"llama-b7/LICENSE", []byte("terms"), 0})
	return tgz(t, append(members, more...))
}

// withRelease makes a release the second choice of the world's platform, behind the package.
func (w *world) withRelease(r *Release) {
	e := Engine{Platform: thisPlatform, Name: "engine-v1-release", Version: "v1", Licence: w.catalogue.Engines[0].Licence,
		Sources: []EngineSource{{Release: r}}}
	w.catalogue.Engines = append(w.catalogue.Engines, e)
	if err := w.catalogue.validate(); err != nil {
		w.t.Fatal(err)
	}
}

// withoutNPM opens a cache on a machine that has no npm.
func (w *world) withoutNPM(home string, adjust ...func(*Options)) (*Cache, *record) {
	c, r := w.open(home, adjust...)
	c.clients.npm.commands = nil
	return c, r
}

func TestReleaseServesWhereThereIsNoPackageClient(t *testing.T) {
	t.Parallel()
	w, home, page := newWorld(t), t.TempDir(), newReleasePage(t)
	w.withRelease(page.publish("llama-b7-bin.tar.gz", releaseTar(t)))
	c, r := w.withoutNPM(home)
	p := w.ensure(c)
	if filepath.Base(p.Library) != "engine-v1-release" || p.LibraryVersion != "v1" || !r.noted("npm: not installed") {
		t.Errorf("paths %+v, notes %q", p, r.notes)
	}
	for i, name := range libraryNames() {
		if got, err := os.ReadFile(filepath.Join(p.Library, name)); err != nil || !bytes.Equal(got, noise(uint64(i), 100)) {
			t.Errorf("%s: %d bytes, error %v", name, len(got), err)
		}
	}
	for _, name := range []string{"llama-cli", "LICENSE"} {
		if _, err := os.Stat(filepath.Join(p.Library, name)); err == nil {
			t.Errorf("%s was taken: it is no library", name)
		}
	}

	// It stays the choice, without a question to anyone, and even when the preferred one could be had.
	clear(page.files)
	again, quiet := w.open(home)
	if q := w.ensure(again); q.Library != p.Library || len(quiet.notes)+len(quiet.announced) != 0 {
		t.Errorf("the second time %+v, notes %q", q, quiet.notes)
	}
	if e, err := again.Engine(); err != nil || e.State != Present || e.Name != "engine-v1-release" {
		t.Errorf("status %+v, error %v", e, err)
	}
}

func TestVerifyFindsDamageInAReleasesLibraries(t *testing.T) {
	t.Parallel()
	w, home, page := newWorld(t), t.TempDir(), newReleasePage(t)
	w.withRelease(page.publish("llama-b7-bin.tar.gz", releaseTar(t)))
	c, _ := w.withoutNPM(home)
	p := w.ensure(c)
	damage(t, filepath.Join(p.Library, libraryNames()[0]), 10)
	mending, r := w.withoutNPM(home)
	if _, err := mending.Pull(context.Background(), nil, true); err != nil || !r.noted("is damaged") {
		t.Errorf("error %v, notes %q", err, r.notes)
	}
	if got, _ := os.ReadFile(filepath.Join(p.Library, libraryNames()[0])); !bytes.Equal(got, noise(0, 100)) {
		t.Error("the library is still damaged")
	}
}

func TestReleaseAsZip(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, name := range append(libraryNames(), "llama-cli.exe") {
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(noise(uint64(i), 100)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	w, page := newWorld(t), newReleasePage(t)
	w.withRelease(page.publish("llama-b7-bin.zip", b.Bytes()))
	c, _ := w.withoutNPM(t.TempDir())
	p := w.ensure(c)
	if got, err := os.ReadFile(filepath.Join(p.Library, libraryNames()[2])); err != nil || !bytes.Equal(got, noise(2, 100)) {
		t.Errorf("%d bytes, error %v", len(got), err)
	}
}

func TestReleaseThatIsNotWhatWasPinned(t *testing.T) {
	t.Parallel()
	asset := "/owner/name/releases/download/b7/llama-b7-bin.tar.gz"
	library := libraryNames()[0]
	for name, tt := range map[string]struct {
		archive []byte
		spoil   func(p *releasePage, r *Release)
		want    string
	}{
		"another manifest":           {releaseTar(t), func(p *releasePage, _ *Release) { p.files["/manifest.json"] = []byte("{}") }, "manifest has other bytes"},
		"no manifest":                {releaseTar(t), func(p *releasePage, _ *Release) { delete(p.files, "/manifest.json") }, "manifest: answered 404"},
		"another archive":            {releaseTar(t), func(p *releasePage, _ *Release) { p.files[asset] = tgz(t, nil) }, "llama-b7-bin.tar.gz has other bytes"},
		"an archive beyond its size": {releaseTar(t), func(p *releasePage, _ *Release) { p.files[asset] = noise(1, 1<<16) }, "has other bytes"},
		"an asset it has no sum of":  {releaseTar(t), func(_ *releasePage, r *Release) { r.Asset = "other.zip" }, "no checksum of other.zip"},
		"a group it does not have":   {releaseTar(t), func(_ *releasePage, r *Release) { r.Repository = "owner/other" }, "no checksum of"},
		"no library":                 {tgz(t, []member{{"README", nil, 0}}), nil, "has no " + library},
		"a library twice":            {releaseTar(t, member{"other/libx.so", []byte("1"), 0}, member{"libx.so", []byte("2"), 0}), nil, "has libx.so twice"},
		"a library that leads out":   {tgz(t, []member{{"a/" + library, []byte("../../../etc/passwd"), tar.TypeSymlink}}), nil, "has no " + library},
		"a library that leads nowhere": {tgz(t, []member{{"a/" + library, []byte("libx.so"), tar.TypeSymlink},
			{"a/libx.so", []byte(library), tar.TypeSymlink}}), nil, "has no " + library},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, home, page := newWorld(t), t.TempDir(), newReleasePage(t)
			r := page.publish(path.Base(asset), tt.archive)
			if tt.spoil != nil {
				tt.spoil(page, r)
			}
			w.withRelease(r)
			c, rec := w.withoutNPM(home)
			_, err := c.Ensure(context.Background(), "tiny")
			if err == nil || !strings.Contains(err.Error(), tt.want) || !rec.noted("engine-v1-release: 127.0.0.1", tt.want) {
				t.Errorf("error %v\nnotes %q\nwant %q", err, rec.notes, tt.want)
			}
			if left, _ := os.ReadDir(filepath.Join(home, "engines")); len(left) != 0 {
				t.Errorf("left over: %v", left)
			}
			for _, way := range []string{"npm pack", r.SHA256, "--engine-library DIR"} {
				if !strings.Contains(err.Error(), way) {
					t.Errorf("the error does not tell %q:\n%v", way, err)
				}
			}
		})
	}
}
