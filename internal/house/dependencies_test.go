package house_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDependenciesAreExplained compares go.mod with docs/dependencies.md: each module that is required
// directly, and each tool, has its reason there.
func TestDependenciesAreExplained(t *testing.T) {
	t.Parallel()
	root := moduleRoot(t)
	doc, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"go.mod", "go.sum"} { // read here, so that go test sees a change
		if _, err := os.ReadFile(filepath.Join(root, file)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go mod edit: %v", err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Tool []struct{ Path string }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		if !r.Indirect && !strings.Contains(string(doc), "| "+r.Path+" |") {
			t.Errorf("docs/dependencies.md does not say why %s is there, and what it replaces", r.Path)
		}
	}
	for _, tool := range mod.Tool {
		module, _, _ := strings.Cut(tool.Path, "/cmd/")
		if !strings.Contains(string(doc), module) {
			t.Errorf("docs/dependencies.md does not say what the tool %s is for", tool.Path)
		}
	}
}
