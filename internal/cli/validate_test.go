package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/credence-lab/credence/internal/table"
)

// FuzzReadWide: whatever the bytes, an error that names the file, or columns of one length that can be
// validated.
func FuzzReadWide(f *testing.F) {
	for _, seed := range []string{
		"item,p_true,judge.a@0.3,human1\na,.5,1,unsure\nb,-inf,,0\n",
		"id,item,entropy,human\n1,2,nan,1\n",
		"p_true,judge.a,judge.a,human1\n1,1,1,1\n",
		"judge.,human1\n1,1\n",
		"{\"p_true\": 1, \"human\": true}\n{\"human\": null, \"judge.late\": 1}\n",
		"human1\n1\n", "", "\x00,\xff\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := table.New(strings.NewReader(text), "wide", table.Options{MaxRecord: 1 << 16})
		if err != nil {
			return
		}
		w, err := readWide(r, wideSpec{})
		var at *table.Error
		switch {
		case err == nil:
			if err := w.Check(); err != nil {
				t.Fatalf("%q is read, but %v", text, err)
			}
		case errors.As(err, &at) && at.Position.File != "wide":
			t.Fatalf("%q: %v names no file", text, err)
		case !errors.As(err, &at):
			t.Fatalf("%q: %v says nothing of the place", text, err)
		}
	})
}
