package table

import (
	"errors"
	"io"
)

// window is a piece of a stream that slides forward and grows with the longest record.
type window struct {
	src   io.Reader
	buf   []byte
	start int // of what has not been consumed
	end   int
	eof   bool
	err   error // of the source, after bytes that are still to be read
	max   int
}

const chunk = 256 << 10

var errRecordTooLong = errors.New("record too long")

func newWindow(src io.Reader, maxRecord int) *window {
	if maxRecord <= 0 {
		maxRecord = defaultMaxRecord
	}
	return &window{src: src, max: maxRecord}
}

// bytes is what has been read and not consumed. It is valid until the next call of more.
func (w *window) bytes() []byte { return w.buf[w.start:w.end] }

func (w *window) consume(n int) { w.start += n }

// more reads further, keeping what has not been consumed. It fails with errRecordTooLong when that is
// longer than a record may be, and otherwise only as the source does; the end sets eof.
func (w *window) more() error {
	if w.end-w.start > w.max {
		return errRecordTooLong
	}
	if w.start > 0 {
		copy(w.buf, w.buf[w.start:w.end])
		w.start, w.end = 0, w.end-w.start
	}
	if len(w.buf)-w.end < chunk/2 {
		grown := make([]byte, max(chunk, 2*len(w.buf)))
		copy(grown, w.buf[:w.end])
		w.buf = grown
	}
	// A record is scanned again from its start each time. So a long one must grow by a share of itself
	// and not by what a source gives at a time, or the scans take the square of its length.
	free := w.buf[w.end:]
	n, err := 0, w.err
	if err == nil {
		n, err = io.ReadAtLeast(w.src, free, min(len(free), 1+w.end/4))
	}
	w.end += n
	switch {
	case err == io.EOF:
		w.eof = true
		return nil
	case n > 0:
		if err != io.ErrUnexpectedEOF {
			w.err = err
		}
		return nil
	}
	return err
}
