package house_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listed is what `go list` says of one package.
type listed struct {
	ImportPath string
	Name       string
	Imports    []string
	CgoFiles   []string
}

// name is the path within the module, "." for its root.
func (p listed) name() string { return local(p.ImportPath) }

func local(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

func TestImports(t *testing.T) {
	t.Parallel()
	root := moduleRoot(t)
	touch(t, root)
	for _, system := range []string{"linux", "darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			for _, p := range list(t, root, system) {
				for _, fault := range faults(p) {
					t.Error(fault)
				}
			}
		})
	}
}

// faults are the rules that p breaks, each with its reason.
func faults(p listed) []string {
	var out []string
	fault := func(what, because string) { out = append(out, p.name()+" "+what+":\n\t"+because) }
	if len(p.CgoFiles) > 0 {
		fault("uses cgo ("+strings.Join(p.CgoFiles, ", ")+")", "credence is built for every system from one machine, with CGO_ENABLED=0")
	}
	l := layerOf(p.name())
	if l == nil {
		fault("has no layer", "say in internal/house/rules_test.go whom it may import, and why")
		return out
	}
	for _, path := range p.Imports {
		if ours(path) {
			if in := local(path); !l.allows(p.name(), in) {
				fault("imports "+in, l.because)
			}
			if in := local(path); within(in, testOnly) && !within(p.name(), testOnly) {
				fault("imports "+in, testOnlyBecause)
			}
			continue
		}
		for _, h := range homes {
			if within(path, h.of) && !within(p.name(), h.in) && !within(p.name(), testOnly) {
				fault("imports "+path, h.because)
			}
		}
		if slices.Contains(pure, p.name()) && slices.Contains(impure, path) {
			fault("imports "+path, pureBecause)
		}
	}
	return out
}

// layerOf returns the layer of a package: its own, or that of the package it lies below.
func layerOf(name string) *layer {
	for {
		for i := range layers {
			if slices.Contains(layers[i].packages, name) {
				return &layers[i]
			}
		}
		up := strings.LastIndex(name, "/")
		if up < 0 {
			return nil
		}
		name = name[:up]
	}
}

// allows reports whether a package of the layer may import another of the module.
func (l *layer) allows(from, to string) bool {
	if within(to, l.may) || strings.HasPrefix(to, from+"/") {
		return true
	}
	leaf := slices.Contains(l.packages, "record")
	if !leaf && slices.Contains(helpers, to) {
		return true
	}
	// A sub-package belongs to its parent: siblings below one package of the layer know each other.
	return slices.ContainsFunc(l.packages, func(p string) bool {
		return strings.HasPrefix(from, p+"/") && (to == p || strings.HasPrefix(to, p+"/"))
	})
}

// within reports whether path is one of patterns, or lies below one that ends in "/...".
func within(path string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		top, all := strings.CutSuffix(p, "/...")
		return path == top || (all && strings.HasPrefix(path, top+"/"))
	})
}

func TestEveryPackageHasOneLayer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, l := range layers {
		if l.because == "" {
			t.Errorf("the layer of %v has no reason", l.packages)
		}
		for _, p := range l.packages {
			if seen[p] {
				t.Errorf("%s is in two layers", p)
			}
			seen[p] = true
		}
	}
	for _, l := range layers {
		for _, p := range l.may {
			if !seen[p] {
				t.Errorf("%v may import %s, which has no layer", l.packages, p)
			}
		}
	}
}

// TestRulesBite holds made-up packages to the rules, so that a slip in the rules does not pass all.
func TestRulesBite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		allowed  bool
	}{
		{"record", "internal/nearest", false},
		{"metric", "measure", true},
		{"metric", "record", false},
		{"metric", "time", false},
		{"judge", "llm", false},
		{"protocol", "ledger", false},
		{"protocol", "metric", true},
		{"collect", "llm/llamacpp", false},
		{"collect", "ledger", false},
		{"study", "internal/cli", false},
		{"study", "llm/llmtest", false},
		{"internal/cli", "llm/llmtest", false},
		{"internal/web", "study", true},
		{"study", "net/http", false},
		{"llm/openai", "net/http", true},
		{"study", "modernc.org/sqlite/lib", false},
		{"ledger/sqlite", "modernc.org/sqlite", true},
		{"ledger/sqlite", "ledger", true},
		{"ledger", "ledger/sqlite", true},
		{"llm/llamacpp/internal/gguf", "llm/llamacpp/internal/libffi", true},
		{"llm/llamacpp", "llm/openai", false},
		{"llm/openai", "llm/llamacpp/internal/gguf", false},
		{"llm/llmtest", "pgregory.net/rapid", true},
		{"dataset", "testing", false},
		{"cmd/credence", "study", false},
		{"newcomer", "record", false},
	} {
		path := c.to
		if layerOf(c.to) != nil {
			path = module + "/" + c.to
		}
		got := faults(listed{ImportPath: module + "/" + c.from, Imports: []string{path}})
		if allowed := len(got) == 0; allowed != c.allowed {
			t.Errorf("%s imports %s: allowed %t, want %t %v", c.from, c.to, allowed, c.allowed, got)
		}
	}
}

// list asks go list for the module's packages as they are built for one system, with cgo enabled so
// that cgo would be seen.
func list(t *testing.T, root, system string) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Name,Imports,CgoFiles", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=1")
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages = append(packages, p)
	}
	if len(packages) == 0 {
		t.Fatal("go list names no package")
	}
	return packages
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// touch looks at every Go file of the module, so that go test runs this test again when one changes:
// what go list reads is unknown to it.
func touch(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "runs" || d.Name() == "node_modules"):
			return fs.SkipDir
		case filepath.Ext(path) == ".go":
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
