package table

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// columnar reads Parquet. Leaf columns are named by their path, joined with points; what a writer puts
// between a list and its elements is left out of the name. A list column gives JSON cells.
//
// A float32 is read as its shortest decimal, so that a confidence stored as .7 is .7 and not the
// nearest binary below it.
type columnar struct {
	file    string
	spool   *os.File // where the input could not be read at random
	head    *header
	groups  []parquet.RowGroup
	group   int // the next to open
	cursors []*cursor
	leaves  []leaf
	wanted  []bool // nil: all
	left    int64  // rows left in the open group
}

// leaf says how the values of a column become cells.
type leaf struct {
	name     string
	repeated bool
	// present is the definition level from which on a list has an element, which may be null.
	present  int
	float32  bool
	unsigned bool
	scale    int // decimal places of a decimal stored as an integer
	half     bool
	json     bool
}

// source is what can be read at random.
type source interface {
	io.ReaderAt
	Size() int64
}

type fileSource struct{ *os.File }

func (f fileSource) Size() int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

func (r *Reader) openParquet(src, head io.Reader, compressed bool) error {
	c := &columnar{file: r.name, head: r.header}
	r.dec = c
	random, err := c.random(src, head, compressed)
	if err != nil {
		return readError(r.name, 0, err)
	}
	return guard(r.name, func() error { return c.open(random) })
}

// random returns the input for reading at random: the file itself where it is one, else a temporary copy.
func (c *columnar) random(src, head io.Reader, compressed bool) (source, error) {
	if !compressed {
		switch s := src.(type) {
		case *os.File:
			if info, err := s.Stat(); err == nil && info.Mode().IsRegular() {
				return fileSource{s}, nil
			}
		case source:
			return s, nil
		}
	}
	spool, err := os.CreateTemp("", "credence-*.parquet")
	if err != nil {
		return nil, err
	}
	c.spool = spool
	_, err = io.Copy(spool, head)
	return fileSource{spool}, err
}

func (c *columnar) close() error {
	for _, cur := range c.cursors {
		cur.close()
	}
	c.cursors = nil
	if c.spool == nil {
		return nil
	}
	err := c.spool.Close()
	if removed := os.Remove(c.spool.Name()); err == nil {
		err = removed
	}
	c.spool = nil
	return err
}

// guard turns a panic of the Parquet library on damaged input into an error.
func guard(file string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &fatal{damagedParquet(file, fmt.Sprint(p))}
		}
	}()
	return do()
}

func damagedParquet(file, what string) *Error {
	return &Error{Position: Position{File: file}, Problem: "damaged Parquet (" + what + ")", Advice: "is the file complete? write or fetch it again"}
}

// checkFooter compares the length that the footer claims with the file, before anything of that length
// is allocated.
func checkFooter(src source) string {
	var tail [8]byte
	size := src.Size()
	if size < int64(2*len(parquetMagic)+4) {
		return "shorter than any Parquet file"
	}
	if _, err := src.ReadAt(tail[:], size-int64(len(tail))); err != nil && err != io.EOF {
		return err.Error()
	}
	if string(tail[4:]) != string(parquetMagic) {
		return "it does not end in PAR1"
	}
	if length := int64(binary.LittleEndian.Uint32(tail[:])); length > size-int64(len(parquetMagic)+len(tail)) {
		return "the footer is longer than the file"
	}
	return ""
}

func (c *columnar) open(src source) error {
	if what := checkFooter(src); what != "" {
		return &fatal{damagedParquet(c.file, what)}
	}
	f, err := parquet.OpenFile(src, src.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return &fatal{damagedParquet(c.file, err.Error())}
	}
	schema := f.Schema()
	paths := schema.Columns()
	if len(paths) > maxColumns {
		return &fatal{damagedParquet(c.file, fmt.Sprintf("%d columns, more than %d", len(paths), maxColumns))}
	}
	for _, path := range paths {
		column, ok := schema.Lookup(path...)
		if !ok {
			return &fatal{damagedParquet(c.file, "a column without a type")}
		}
		l, problem := newLeaf(path, column)
		l.present = present(f.Root(), path)
		if problem != "" {
			return &fatal{&Error{Position: Position{File: c.file}, Problem: fmt.Sprintf("column %q: %s", l.name, problem),
				Advice: "write it as a double, an integer or a text"}}
		}
		if c.head.index(l.name) >= 0 {
			return &fatal{&Error{Position: Position{File: c.file}, Problem: fmt.Sprintf("duplicate header: column %q occurs twice", l.name),
				Advice: "give each column a name of its own"}}
		}
		c.head.add(l.name)
		c.leaves = append(c.leaves, l)
	}
	c.groups = f.RowGroups()
	return nil
}

// present is the definition level of the repeated node on the way to a leaf; 0 if there is none.
func present(node *parquet.Column, path []string) int {
	level, at := 0, 0
	for _, name := range path {
		if node = node.Column(name); node == nil {
			break
		}
		if node.Optional() || node.Repeated() {
			level++
		}
		if node.Repeated() {
			at = level
		}
	}
	return at
}

func newLeaf(path []string, column parquet.LeafColumn) (leaf, string) {
	// A list is written as name.list.element, or name.bag.array_element by older writers.
	if n := len(path); n >= 3 && column.MaxRepetitionLevel > 0 && (path[n-2] == "list" || path[n-2] == "bag") {
		path = path[:n-2]
	}
	l := leaf{name: strings.Join(path, "."), repeated: column.MaxRepetitionLevel > 0}
	if column.MaxRepetitionLevel > 1 {
		return l, "a list of lists, which cannot be read"
	}
	t := column.Node.Type()
	l.float32 = t.Kind() == parquet.Float
	if logical := t.LogicalType(); logical != nil {
		switch as := logical.Value.(type) {
		case *format.DecimalType:
			if t.Kind() != parquet.Int32 && t.Kind() != parquet.Int64 {
				return l, "a decimal stored as bytes, which cannot be read"
			}
			l.scale = int(as.Scale)
		case *format.IntType:
			l.unsigned = !as.IsSigned
		case *format.Float16Type:
			l.half = true
		case *format.JsonType:
			l.json = true
		}
	}
	if t.Kind() == parquet.Int96 {
		return l, "a 96-bit timestamp, which cannot be read"
	}
	return l, ""
}

// Select says which columns are wanted from now on; the others of a Parquet file are then not decoded
// and their cells are Absent. What was once not wanted cannot be wanted again. Text formats read
// everything regardless.
func (r *Reader) Select(columns ...int) {
	c, ok := r.dec.(*columnar)
	if !ok {
		return
	}
	c.wanted = make([]bool, len(c.leaves))
	for _, i := range columns {
		if i >= 0 && i < len(c.wanted) {
			c.wanted[i] = true
		}
	}
	for i, cur := range c.cursors {
		if !c.wanted[i] {
			cur.close()
			c.cursors[i] = nil
		}
	}
	clear(r.row.cells)
}

func (c *columnar) next(row *Row) error {
	return guard(c.file, func() error { return c.read(row) })
}

func (c *columnar) read(row *Row) error {
	for c.left == 0 {
		if c.group == len(c.groups) {
			return io.EOF
		}
		c.openGroup()
	}
	c.left--
	row.file, row.names, row.Line = c.file, c.head, 0
	if row.cells == nil {
		row.cells = make([]Cell, len(c.leaves))
	}
	for i, cur := range c.cursors {
		if cur == nil {
			continue
		}
		if err := cur.cell(&row.cells[i]); err != nil {
			return &fatal{damagedParquet(c.file, fmt.Sprintf("column %q: %v", c.leaves[i].name, err))}
		}
	}
	return nil
}

func (c *columnar) openGroup() {
	for _, cur := range c.cursors {
		cur.close()
	}
	g := c.groups[c.group]
	c.group++
	c.left = g.NumRows()
	c.cursors = make([]*cursor, len(c.leaves))
	for i, chunk := range g.ColumnChunks() {
		if c.wanted == nil || c.wanted[i] {
			c.cursors[i] = &cursor{leaf: c.leaves[i], pages: chunk.Pages(), list: []any{}}
		}
	}
}

// cursor goes through the values of one column of one row group.
type cursor struct {
	leaf   leaf
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buf    [512]parquet.Value
	at, n  int
	list   []any // never nil, so that an empty list is [] in JSON
}

func (c *cursor) close() {
	if c == nil {
		return
	}
	if c.page != nil {
		parquet.Release(c.page)
	}
	_ = c.pages.Close()
}

// peek returns the next value, or io.EOF at the end of the column.
func (c *cursor) peek() (parquet.Value, error) {
	for c.at == c.n {
		if c.values == nil {
			if c.page != nil {
				parquet.Release(c.page)
				c.page = nil
			}
			page, err := c.pages.ReadPage()
			if err != nil {
				return parquet.Value{}, err
			}
			c.page, c.values = page, page.Values()
		}
		n, err := c.values.ReadValues(c.buf[:])
		c.at, c.n = 0, n
		if errors.Is(err, io.EOF) {
			c.values = nil
		} else if err != nil {
			return parquet.Value{}, err
		} else if n == 0 {
			return parquet.Value{}, io.ErrNoProgress
		}
	}
	return c.buf[c.at], nil
}

// cell reads the cell of the next row.
func (c *cursor) cell(cell *Cell) error {
	v, err := c.peek()
	if err != nil {
		return ended(err)
	}
	if !c.leaf.repeated {
		c.at++
		c.leaf.scalar(v, cell)
		return nil
	}
	return c.listCell(cell)
}

// ended says that a column has fewer values than its group has rows.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("it has fewer values than rows")
	}
	return err
}

// maxList bounds the elements of one list.
const maxList = 1 << 20

// listCell gathers the values up to the next one at repetition level 0. A null list reads as an empty one.
func (c *cursor) listCell(cell *Cell) error {
	c.list = c.list[:0]
	for first := true; ; first = false {
		v, err := c.peek()
		if errors.Is(err, io.EOF) && !first {
			break
		}
		if err != nil {
			return ended(err)
		}
		if !first && v.RepetitionLevel() == 0 {
			break
		}
		if len(c.list) == maxList {
			return fmt.Errorf("a list of more than %d elements", maxList)
		}
		c.at++
		if v.DefinitionLevel() >= c.leaf.present {
			var element Cell
			c.leaf.scalar(v, &element)
			c.list = append(c.list, element.element())
		}
	}
	text, err := json.Marshal(c.list)
	cell.setText(JSON, text, 0, 0)
	return err
}

// element is the value of a list element as encoding/json writes it. Numbers that JSON does not know become null.
func (c *Cell) element() any {
	switch c.Kind {
	case Number:
		if x, err := c.Float(); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
			return json.Number(c.String())
		}
		return nil
	case Bool:
		return string(c.text) == "true"
	case Null:
		return nil
	}
	return string(c.text)
}

// scalar turns one value into a cell.
func (l leaf) scalar(v parquet.Value, cell *Cell) {
	switch v.Kind() {
	case parquet.Boolean:
		cell.setText(Bool, strconv.AppendBool(nil, v.Boolean()), 0, 0)
	case parquet.Int32:
		l.integer(int64(v.Int32()), uint64(v.Uint32()), cell)
	case parquet.Int64:
		l.integer(v.Int64(), v.Uint64(), cell)
	case parquet.Float:
		cell.setNumber(shortest(v.Float()))
	case parquet.Double:
		cell.setNumber(v.Double())
	case parquet.ByteArray, parquet.FixedLenByteArray:
		l.bytes(v.ByteArray(), cell)
	default:
		cell.setText(Null, nil, 0, 0)
	}
}

// exact is the bound below which every integer is a float64.
const exact = 1 << 53

func (l leaf) integer(signed int64, unsigned uint64, cell *Cell) {
	if l.scale == 0 && !l.unsigned && -exact < signed && signed < exact {
		*cell = Cell{Kind: Number, num: float64(signed), binary: true, integer: true}
		return
	}
	var text []byte
	if l.unsigned {
		text = strconv.AppendUint(nil, unsigned, 10)
	} else {
		text = strconv.AppendInt(nil, signed, 10)
	}
	if l.scale > 0 {
		text = append(append(text, 'e', '-'), strconv.Itoa(l.scale)...)
	}
	cell.setText(Number, text, 0, 0)
}

func (l leaf) bytes(b []byte, cell *Cell) {
	if l.half && len(b) == 2 {
		cell.setNumber(shortest(half(uint16(b[0]) | uint16(b[1])<<8)))
		return
	}
	kind := Text
	if l.json {
		kind = JSON
	}
	cell.setText(kind, b, 0, 0)
}

// shortest is the float64 nearest to the shortest decimal that gives x.
func shortest(x float32) float64 {
	if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
		return float64(x)
	}
	var digits [32]byte
	y, _ := strconv.ParseFloat(string(strconv.AppendFloat(digits[:0], float64(x), 'g', -1, 32)), 64)
	return y
}

// half widens an IEEE 754 half-precision number.
func half(bits uint16) float32 {
	sign := float32(1)
	if bits>>15 == 1 {
		sign = -1
	}
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	switch exponent {
	case 0:
		return sign * float32(math.Ldexp(fraction, -24))
	case 31:
		if fraction != 0 {
			return float32(math.NaN())
		}
		return sign * float32(math.Inf(1))
	}
	return sign * float32(math.Ldexp(1024+fraction, exponent-25))
}
