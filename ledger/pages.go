package ledger

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
)

// The pages of an SQLite file are read here without SQLite, which gives up a whole table where a page above its
// rows is damaged. Whatever is found this way is checked against its key and its checksum before it is believed, so
// that this reader may guess: at worst it finds nothing. The format is that of sqlite.org/fileformat2.html.

const (
	// pageBytes is the size of a ledger's pages, SQLite's default.
	pageBytes = 4096
	// headerBytes come before the first page's own header.
	headerBytes = 100
	// Kinds of pages that hold rows: of a table, and of an index.
	tableLeaf, indexLeaf, indexInterior = 0x0d, 0x0a, 0x02
)

// pages are those of a ledger's file, and those of its log, which are newer.
type pages struct {
	file, log   *os.File // log is nil where there is none
	n, inLog    int
	newest      map[uint32]int // of the pages with a whole version in the log, which
	cached      map[int][]byte
	cachedOrder []int
}

// cachedPages is how many pages are kept: requests and calls that belong together lie near each other.
const cachedPages = 512

func openPages(path string) (*pages, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &pages{file: file, cached: make(map[int][]byte)}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	p.n = int((info.Size() + pageBytes - 1) / pageBytes)
	if p.log, err = os.Open(path + "-wal"); err != nil {
		p.log = nil
		return p, nil
	}
	l, err := readLog(p.log)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.inLog, p.newest = l.frames, l.newest
	return p, nil
}

func (p *pages) close() error {
	if p.log != nil {
		return errors.Join(p.file.Close(), p.log.Close())
	}
	return p.file.Close()
}

// all is the number of pages of file and log together; those of the log come after those of the file.
func (p *pages) all() int { return p.n + p.inLog }

// at returns page i of all; what lies beyond the end of the file is zero.
func (p *pages) at(i int) ([]byte, error) {
	if page, ok := p.cached[i]; ok {
		return page, nil
	}
	page := make([]byte, pageBytes)
	file, offset := p.file, int64(i)*pageBytes
	if i >= p.n {
		file, offset = p.log, logHeaderBytes+int64(i-p.n)*frameBytes+frameHeaderBytes
	}
	if _, err := file.ReadAt(page, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(p.cachedOrder) == cachedPages {
		delete(p.cached, p.cachedOrder[0])
		p.cachedOrder = p.cachedOrder[1:]
	}
	p.cached[i], p.cachedOrder = page, append(p.cachedOrder, i)
	return page, nil
}

// numbered returns the newest version of the page that the file knows under a number.
func (p *pages) numbered(number uint32) ([]byte, error) {
	if frame, ok := p.newest[number]; ok {
		return p.at(p.n + frame)
	}
	if number == 0 || int(number) > p.n {
		return nil, errTruncated
	}
	return p.at(int(number) - 1)
}

// cell is where a row lies.
type cell struct {
	page  int32
	at    uint16
	index bool
}

// cells calls found for each row that page i lists. Rows that no list names are left alone: what looks like a row in
// the middle of a reply may have been put there by whoever wrote the reply.
func (p *pages) cells(i int, found func(cell)) error {
	page, err := p.at(i)
	if err != nil {
		return err
	}
	head := 0
	if i == 0 {
		head = headerBytes
	}
	kind, rows, list := page[head], int(binary.BigEndian.Uint16(page[head+3:])), head+8
	switch kind {
	case indexInterior:
		list += 4
	case tableLeaf, indexLeaf:
	default:
		return nil
	}
	for n := range min(rows, (pageBytes-list)/2) {
		at := binary.BigEndian.Uint16(page[list+2*n:])
		if int(at) < list || at >= pageBytes-4 {
			continue
		}
		if kind == indexInterior {
			at += 4 // past the page to the left
		}
		found(cell{int32(i), at, kind != tableLeaf})
	}
	return nil
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// row reads the row of a cell; ok is false where there can be none. id is that of a table's row.
func (p *pages) row(c cell) (id int64, values []value, ok bool) {
	page, err := p.at(int(c.page))
	if err != nil {
		return 0, nil, false
	}
	in := reader{b: page[min(int(c.at), len(page)):]}
	size := in.big()
	if !c.index {
		id = in.big()
	}
	if in.err != nil || size < 2 || size > maxBytes {
		return 0, nil, false
	}
	payload, ok := p.payload(in.b, int(size), c.index)
	if !ok {
		return 0, nil, false
	}
	values, ok = columnsOf(payload)
	return id, values, ok
}

// payload puts a row together that may go on in pages of its own.
func (p *pages) payload(local []byte, size int, index bool) ([]byte, bool) {
	most := pageBytes - 35
	if index {
		most = (pageBytes-12)*64/255 - 23
	}
	if size <= most {
		return local[:min(size, len(local))], size <= len(local)
	}
	least := (pageBytes-12)*32/255 - 23
	here := least + (size-least)%(pageBytes-4)
	if here > most {
		here = least
	}
	if here+4 > len(local) {
		return nil, false
	}
	whole, next := append([]byte(nil), local[:here]...), binary.BigEndian.Uint32(local[here:])
	for len(whole) < size {
		page, err := p.numbered(next)
		if err != nil {
			return nil, false
		}
		whole = append(whole, page[4:4+min(size-len(whole), pageBytes-4)]...)
		next = binary.BigEndian.Uint32(page)
	}
	return whole, true
}

// value is one column: nil, an int64, a text or bytes.
type value any

// columnsOf reads the columns of a row.
func columnsOf(payload []byte) ([]value, bool) {
	in := reader{b: payload}
	size := in.big()
	if in.err != nil || size < 1 || size > int64(len(payload)) {
		return nil, false
	}
	kinds := reader{b: payload[len(payload)-len(in.b) : size]}
	in.b = payload[size:]
	var list []value
	for len(kinds.b) > 0 && kinds.err == nil && in.err == nil {
		if len(list) == mostColumns {
			return nil, false
		}
		list = append(list, in.column(kinds.big()))
	}
	return list, kinds.err == nil && in.err == nil
}

// mostColumns is more than any table of a ledger has, of later versions as well.
const mostColumns = 64

// column reads one value by its kind.
func (r *reader) column(kind int64) value {
	switch {
	case kind == 0:
		return nil
	case kind >= 1 && kind <= 6:
		b := r.take([]int{0, 1, 2, 3, 4, 6, 8}[kind])
		if r.err != nil {
			return nil
		}
		n := int64(int8(b[0]))
		for _, x := range b[1:] {
			n = n<<8 | int64(x)
		}
		return n
	case kind == 8 || kind == 9:
		return kind - 8
	case kind >= 12 && kind%2 == 0 && kind < math.MaxInt32:
		return r.take(int(kind-12) / 2)
	case kind >= 13 && kind < math.MaxInt32:
		return string(r.take(int(kind-13) / 2))
	}
	r.fail() // a float, which no table of a ledger has, or a kind that is none
	return nil
}

// big reads SQLite's number of one to nine bytes, the highest first.
func (r *reader) big() int64 {
	var n uint64
	for i := range 9 {
		if i >= len(r.b) {
			break
		}
		if i == 8 {
			n, r.b = n<<8|uint64(r.b[i]), r.b[9:]
			return int64(n)
		}
		n = n<<7 | uint64(r.b[i]&0x7f)
		if r.b[i] < 0x80 {
			r.b = r.b[i+1:]
			return int64(n)
		}
	}
	r.fail()
	return 0
}
