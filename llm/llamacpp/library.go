package llamacpp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/hybridgroup/yzma/pkg/llama"
	"github.com/hybridgroup/yzma/pkg/loader"
	"github.com/jupiterrider/ffi"

	"github.com/credence-lab/credence/llm/llamacpp/internal/libffi"
)

// library is the llama.cpp library of this process. There can be one only: the library keeps global
// state, and so does the binding.
type library struct {
	dir string
	// version is that of ggml with its commit, digest the SHA-256 of the files in use, cpu the name of
	// the CPU variant in use: together they say which machine code computed a value.
	version, digest, cpu string
	log                  *errorLog
	gpu                  gpuState
}

var process struct {
	sync.Mutex
	lib *library
	// err is kept: a library that failed half-way cannot be opened again in this process.
	err error
}

// openLibrary loads the library in dir with one CPU variant, once in a process. The weights are not
// touched. Asking again for the same returns the same; another folder or variant is an error.
func openLibrary(dir, cpu string) (*library, error) {
	dir, err := checkFolder(dir)
	if err != nil {
		return nil, err
	}
	process.Lock()
	defer process.Unlock()
	switch {
	case process.err != nil:
		return nil, process.err
	case process.lib == nil:
		v, err := chooseVariant(dir, cpu)
		if err != nil {
			return nil, err
		}
		process.lib, process.err = loadLibrary(dir, v)
		return process.lib, process.err
	case process.lib.dir != dir:
		return nil, fmt.Errorf("this process uses the llama.cpp library in %s; a second one (%s) needs a process of its own", process.lib.dir, dir)
	}
	v, err := chooseVariant(dir, cpu)
	if err != nil {
		return nil, err
	}
	if v.name != process.lib.cpu {
		return nil, fmt.Errorf("this process uses the CPU variant %s of the llama.cpp library; variant %s needs a process of its own", process.lib.cpu, v.name)
	}
	return process.lib, nil
}

// checkFolder resolves dir and checks that the three libraries lie there under the names by which they
// are opened.
func checkFolder(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no folder of the llama.cpp library given")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for _, name := range []string{"ggml", "ggml-base", "llama"} {
		path := loader.GetLibraryFilename(dir, name)
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("llama.cpp library: %w (the folder must hold %s)", err, filepath.Base(path))
		}
	}
	return dir, nil
}

// loadLibrary opens the shared libraries and registers the one CPU variant v. Accelerators that lie
// beside it are not registered before a model asks for one, so nothing but v computes.
func loadLibrary(dir string, v variant) (*library, error) {
	lib := &library{dir: dir, cpu: v.name, log: &errorLog{}}
	if err := llama.Load(dir); err != nil {
		return nil, explainLoad(err)
	}
	llama.LogSet(purego.NewCallback(lib.log.receive))
	llama.BackendInit()
	if v.path != "" {
		if err := registerBackend(dir, v.path); err != nil {
			return nil, lib.log.explain(explainLoad(err))
		}
	}
	if llama.GGMLBackendDeviceByType(llama.GGMLBackendDeviceTypeCPU) == 0 {
		return nil, lib.log.explain(fmt.Errorf("llama.cpp library in %s: no CPU backend (libggml-cpu-*) could be used", dir))
	}
	var err error
	if lib.version, err = readVersion(dir); err != nil {
		return nil, err
	}
	if lib.digest, err = digestLibraries(dir, v.path); err != nil {
		return nil, err
	}
	return lib, nil
}

// registerBackend loads one backend by its path. The binding can only load all that lie in a folder.
func registerBackend(dir, path string) error {
	lib, err := loader.LoadLibrary(dir, "ggml")
	if err != nil {
		return err
	}
	load, err := lib.Prep("ggml_backend_load", &ffi.TypePointer, &ffi.TypePointer)
	if err != nil {
		return err
	}
	name := append([]byte(path), 0)
	arg := unsafe.SliceData(name)
	var reg uintptr
	load.Call(unsafe.Pointer(&reg), unsafe.Pointer(&arg))
	runtime.KeepAlive(name)
	if reg == 0 {
		return fmt.Errorf("backend %s could not be loaded", path)
	}
	return nil
}

// readVersion returns the version that the library says of itself: ggml's with its commit, and the
// release of llama.cpp where the file name has it.
func readVersion(dir string) (string, error) {
	lib, err := loader.LoadLibrary(dir, "ggml-base")
	if err != nil {
		return "", explainLoad(err)
	}
	version := "ggml"
	for _, name := range []string{"ggml_version", "ggml_commit"} {
		f, err := lib.Prep(name, &ffi.TypePointer)
		if err != nil {
			continue // older libraries do not say
		}
		var s *byte
		f.Call(unsafe.Pointer(&s))
		version += "-" + goString(s)
	}
	if target, err := filepath.EvalSymlinks(loader.GetLibraryFilename(dir, "llama")); err == nil {
		if m := releaseInName.FindString(filepath.Base(target)); m != "" {
			version = m + "+" + version
		}
	}
	return version, nil
}

var releaseInName = regexp.MustCompile(`[vb]\d+(\.\d+)*`)

// digestLibraries is the SHA-256 over the files whose code computes values.
func digestLibraries(dir, backend string) (string, error) {
	paths := []string{loader.GetLibraryFilename(dir, "llama"), loader.GetLibraryFilename(dir, "ggml"), loader.GetLibraryFilename(dir, "ggml-base")}
	if backend != "" {
		paths = append(paths, backend)
	}
	h := sha256.New()
	for _, p := range paths {
		sum, err := digestFile(p)
		if err != nil {
			return "", err
		}
		h.Write([]byte(sum))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// digestFile is the SHA-256 of a file in hex.
func digestFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.CopyBuffer(h, f, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// missingLibrary finds the library that the dynamic linker could not find in its message.
var missingLibrary = regexp.MustCompile(`([\w+.-]+\.so[.\d]*): cannot open shared object file`)

// explainLoad adds to an error of the dynamic linker which system package has what is missing.
func explainLoad(err error) error {
	m := missingLibrary.FindStringSubmatch(err.Error())
	if m == nil {
		return fmt.Errorf("llama.cpp library: %w", err)
	}
	if advice := libffi.Advice(m[1]); advice != "" {
		return fmt.Errorf("llama.cpp library: the system library %s is missing; %s (%w)", m[1], advice, err)
	}
	return fmt.Errorf("llama.cpp library: the shared library %s is missing (%w)", m[1], err)
}
