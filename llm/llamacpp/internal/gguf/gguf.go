// Package gguf reads the header of a GGUF file: its metadata and where its tensors lie, without
// the weights. It is what lets an engine answer questions of a model before the model is loaded,
// and refuse a damaged file before C code meets it.
//
// The format is that of the GGUF specification of ggml, versions 2 and 3, little endian. A file is
// hostile input: every length is held against the file's size before anything is allocated.
package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
)

// ErrFormat is wrapped by every error that says that a file is no readable GGUF file.
var ErrFormat = errors.New("not a usable GGUF file")

// Limits of what is believed of a header. The largest vocabularies have a quarter of a million tokens.
const (
	maxPairs    = 1 << 16
	maxTensors  = 1 << 20
	maxKey      = 1 << 16
	maxString   = 1 << 24
	maxElements = 1 << 24
	maxDims     = 4
)

// File is what the header says.
type File struct {
	// Bytes is the size of the file.
	Bytes   int64
	Version uint32
	// Tensors is the number of tensors.
	Tensors int

	scalars map[string]any
	arrays  map[string][]any
	strings map[string][]string
	// matrices holds, by type, the name of the first tensor of more than one dimension.
	matrices map[uint32]string
}

// Open reads the header of the file at path and checks that all tensors lie within the file.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: %w", path, ErrFormat)
	}
	g, err := Read(bufio.NewReaderSize(f, 1<<20), info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return g, nil
}

// Read reads a header from r, the start of a file of size bytes.
func Read(r io.Reader, size int64) (*File, error) {
	d := &decoder{r: r, size: size}
	g := &File{Bytes: size, scalars: map[string]any{}, arrays: map[string][]any{}, strings: map[string][]string{}, matrices: map[uint32]string{}}
	pairs, tensors := d.preamble(g)
	for i := 0; i < pairs && d.err == nil; i++ {
		d.pair(g)
	}
	d.tensors(g, tensors)
	if d.err != nil {
		return nil, fmt.Errorf("%w: %w (at byte %d of %d)", ErrFormat, d.err, d.at, size)
	}
	return g, nil
}

// String returns a text value and whether the file has one of that key.
func (g *File) String(key string) (string, bool) {
	s, ok := g.scalars[key].(string)
	return s, ok
}

// Int returns a whole, non-negative number and whether the file has one of that key. An array of
// numbers gives its largest.
func (g *File) Int(key string) (int, bool) {
	if v, ok := g.scalars[key]; ok {
		return toInt(v)
	}
	best, found := 0, false
	for _, v := range g.arrays[key] {
		if n, ok := toInt(v); ok {
			best, found = max(best, n), true
		}
	}
	return best, found
}

// Strings returns a list of texts, or nil. The caller must not change it.
func (g *File) Strings(key string) []string { return g.strings[key] }

// Bool returns a truth value and whether the file has one of that key.
func (g *File) Bool(key string) (value, ok bool) {
	value, ok = g.scalars[key].(bool)
	return value, ok
}

// FloatMatrix returns the first matrix whose elements are floating-point numbers and no blocks of quantised
// ones: its name and type, such as "F16"; ok is false where there is none.
func (g *File) FloatMatrix() (name, kind string, ok bool) {
	for _, t := range []struct {
		id   uint32
		name string
	}{{1, "F16"}, {30, "BF16"}, {0, "F32"}} {
		if name, ok := g.matrices[t.id]; ok {
			return name, t.name, true
		}
	}
	return "", "", false
}

// HasPrefix reports whether the file has a key that begins with prefix.
func (g *File) HasPrefix(prefix string) bool {
	for k := range g.scalars {
		if strings.HasPrefix(k, prefix) {
			return true
		}
	}
	return false
}

func toInt(v any) (int, bool) {
	switch x := v.(type) {
	case uint64:
		if x > math.MaxInt32 {
			return 0, false
		}
		return int(x), true
	case int64:
		if x < 0 || x > math.MaxInt32 {
			return 0, false
		}
		return int(x), true
	}
	return 0, false
}

// decoder reads little-endian values and remembers the first error, so that the reading code needs
// to ask only once.
type decoder struct {
	r    io.Reader
	at   int64
	size int64
	err  error
	buf  [8]byte
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// left is the number of bytes that the file still has.
func (d *decoder) left() int64 { return d.size - d.at }

func (d *decoder) bytes(n int) []byte {
	if d.err != nil {
		return d.buf[:0]
	}
	b := d.buf[:]
	if n > len(b) {
		b = make([]byte, n)
	}
	b = b[:n]
	k, err := io.ReadFull(d.r, b)
	d.at += int64(k)
	if err != nil {
		d.fail("the file ends early")
		return d.buf[:0]
	}
	return b
}

func (d *decoder) unsigned(width int) uint64 {
	b := d.bytes(width)
	if d.err != nil {
		return 0
	}
	switch width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// count reads a length and holds it against a limit and against what the file can still hold.
func (d *decoder) count(what string, limit uint64, each int64) int {
	n := d.unsigned(8)
	if d.err == nil && (n > limit || int64(n)*each > d.left()) {
		d.fail("%s of %d is more than can be", what, n)
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}

func (d *decoder) text(what string, limit uint64) string {
	n := d.count(what, limit, 1)
	return string(d.bytes(n))
}

func (d *decoder) preamble(g *File) (pairs, tensors int) {
	if magic := string(d.bytes(4)); d.err == nil && magic != "GGUF" {
		d.fail("it begins with %q, not with \"GGUF\"", magic)
	}
	g.Version = uint32(d.unsigned(4))
	if d.err == nil && g.Version != 2 && g.Version != 3 {
		d.fail("version %d is not known (2 and 3 are; big-endian files are not read)", g.Version)
	}
	tensors = d.count("a number of tensors", maxTensors, 1)
	pairs = d.count("a number of metadata pairs", maxPairs, 1)
	g.Tensors = tensors
	return pairs, tensors
}

// Value types of the format.
const (
	typeUint8 = iota
	typeInt8
	typeUint16
	typeInt16
	typeUint32
	typeInt32
	typeFloat32
	typeBool
	typeString
	typeArray
	typeUint64
	typeInt64
	typeFloat64
)

var widths = map[uint32]int{
	typeUint8: 1, typeInt8: 1, typeUint16: 2, typeInt16: 2, typeUint32: 4, typeInt32: 4,
	typeFloat32: 4, typeBool: 1, typeUint64: 8, typeInt64: 8, typeFloat64: 8,
}

func (d *decoder) pair(g *File) {
	key := d.text("a key's length", maxKey)
	kind := uint32(d.unsigned(4))
	if kind != typeArray {
		v := d.value(kind)
		g.scalars[key] = v
		return
	}
	kind = uint32(d.unsigned(4))
	each := int64(8) // a string is at least its length
	if kind != typeString {
		each = int64(widths[kind])
		if d.err == nil && each == 0 {
			d.fail("key %q: arrays of type %d are not known", key, kind)
		}
	}
	n := d.count("an array's length", maxElements, each)
	if kind == typeString {
		g.strings[key] = d.texts(n)
		return
	}
	if n > 1<<12 { // scores and token types: nobody here asks for them
		d.skip(int64(n) * each)
		return
	}
	for i := 0; i < n && d.err == nil; i++ {
		g.arrays[key] = append(g.arrays[key], d.value(kind))
	}
}

func (d *decoder) texts(n int) []string {
	out := make([]string, 0, min(n, 1<<16))
	for i := 0; i < n && d.err == nil; i++ {
		out = append(out, d.text("a string's length", maxString))
	}
	return out
}

func (d *decoder) skip(n int64) {
	k, err := io.CopyN(io.Discard, d.r, n)
	d.at += k
	if err != nil {
		d.fail("the file ends early")
	}
}

func (d *decoder) value(kind uint32) any {
	switch kind {
	case typeString:
		return d.text("a string's length", maxString)
	case typeBool:
		return d.unsigned(1) != 0
	case typeFloat32:
		return float64(math.Float32frombits(uint32(d.unsigned(4))))
	case typeFloat64:
		return math.Float64frombits(d.unsigned(8))
	case typeInt8:
		return int64(int8(d.unsigned(1)))
	case typeInt16:
		return int64(int16(d.unsigned(2)))
	case typeInt32:
		return int64(int32(d.unsigned(4)))
	case typeInt64:
		return int64(d.unsigned(8))
	}
	w, ok := widths[kind]
	if !ok {
		d.fail("value type %d is not known", kind)
		return nil
	}
	return d.unsigned(w)
}
