// Package libffi looks for the system's libffi before the packages that cannot do without it.
//
// The binding to llama.cpp (github.com/jupiterrider/ffi) panics while the program starts if libffi
// is missing, before any code of ours could say what to do. Go initialises packages whose
// dependencies are ready in the order of their import paths, and this one depends on nothing that
// package does not depend on too, so it comes first and ends the program with a message that one
// can act on.
package libffi

// Advice says which system package has a shared library, by the library's file name; empty if unknown.
func Advice(library string) string {
	p, ok := packages[library]
	if !ok {
		return ""
	}
	return "install it with: apt-get install " + p.debian + " (Debian, Ubuntu) or dnf install " + p.fedora + " (Fedora)"
}

var packages = map[string]struct{ debian, fedora string }{
	"libffi.so.8":      {"libffi8", "libffi"},
	"libstdc++.so.6":   {"libstdc++6", "libstdc++"},
	"libgcc_s.so.1":    {"libgcc-s1", "libgcc"},
	"libgomp.so.1":     {"libgomp1", "libgomp"},
	"libvulkan.so.1":   {"libvulkan1", "vulkan-loader"},
	"libopenblas.so.0": {"libopenblas0", "openblas"},
}
