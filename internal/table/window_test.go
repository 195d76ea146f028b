package table

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// slowly gives at most 1 KiB at a time, as a pipe or a decompressor does.
type slowly struct{ io.Reader }

func (s slowly) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), 1<<10)]) }

// TestLongRecordGrowsByAShareOfItself: a record is scanned anew after each step, so the steps must be
// few, however little the source gives at a time.
func TestLongRecordGrowsByAShareOfItself(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	w := newWindow(slowly{strings.NewReader(strings.Repeat("x", size))}, 0)
	steps := 0
	for !w.eof {
		if err := w.more(); err != nil {
			t.Fatal(err)
		}
		steps++
	}
	if len(w.bytes()) != size || steps > 200 {
		t.Errorf("%d bytes in %d steps, want %d in at most 200", len(w.bytes()), steps, size)
	}
}

// TestFailureBehindBytesIsKept: what came before a failure is read, and the failure is not lost, even
// if the source reports it only once.
func TestFailureBehindBytesIsKept(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	w := newWindow(io.MultiReader(strings.NewReader(strings.Repeat("x", 3000)), &once{iotest.ErrReader(broken)}), 0)
	for {
		err := w.more()
		if w.eof {
			t.Fatal("the failure became an end")
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, broken) || len(w.bytes()) != 3000 {
			t.Errorf("%v after %d bytes", err, len(w.bytes()))
		}
		return
	}
}

// once fails as its reader does, and is at its end from then on.
type once struct{ io.Reader }

func (o *once) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	o.Reader = strings.NewReader("")
	return n, err
}
