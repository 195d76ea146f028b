package llamacpp

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Layers for a GPU that the library knows nothing of are refused before anything is loaded, and say what to do.
func TestLayersForNoGPU(t *testing.T) {
	c := partsOf(t, smollm)
	if found, err := listBackends(c.LibraryDir, gpuBackends); err != nil || len(found) > 0 {
		t.Skipf("the library has GPU backends: %v (%v)", found, err)
	}
	c.GPULayers = 1
	_, err := New(c)
	var bad interface{ BadInput() bool }
	if !errors.As(err, &bad) || !bad.BadInput() || !strings.Contains(err.Error(), "1 layers are to be computed by a GPU") ||
		!strings.Contains(err.Error(), "has no GPU backend") || !strings.Contains(err.Error(), "--engine-library") {
		t.Errorf("error %v", err)
	}
}

func TestBackendsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"libggml-cuda.so", "libggml-cpu-zen4.so", "libggml-vulkan.so", "libggml-metal.dylib", "ggml-cuda.dll", "libggml.so", "libggml-base.so", "libggml-rpc.so"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := listBackends(dir, gpuBackends)
	if got, want := backendNames(found), "ggml-cuda.dll, libggml-cuda.so, libggml-metal.dylib, libggml-vulkan.so"; err != nil || got != want {
		t.Errorf("found %s (%v), want %s", got, err, want)
	}
}

// On the CPU exactness is a promise and is not measured; what is measured decides elsewhere.
func TestWhatIsReproducible(t *testing.T) {
	t.Parallel()
	exact, broken := &Matrix{Rows: []MatrixRow{{Exact: true}}}, &Matrix{Rows: []MatrixRow{{Exact: true}, {Nats: .1}}}
	for name, c := range map[string]struct {
		mode     Mode
		layers   int
		measured *Matrix
		want     bool
	}{
		"exact on the CPU":       {Exact, 0, nil, true},
		"fast on the CPU":        {Fast, 0, nil, false},
		"fast on a GPU":          {Fast, 9, exact, false},
		"a GPU, not measured":    {Exact, 9, nil, false},
		"a GPU that is exact":    {Exact, 9, exact, true},
		"a GPU that is not":      {Exact, 9, broken, false},
		"a GPU without any rows": {Exact, 9, &Matrix{}, false},
	} {
		e := &Engine{}
		e.c.Mode, e.c.GPULayers, e.exactness.matrix = c.mode, c.layers, c.measured
		if got := e.reproducible(); got != c.want || e.Capabilities().Seeds != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
