package libffi

import (
	"fmt"
	"os"

	"github.com/ebitengine/purego"
)

// soname is what github.com/jupiterrider/ffi opens on Linux.
const soname = "libffi.so.8"

func init() {
	if _, err := purego.Dlopen(soname, purego.RTLD_LAZY); err != nil {
		fmt.Fprintf(os.Stderr, "error: the system library %s cannot be loaded (%v); %s\n", soname, err, Advice(soname))
		os.Exit(1)
	}
}
