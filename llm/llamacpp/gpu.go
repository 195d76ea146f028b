package llamacpp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// gpuBackends are ggml's backends for graphics processors, as their files are named.
var gpuBackends = []string{"cuda", "hip", "musa", "vulkan", "metal", "sycl", "opencl", "cann"}

// gpus are the graphics processors that the library of this process can use.
type gpus struct {
	// names say which they are, digest which machine code runs on them (SHA-256 in hex).
	names, digest string
}

// gpuState is found once in a process, for the first model that asks.
type gpuState struct {
	once  sync.Once
	found *gpus
	err   error
}

// useGPUs registers the GPU backends that lie beside the library. layers is for the message.
func (l *library) useGPUs(layers int) (*gpus, error) {
	l.gpu.once.Do(func() { l.gpu.found, l.gpu.err = l.findGPUs() })
	if l.gpu.err != nil {
		return nil, fmt.Errorf("%d layers are to be computed by a GPU, but %w", layers, l.gpu.err)
	}
	return l.gpu.found, nil
}

func (l *library) findGPUs() (*gpus, error) {
	files, err := listBackends(l.dir, gpuBackends)
	if err != nil {
		return nil, err
	}
	var failed []string
	h := sha256.New()
	for _, path := range files {
		l.log.clear()
		if err := registerBackend(l.dir, path); err != nil {
			failed = append(failed, l.log.explain(explainLoad(err)).Error())
			continue
		}
		sum, err := digestFile(path)
		if err != nil {
			return nil, err
		}
		h.Write([]byte(sum))
	}
	names := gpuNames()
	switch {
	case len(names) > 0:
		return &gpus{strings.Join(names, ", "), hex.EncodeToString(h.Sum(nil))}, nil
	case len(files) == 0:
		return nil, fmt.Errorf("the llama.cpp library in %s has no GPU backend (libggml-cuda, libggml-vulkan or libggml-metal); give the folder of a build that has one (--engine-library)", l.dir)
	case len(failed) > 0:
		return nil, fmt.Errorf("no GPU backend in %s could be used: %s", l.dir, strings.Join(failed, "; "))
	}
	return nil, fmt.Errorf("%s found no GPU on this machine", backendNames(files))
}

// gpuNames are the descriptions of all GPUs that are registered, in the library's order.
func gpuNames() []string {
	var names []string
	for i := range llama.GGMLBackendDeviceCount() {
		device := llama.GGMLBackendDeviceGet(i)
		switch llama.GGMLBackendDevType(device) {
		case llama.GGMLBackendDeviceTypeGPU, llama.GGMLBackendDeviceTypeIGPU:
			names = append(names, strings.TrimSpace(llama.GGMLBackendDeviceDescription(device)))
		}
	}
	return names
}

// listBackends returns the files of the named backends in dir, sorted.
func listBackends(dir string, names []string) ([]string, error) {
	var paths []string
	for _, name := range names {
		for _, pattern := range []string{"libggml-" + name + "*.so", "libggml-" + name + "*.dylib", "ggml-" + name + "*.dll"} {
			m, err := filepath.Glob(filepath.Join(escapeGlob(dir), pattern))
			if err != nil {
				return nil, err
			}
			paths = append(paths, m...)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

func backendNames(paths []string) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = filepath.Base(p)
	}
	return strings.Join(names, ", ")
}
