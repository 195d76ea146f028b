package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// recomputed has the numbers of a run computed again from its tables, by a script that shares nothing
// with the program.
func recomputed(t *testing.T, folder string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python(t), filepath.Join("testdata", "recompute.py"), folder).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "recomputed ") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// python is the interpreter of the environment that scripts/python.sh makes.
func python(t *testing.T) string {
	t.Helper()
	cache := os.Getenv("CREDENCE_TEST_CACHE")
	if cache == "" {
		base := os.Getenv("XDG_CACHE_HOME")
		if base == "" {
			base = filepath.Join(os.Getenv("HOME"), ".cache")
		}
		cache = filepath.Join(base, "credence-test")
	}
	path := filepath.Join(cache, "python", "bin", "python")
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CREDENCE_REQUIRE_PYTHON") != "" {
			t.Fatal(err)
		}
		t.Skipf("no Python environment for the recomputation; scripts/python.sh makes it: %v", err)
	}
	return path
}
