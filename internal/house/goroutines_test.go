package house_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Packages that start goroutines run their tests under goleak: a goroutine that nobody ends keeps memory, files and
// connections for as long as a study takes.
func TestGoroutinesAreWatched(t *testing.T) {
	t.Parallel()
	root := moduleRoot(t)
	touch(t, root)
	watched := 0
	for _, p := range list(t, root, "linux") {
		if within(p.name(), testOnly) {
			continue
		}
		folder := filepath.Join(root, p.name())
		at := startsGoroutine(t, folder)
		switch {
		case at == "":
		case !watches(t, folder):
			t.Errorf("%s starts a goroutine (%s) and no test of it looks for leaks: call goleak.VerifyTestMain in its TestMain", p.name(), at)
		default:
			watched++
		}
	}
	if watched == 0 {
		t.Error("no package seems to start goroutines: this test looks for the wrong thing")
	}
}

// startsGoroutine is where the production code of a folder starts a goroutine first; empty if nowhere.
func startsGoroutine(t *testing.T, folder string) (at string) {
	t.Helper()
	files := token.NewFileSet()
	for _, path := range sources(t, folder, func(name string) bool { return !strings.HasSuffix(name, "_test.go") }) {
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if at == "" && n != nil && starts(n) {
				where := files.Position(n.Pos())
				where.Filename = filepath.Base(where.Filename)
				at = where.String()
			}
			return at == ""
		})
	}
	return at
}

// starts reports whether n is a go statement, or a call of a method that starts a goroutine as
// [sync.WaitGroup.Go] does.
func starts(n ast.Node) bool {
	if _, ok := n.(*ast.GoStmt); ok {
		return true
	}
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && (method.Sel.Name == "Go" || method.Sel.Name == "AfterFunc")
}

func watches(t *testing.T, folder string) bool {
	t.Helper()
	for _, path := range sources(t, folder, func(name string) bool { return strings.HasSuffix(name, "_test.go") }) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte("goleak.")) {
			return true
		}
	}
	return false
}

// sources are the Go files of a folder whose names are wanted.
func sources(t *testing.T, folder string, wanted func(name string) bool) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, path := range paths {
		if wanted(filepath.Base(path)) {
			list = append(list, path)
		}
	}
	return list
}
