package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// StandardInput is what messages call the input named "-".
const StandardInput = "standard input"

// Open opens the table in the file of that name, or Options.Stdin for "-". The header has been read
// when it returns. Errors that the user's input caused are *Error, or wrap fs.ErrNotExist and the like.
func Open(name string, o Options) (*Reader, error) {
	if name == "-" {
		if o.Stdin == nil {
			return nil, &Error{Position: Position{File: StandardInput}, Problem: "standard input cannot be read here"}
		}
		return New(o.Stdin, StandardInput, o)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, cannotOpen(name, err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, &Error{Position: Position{File: name}, Problem: "a folder where a file is wanted"}
	}
	r, err := New(f, name, o)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.closers = append([]io.Closer{f}, r.closers...)
	return r, nil
}

func cannotOpen(name string, err error) error {
	e := &Error{Position: Position{File: name}, Problem: "cannot be opened: " + err.Error()}
	var path *fs.PathError
	if errors.As(err, &path) {
		e.Problem = "cannot be opened: " + path.Err.Error()
	}
	if errors.Is(err, fs.ErrNotExist) {
		e.Problem, e.Advice = "no such file", "check the path"
	}
	return e
}

// New reads a table from src; name stands in messages and, where the content leaves it open, tells the format.
func New(src io.Reader, name string, o Options) (*Reader, error) {
	r := &Reader{name: name, strict: o.Strict, header: newHeader(), notes: newNotes()}
	if err := r.open(src, o); err != nil {
		_ = r.Close()
		return nil, plain(err)
	}
	return r, nil
}

func (r *Reader) open(src io.Reader, o Options) error {
	plainSrc, compressed, err := r.decompress(src)
	if err != nil {
		return err
	}
	buffered := bufio.NewReaderSize(plainSrc, sniffed)
	head, err := buffered.Peek(sniffed)
	if err != nil && err != io.EOF {
		return readError(r.name, 1, err)
	}
	if r.format = o.Format; r.format == "" {
		format, problem := sniff(head, r.name, r.name)
		if problem != nil {
			return problem
		}
		r.format = format
	}
	if r.format == Parquet {
		return r.openParquet(src, buffered, compressed)
	}
	if bytes.HasPrefix(head, utf8BOM) {
		_, _ = buffered.Discard(len(utf8BOM))
	}
	w := newWindow(buffered, o.MaxRecord)
	switch r.format {
	case CSV, TSV:
		r.dec, err = newSeparated(w, r.name, delimiter(head, r.format), r.header, r.notes)
	case JSONL:
		if r.dec, err = newLines(w, r.name, r.header, r.notes); err == nil && len(r.header.names) == 0 {
			return r.withoutColumns()
		}
	default:
		return &Error{Position: Position{File: r.name}, Problem: fmt.Sprintf("unknown format %q", r.format),
			Advice: fmt.Sprintf("the formats are %v", Formats())}
	}
	return err
}

// withoutColumns says why the beginning of a JSONL file shows no column.
func (r *Reader) withoutColumns() error {
	if _, err := r.Read(); err != nil {
		return err
	}
	return &Error{Position: Position{File: r.name}, Problem: "no record with a key at the beginning", Advice: "is this JSONL, one object a line?"}
}

// sniffed is how much of the beginning decides the format.
const sniffed = 16 << 10

// maxNesting bounds compression within compression.
const maxNesting = 2

// decompress takes gzip and zstd off, as the first bytes show them, whatever the name says.
func (r *Reader) decompress(src io.Reader) (io.Reader, bool, error) {
	compressed := false
	for range maxNesting {
		buffered := bufio.NewReaderSize(src, 64<<10)
		head, err := buffered.Peek(4)
		if err != nil && err != io.EOF {
			return nil, false, readError(r.name, 1, err)
		}
		switch {
		case bytes.HasPrefix(head, gzipMagic):
			z, err := gzip.NewReader(buffered)
			if err != nil {
				return nil, false, readError(r.name, 0, &damaged{err})
			}
			r.closers = append(r.closers, z)
			src = decompressor{z}
		case bytes.HasPrefix(head, zstdMagic):
			z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
			if err != nil {
				return nil, false, readError(r.name, 0, &damaged{err})
			}
			r.closers = append(r.closers, z.IOReadCloser())
			src = decompressor{z}
		default:
			return buffered, compressed, nil
		}
		compressed = true
	}
	return src, compressed, nil
}

// damaged marks a failure of a decompressor, as against one of the system below it.
type damaged struct{ err error }

func (d *damaged) Error() string { return d.err.Error() }

// decompressor marks what goes wrong in taking the compression off.
type decompressor struct{ io.Reader }

func (d decompressor) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if err == nil || err == io.EOF {
		return n, err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return n, err
	}
	return n, &damaged{err}
}

// readError is a failure of the source at about that line. Damaged compression is the input's fault;
// what the system reports is passed on as it is.
func readError(file string, line int, err error) error {
	at := Position{File: file, Line: line}
	var d *damaged
	switch {
	case !errors.As(err, &d):
		return fmt.Errorf("%s: %w", at, err)
	case errors.Is(d.err, io.ErrUnexpectedEOF):
		return &fatal{&Error{Position: at, Problem: "the compressed data end in the middle", Advice: "is the file complete? fetch it again"}}
	}
	return &fatal{&Error{Position: at, Problem: "damaged compressed data (" + d.Error() + ")", Advice: "fetch or write the file again"}}
}
