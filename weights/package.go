package weights

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// packageDelivery takes an engine's files, each pinned by its checksum, out of a package.
type packageDelivery struct {
	carrier carrier
	engine  Engine
	pkg     Package
}

func (d packageDelivery) name() string { return d.carrier.name() }

func (d packageDelivery) deliver(ctx context.Context, dir string, report func(int64)) (marks, error) {
	if err := d.carrier.ask(ctx); err != nil {
		return nil, err
	}
	archive, release, err := d.carrier.carry(ctx, d.pkg.Package, d.pkg.Version, func(n int64) {
		// The archive is smaller than its files; what has come of it stands for as much of them.
		report(min(n, d.pkg.Bytes) * d.engine.bytes() / d.pkg.Bytes)
	})
	if err != nil {
		return nil, err
	}
	defer release()
	return d.unpack(ctx, archive, dir)
}

// unpack writes the catalogue's files from the archive into dir and checks each.
func (d packageDelivery) unpack(ctx context.Context, archive, dir string) (marks, error) {
	wanted := map[string]File{}
	for _, file := range d.engine.Files {
		wanted[d.pkg.Folder+"/"+file.Name] = file
	}
	m := marks{}
	err := eachMember(archive, func(name, target string, r io.Reader) error {
		file, ok := wanted[name]
		if !ok || target != "" {
			return ctx.Err()
		}
		delete(wanted, name)
		k, err := unpackFile(ctx, r, filepath.Join(dir, file.Name), file.Bytes+1)
		if err == nil && (k.Bytes != file.Bytes || k.SHA256 != file.SHA256) {
			err = fmt.Errorf("%s %w: sha256 %s, expected %s; not accepted", file.Name, errOtherBytes, k.SHA256, file.SHA256)
		}
		m[file.Name] = k
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(wanted) > 0 {
		return nil, fmt.Errorf("has no %s", strings.Join(slices.Sorted(maps.Keys(wanted)), ", "))
	}
	return m, nil
}

// unpackFile writes at most limit bytes of r to a new file and says what it is then.
func unpackFile(ctx context.Context, r io.Reader, path string, limit int64) (mark, error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return mark{}, localError{err}
	}
	defer out.Close()
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(localWriter{out}, h), contextReader{ctx, io.LimitReader(r, limit)}); err != nil {
		return mark{}, err
	}
	if err := out.Sync(); err != nil {
		return mark{}, localError{err}
	}
	info, err := out.Stat()
	if err != nil {
		return mark{}, localError{err}
	}
	return mark{info.Size(), info.ModTime(), hex.EncodeToString(h.Sum(nil))}, nil
}

// localWriter marks errors of writing as this machine's.
type localWriter struct{ w io.Writer }

func (l localWriter) Write(b []byte) (int, error) {
	n, err := l.w.Write(b)
	if err != nil {
		err = localError{err}
	}
	return n, err
}
