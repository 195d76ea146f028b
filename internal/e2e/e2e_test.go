package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/internal/cli"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/study"
	"github.com/credence-lab/credence/weights"
)

// asCommand makes the test binary behave as the command, so that a test can kill it.
const asCommand = "CREDENCE_E2E_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, args...)
	c.Env = append(os.Environ(), asCommand+"=1")
	return c
}

// needEngine skips where the model is not on this machine, unless that counts as a failure.
func needEngine(t *testing.T) {
	t.Helper()
	cache, err := weights.Open(weights.Options{Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = cache.Ensure(t.Context(), "")
	switch {
	case err == nil:
	case os.Getenv("CREDENCE_REQUIRE_ENGINE") != "":
		t.Fatal(err)
	default:
		t.Skipf("the embedded model is not on this machine; \"make pull\" fetches it: %v", err)
	}
}

// killings is how many killed runs are resumed: one in every test run, five in the long suite.
func killings(t *testing.T) int {
	t.Helper()
	if s := os.Getenv("CREDENCE_E2E_KILLINGS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 1
}

const items = 8

// TestStudyOnTheRealModel runs the built-in study with eight questions three ways: undisturbed, killed
// at a random item and resumed, and again over the finished folder. All give the same bytes.
func TestStudyOnTheRealModel(t *testing.T) {
	needEngine(t)
	folder := t.TempDir()
	run := func(name string, more ...string) []string {
		return append([]string{"quickstart", "--offline", "--verbose", "--items", strconv.Itoa(items), "--out", filepath.Join(folder, name)}, more...)
	}
	out := mustRun(t, command(t, run("whole")...))
	for _, want := range []string{"8 asked", "token, guess-slot", "reused 0 calls", "Caution"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	whole := read(t, filepath.Join(folder, "whole", "results.json"))
	checkResults(t, whole)

	if out := mustRun(t, command(t, run("whole")...)); !strings.Contains(out, "made 0") {
		t.Errorf("the second run asked again:\n%s", out)
	}
	if diff := cmp.Diff(string(whole), string(read(t, filepath.Join(folder, "whole", "results.json")))); diff != "" {
		t.Errorf("the second run has other results:\n%s", diff)
	}
	t.Run("report", func(t *testing.T) {
		p := open(t, filepath.Join(folder, "whole", "report.html"), desktop)
		p.unfold(t)
		p.quiet(t)
	})
	t.Run("recomputation", func(t *testing.T) { recomputed(t, filepath.Join(folder, "whole")) })
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), 0))
	for k := range killings(t) {
		name := "killed-" + strconv.Itoa(k)
		killAt(t, command(t, run(name)...), 1+rng.IntN(items-2))
		resumed := mustRun(t, command(t, run(name)...))
		if strings.Contains(resumed, "reused 0 calls") {
			t.Errorf("the resumed run asked everything again:\n%s", resumed)
		}
		if diff := cmp.Diff(string(whole), string(read(t, filepath.Join(folder, name, "results.json")))); diff != "" {
			t.Errorf("the resumed run has other results:\n%s", diff)
		}
	}
}

func mustRun(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %v\n%s%s", c.Args[1:], err, errs.String(), out.String())
	}
	return out.String()
}

// killAt kills the command, as a power cut would, when it has finished the given number of items.
func killAt(t *testing.T, c *exec.Cmd, done int) {
	t.Helper()
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.Contains(lines.Text(), ": "+strconv.Itoa(done)+" of "+strconv.Itoa(items)+" items") {
			break
		}
	}
	if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	for lines.Scan() {
		continue // drained, so that Wait can end
	}
	if err := c.Wait(); err == nil {
		t.Fatalf("the run ended before it could be killed at item %d", done)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkResults holds the results against what must be true of any run of this model.
func checkResults(t *testing.T, data []byte) {
	t.Helper()
	var r study.Results
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	c := r.Settings[0].Comparisons[0]
	if c.Asked != items || c.Used+excluded(c.LeftOut) != items {
		t.Errorf("asked %d, used %d, left out %v", c.Asked, c.Used, c.LeftOut)
	}
	if c.Used < items/2 {
		t.Errorf("only %d of %d replies could be used", c.Used, items)
	}
	for _, context := range c.Contexts {
		if x, ok := context.Token.Mean.Get(); !ok || x <= 0 || x >= 1 {
			t.Errorf("mean token score in %s is %v", context.Name, context.Token.Mean)
		}
	}
	id := r.Card.Models[0].Identity
	if id.Weights == "" || id.Mode != "exact" || id.Settings["cpu"] == "" {
		t.Errorf("the card does not say what was measured: %+v", id)
	}
	for _, forbidden := range []string{"NaN", os.TempDir(), "reused"} {
		if bytes.Contains(data, []byte(forbidden)) {
			t.Errorf("results.json holds %q", forbidden)
		}
	}
}

func excluded(list []measure.Excluded) int {
	n := 0
	for _, e := range list {
		n += e.N
	}
	return n
}
