package weights

import (
	"archive/tar"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHostileLibraryArchives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.libraries["libengine.v1.so"], w.libraries["libother.so"]
	for name, tt := range map[string]struct {
		members []member
		want    string
	}{
		"a file is missing":       {[]member{{"package/bins/libother.so", two, 0}}, "has no package/bins/libengine.v1.so"},
		"other bytes":             {[]member{{"package/bins/libengine.v1.so", two, 0}, {"package/bins/libother.so", two, 0}}, "has other bytes"},
		"a longer file":           {[]member{{"package/bins/libengine.v1.so", append(one[:700:700], 0), 0}}, "has other bytes"},
		"a link in a file's name": {[]member{{"package/bins/libengine.v1.so", []byte("/etc/passwd"), tar.TypeSymlink}, {"package/bins/libother.so", two, 0}}, "has no package/bins/libengine.v1.so"},
		"a path that climbs out":  {[]member{{"package/bins/../../../libengine.v1.so", one, 0}, {"package/bins/libother.so", two, 0}}, "has no package/bins/libengine.v1.so"},
		"a file twice, the second with other bytes": {[]member{{"package/bins/libengine.v1.so", one, 0}, {"package/bins/libother.so", two, 0},
			{"package/bins/libother.so", one, 0}, {"../evil", one, 0}, {"/evil", one, 0}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outer := t.TempDir()
			dir, archive := filepath.Join(outer, "a", "b"), filepath.Join(t.TempDir(), "a.tgz")
			write(t, archive, tgz(t, tt.members))
			if err := remake(dir); err != nil {
				t.Fatal(err)
			}
			e := w.catalogue.Engines[0]
			_, err := packageDelivery{nil, e, *e.Sources[0].NPM}.unpack(context.Background(), archive, dir)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if tt.want == "" {
				if got, _ := os.ReadFile(filepath.Join(dir, "libother.so")); string(got) != string(two) {
					t.Error("the second file of that name was taken")
				}
			}
			for _, above := range []string{outer, filepath.Dir(dir)} {
				if list, _ := os.ReadDir(above); len(list) != 1 {
					t.Errorf("something was written to %s: %v", above, list)
				}
			}
		})
	}
}

func TestHostileWheels(t *testing.T) {
	t.Parallel()
	content := noise(1, 5000)
	lying := wheel(t, "x/p.bin", content)
	// The sizes of the last member's directory entry: claim 100 bytes.
	at := strings.LastIndex(string(lying), "PK\x01\x02")
	binary.LittleEndian.PutUint32(lying[at+24:], 100)
	for name, tt := range map[string]struct {
		text []byte
		size int64
	}{
		"no such member": {wheel(t, "y/p.bin", content), 5000},
		"another size":   {wheel(t, "x/p.bin", content), 4999},
		"a lie":          {lying, 100},
		"no archive":     {[]byte("PK\x03\x04 and nothing more"), 5000},
		"cut":            {wheel(t, "x/p.bin", content)[:3000], 5000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "x.whl")
			write(t, file, tt.text)
			r, err := openWheelMember(file, "x/p.bin", tt.size)
			if err != nil {
				return
			}
			defer r.Close()
			if got, err := io.ReadAll(r); err == nil || int64(len(got)) > tt.size {
				t.Errorf("read %d bytes, error %v", len(got), err)
			}
		})
	}
}

func FuzzArchives(f *testing.F) {
	f.Add([]byte("PK\x05\x06"))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(t.TempDir(), "a")
		write(t, file, text)
		if r, err := openWheelMember(file, "x", 10); err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(r, 1<<20))
			_ = r.Close()
		}
		_ = eachTarMember(file, func(string, string, io.Reader) error { return io.ErrUnexpectedEOF })
		_ = eachZipMember(file, func(_, _ string, r io.Reader) error { _, err := io.CopyN(io.Discard, r, 1<<20); return err })
	})
}
