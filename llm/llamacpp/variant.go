package llamacpp

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
	"github.com/jupiterrider/ffi"
)

// variant is one build of ggml's CPU backend. They differ in the instructions that they use and so in
// the last digits of what they compute.
type variant struct {
	// name is the part of the file name after "cpu-", or "default" for a library with one CPU backend.
	name string
	// path is empty where the backend is part of the library itself.
	path string
	// score is the backend's own measure of how well it suits this machine; 0 is not at all.
	score int
}

// Portable is the CPU variant that most machines of an architecture can run, for values that are to be
// compared between machines.
const Portable = "portable"

// portableNames says which variant Portable means. An x86 machine without AVX2 cannot run it and says so.
var portableNames = map[string]string{"amd64": "haswell", "arm64": "armv8.2_1"}

// chooseVariant picks the CPU variant that is wanted, or the best that this machine can run if want is
// empty: the highest score, as ggml itself chooses. Equal scores go to the first name.
func chooseVariant(dir, want string) (variant, error) {
	found, err := listVariants(dir)
	if err != nil {
		return variant{}, err
	}
	if len(found) == 0 { // the backend is linked into the library
		if want != "" {
			return variant{}, fmt.Errorf("CPU variant %s: the library in %s has no variants to choose from", want, dir)
		}
		return variant{name: "default"}, nil
	}
	if want == Portable {
		want = portableNames[runtime.GOARCH]
	}
	var best variant
	names := make([]string, 0, len(found))
	for _, v := range found {
		if v.score > 0 {
			names = append(names, v.name)
		}
		if v.score > best.score && (want == "" || v.name == want) {
			best = v
		}
	}
	if best.score == 0 {
		return variant{}, fmt.Errorf("CPU variant %q is not one that this machine can run; the library in %s offers: %s", want, dir, strings.Join(names, ", "))
	}
	return best, nil
}

// listVariants asks every CPU backend in dir for its score, in the order of their names.
func listVariants(dir string) ([]variant, error) {
	paths, err := listBackends(dir, []string{"cpu"})
	if err != nil {
		return nil, err
	}
	out := make([]variant, 0, len(paths))
	for _, p := range paths {
		score, err := scoreVariant(p)
		if err != nil {
			return nil, explainLoad(err)
		}
		out = append(out, variant{variantName(p), p, score})
	}
	return out, nil
}

func escapeGlob(dir string) string {
	if runtime.GOOS == "windows" {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func variantName(path string) string {
	name := filepath.Base(path)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	_, name, _ = strings.Cut(name, "ggml-cpu")
	if name = strings.TrimPrefix(name, "-"); name == "" {
		return "default"
	}
	return name
}

// scoreVariant opens a backend, asks for its score and closes it again. A backend that does not tell
// is one of its kind and gets 1.
func scoreVariant(path string) (int, error) {
	lib, err := ffi.Load(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = lib.Close() }()
	addr, err := lib.Get("ggml_backend_score")
	if err != nil {
		return 1, nil
	}
	score, _, _ := purego.SyscallN(addr)
	return int(int32(score)), nil
}
