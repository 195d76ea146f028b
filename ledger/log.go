package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// The log of a ledger is SQLite's write-ahead log: what was committed last and is not in the file yet. SQLite reads
// it up to the first frame whose checksum does not fit and takes the rest for what a crash has left, so that a byte
// that turned in the middle loses all commits after it without a word.

const (
	logHeaderBytes   = 32
	frameHeaderBytes = 24
	frameBytes       = frameHeaderBytes + pageBytes
)

// walLog is what a log says of itself.
type walLog struct {
	// frames is how many whole pages it has room for, good how many of the first belong to it and fit their checksums.
	frames, good int
	// cut is how many commits of this log come after a frame that is damaged.
	cut int
	// headless says that the log has content and a damaged header.
	headless bool
	// newest are the last versions of pages among the good frames of whole commits, by number.
	newest map[uint32]int
}

// readLog reads a log. Where another process begins it anew meanwhile, it is read again.
func readLog(f *os.File) (l walLog, err error) {
	for range 5 {
		var before, after [logHeaderBytes]byte
		_, _ = f.ReadAt(before[:], 0)
		l, err = readLogOnce(f)
		_, _ = f.ReadAt(after[:], 0)
		if err != nil || before == after {
			break
		}
	}
	return l, err
}

// problem says what is wrong with a log, or nothing.
func (l walLog) problem() string {
	switch {
	case l.headless:
		return fmt.Sprintf("has a damaged header: the %d pages in it cannot be read", l.frames)
	case l.cut > 0:
		return fmt.Sprintf("is damaged after %d of its pages: the %d commits after them cannot be read", l.good, l.cut)
	}
	return ""
}

// probeLog refuses a ledger whose log is damaged: SQLite would take it for ended there, and write over the rest.
func probeLog(path string) error {
	f, err := os.Open(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return explain(path, err)
	}
	defer f.Close()
	l, err := readLog(f)
	if what := l.problem(); err == nil && what != "" {
		err = fmt.Errorf("%w: its log %s %s", ErrDamaged, path+"-wal", what)
	}
	return explain(path, err)
}

func readLogOnce(f *os.File) (l walLog, err error) {
	l.newest = make(map[uint32]int)
	info, err := f.Stat()
	if err != nil || info.Size() < logHeaderBytes {
		return l, err
	}
	var head [logHeaderBytes]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return l, err
	}
	l.frames = int((info.Size() - logHeaderBytes) / frameBytes)
	if isZero(head[:]) {
		return l, nil // it was set back
	}
	sum := logSum{order: binary.LittleEndian}
	magic := binary.BigEndian.Uint32(head[:])
	if magic&1 == 1 {
		sum.order = binary.BigEndian
	}
	sum.add(head[:24])
	if magic&^1 != 0x377f0682 || binary.BigEndian.Uint32(head[8:]) != pageBytes || !sum.is(head[24:]) {
		l.headless = l.frames > 0
		return l, nil
	}
	return l, l.readFrames(f, sum, [8]byte(head[16:24]))
}

// readFrames walks through the frames that carry the log's salt; those of an earlier log may follow.
func (l *walLog) readFrames(f *os.File, sum logSum, salt [8]byte) error {
	pending := make(map[uint32]int)
	frame := make([]byte, frameBytes)
	broken := false
	for i := range l.frames {
		if _, err := f.ReadAt(frame, logHeaderBytes+int64(i)*frameBytes); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		number, commit := binary.BigEndian.Uint32(frame), binary.BigEndian.Uint32(frame[4:]) != 0
		ours := [8]byte(frame[8:16]) == salt
		if broken {
			if ours && commit {
				l.cut++
			}
			continue
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeaderBytes:])
		if !ours || !sum.is(frame[16:24]) {
			broken = true
			continue
		}
		l.good++
		pending[number] = i
		if commit {
			for number, at := range pending {
				l.newest[number] = at
			}
			clear(pending)
		}
	}
	return nil
}

// logSum is the running checksum of a log.
type logSum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (s *logSum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		s.s0 += s.order.Uint32(b) + s.s1
		s.s1 += s.order.Uint32(b[4:]) + s.s0
	}
}

func (s *logSum) is(b []byte) bool {
	return s.s0 == binary.BigEndian.Uint32(b) && s.s1 == binary.BigEndian.Uint32(b[4:])
}
