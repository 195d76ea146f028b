package weights

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// partial is a prefix of a file that is being fetched, whoever delivered it: a fetch from one
// source goes on where that of another has ended.
type partial struct {
	file *os.File
	of   Model
	// trusted is how many bytes from the start are known to be right, always at the end of a part.
	trusted int64
	report  func(done int64)
}

// openPartial opens what an earlier fetch has left, and finds out how much of it is right.
func openPartial(ctx context.Context, path string, m Model) (*partial, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	p := &partial{file: file, of: m, report: func(int64) {}}
	if err := p.findTrusted(ctx); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// close leaves no empty file behind.
func (p *partial) close() {
	info, err := p.file.Stat()
	_ = p.file.Close()
	if err == nil && info.Size() == 0 {
		_ = os.Remove(p.file.Name())
	}
}

// size is how many bytes are there, right or not.
func (p *partial) size() (int64, error) {
	info, err := p.file.Stat()
	if err != nil {
		return 0, localError{err}
	}
	return info.Size(), nil
}

// parts are the pieces whose checksums the catalogue has.
func (p *partial) parts() []Part {
	for _, s := range p.of.Sources {
		if s.Pip != nil {
			return s.Pip
		}
	}
	return nil
}

// findTrusted hashes part after part until one is short or wrong.
func (p *partial) findTrusted(ctx context.Context) error {
	p.trusted = 0
	size, err := p.size()
	if err != nil {
		return err
	}
	for _, part := range p.parts() {
		if p.trusted+part.Bytes > size {
			return nil
		}
		sum, err := hashReader(ctx, io.NewSectionReader(p.file, p.trusted, part.Bytes))
		if err != nil {
			return err
		}
		if sum != part.SHA256 {
			return nil
		}
		p.trusted += part.Bytes
	}
	return nil
}

// appender returns a writer that goes on at offset and forgets what was behind it.
func (p *partial) appender(offset int64) (io.Writer, error) {
	if err := p.file.Truncate(offset); err != nil {
		return nil, localError{err}
	}
	if _, err := p.file.Seek(offset, io.SeekStart); err != nil {
		return nil, localError{err}
	}
	return &appender{p, offset}, nil
}

type appender struct {
	p    *partial
	done int64
}

func (a *appender) Write(b []byte) (int, error) {
	n, err := a.p.file.Write(b)
	a.done += int64(n)
	a.p.report(a.done)
	if err != nil {
		return n, localError{err}
	}
	return n, nil
}

// appendPart writes one part from r behind what is trusted, and checks it.
func (p *partial) appendPart(ctx context.Context, part Part, r io.Reader) error {
	w, err := p.appender(p.trusted)
	if err != nil {
		return err
	}
	h := sha256.New()
	// One byte more than expected tells a longer member from a right one.
	n, err := io.Copy(io.MultiWriter(w, h), contextReader{ctx, io.LimitReader(r, part.Bytes+1)})
	if err != nil {
		return err
	}
	if sum := hex.EncodeToString(h.Sum(nil)); n != part.Bytes || sum != part.SHA256 {
		if err := p.file.Truncate(p.trusted); err != nil {
			return localError{err}
		}
		return fmt.Errorf("%s %s %w: sha256 %s, expected %s; not accepted", part.Package, part.Version, errOtherBytes, sum, part.SHA256)
	}
	p.trusted += n
	return nil
}

// check hashes the whole file. One that is wrong is cut back to what is right.
func (p *partial) check(ctx context.Context) error {
	size, err := p.size()
	if err != nil {
		return err
	}
	sum, err := hashReader(ctx, io.NewSectionReader(p.file, 0, size))
	if err != nil {
		return err
	}
	if sum == p.of.SHA256 {
		return nil
	}
	if err := p.findTrusted(ctx); err != nil {
		return err
	}
	if err := p.file.Truncate(p.trusted); err != nil {
		return localError{err}
	}
	return fmt.Errorf("%w: sha256 %s, expected %s; not accepted", errOtherBytes, sum, p.of.SHA256)
}

// errOtherBytes: a source has a file of that name, and it is another one.
var errOtherBytes = errors.New("has other bytes")

// localError is a failure of this machine, such as a full disk; no other source would help.
type localError struct{ error }

func (e localError) Unwrap() error { return e.error }

func isLocal(err error) bool {
	var local localError
	return errors.As(err, &local)
}
