package dataset_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/internal/table"
)

// FuzzRead: whatever the bytes, an error that says where, or items that are complete and apart.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"id,question,answer\n1,a,b\n", "question,answer\na,\"[\"\"x\"\"]\"\n", `{"question":"q","answers":["a",1,null]}`,
		"id,question,answer\n1,a,b\n1,a,b\n", "\xef\xbb\xbfquestion,answer\r\na,\r\n", "{\"question\":\"\\ud835\",\"answer\":[]}\n",
	} {
		f.Add([]byte(s), "")
		f.Add([]byte(s), ";")
	}
	f.Fuzz(func(t *testing.T, data []byte, separator string) {
		d, err := dataset.ReadFrom(bytes.NewReader(data), "q", dataset.Mapping{Separator: separator})
		var e *table.Error
		if err != nil {
			if !errors.As(err, &e) || e.Position.File == "" {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, it := range d.Items {
			if it.ID == "" || seen[it.ID] || it.Question == "" || len(it.References) == 0 || it.References[0] == "" {
				t.Fatalf("a broken item: %+v", it)
			}
			seen[it.ID] = true
		}
		if len(d.Items) == 0 || d.SHA256 != dataset.Hash(d.Items) {
			t.Fatalf("%d items, hash %s", len(d.Items), d.SHA256)
		}
	})
}
