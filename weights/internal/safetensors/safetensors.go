// Package safetensors reads the header of a safetensors file and finds its tensors, without loading
// them.
//
// The format is that of the safetensors specification: eight bytes with the length of the header, little
// endian; the header, a JSON object from a tensor's name to its type, shape and place; the data, without
// holes. A file is hostile input: every length and offset is held against the file's size before it is
// used, and tensors that overlap, leave holes or appear twice are refused.
package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// ErrFormat is wrapped by every error that says that a file is no readable safetensors file.
var ErrFormat = errors.New("not a usable safetensors file")

// Limits of what is believed of a header. A model of ten thousand tensors has a header of a megabyte.
const (
	maxHeader = 1 << 24
	maxDims   = 8
)

// widths are the bytes of one element by type. Types of less than a byte are not read.
var widths = map[string]int64{
	"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1,
	"U16": 2, "I16": 2, "F16": 2, "BF16": 2,
	"U32": 4, "I32": 4, "F32": 4,
	"U64": 8, "I64": 8, "F64": 8,
}

// Tensor says what a tensor is and where it lies.
type Tensor struct {
	Name string
	// Type is the element's type as the format names it, such as "F32".
	Type string
	// Shape has the slowest dimension first. A scalar has none.
	Shape []int64
	// Bytes is the size of the data.
	Bytes int64

	offset int64 // from the start of the file
}

// File is an open file.
type File struct {
	r       io.ReaderAt
	tensors []Tensor // sorted by name
}

// Read reads the header of a file of size bytes.
func Read(r io.ReaderAt, size int64) (*File, error) {
	f, err := read(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return f, nil
}

// Tensors lists the tensors, sorted by name.
func (f *File) Tensors() []Tensor { return f.tensors }

// Tensor finds a tensor by name.
func (f *File) Tensor(name string) (Tensor, bool) {
	i, ok := slices.BinarySearchFunc(f.tensors, name, func(t Tensor, name string) int { return cmp.Compare(t.Name, name) })
	if !ok {
		return Tensor{}, false
	}
	return f.tensors[i], true
}

// Data reads a tensor's bytes: elements little endian, the last dimension fastest.
func (f *File) Data(t Tensor) *io.SectionReader { return io.NewSectionReader(f.r, t.offset, t.Bytes) }

func read(r io.ReaderAt, size int64) (*File, error) {
	var start [8]byte
	if size < int64(len(start)) {
		return nil, fmt.Errorf("it has %d bytes", size)
	}
	if _, err := r.ReadAt(start[:], 0); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint64(start[:])
	if length > maxHeader || int64(length) > size-int64(len(start)) {
		return nil, fmt.Errorf("a header of %d bytes is more than can be", length)
	}
	header := make([]byte, length)
	if _, err := r.ReadAt(header, int64(len(start))); err != nil {
		return nil, err
	}
	tensors, err := parseHeader(header)
	if err != nil {
		return nil, err
	}
	data := int64(len(start)) + int64(length)
	if err := place(tensors, data, size); err != nil {
		return nil, err
	}
	return &File{r, tensors}, nil
}

// entry is a tensor as the header has it.
type entry struct {
	Type    string    `json:"dtype"`
	Shape   []int64   `json:"shape"`
	Offsets *[2]int64 `json:"data_offsets"`
}

// parseHeader reads the names one by one: decoding into a map would let a name appear twice.
func parseHeader(header []byte) ([]Tensor, error) {
	if !bytes.HasPrefix(header, []byte("{")) {
		return nil, errors.New("the header is no JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(header))
	d.DisallowUnknownFields()
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var list []Tensor
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name := key.(string) // keys of an object are texts, or Token fails
		if seen[name] {
			return nil, fmt.Errorf("%q is there twice", name)
		}
		seen[name] = true
		if name == "__metadata__" {
			var ignored map[string]string
			if err := d.Decode(&ignored); err != nil {
				return nil, fmt.Errorf("metadata: %w", err)
			}
			continue
		}
		t, err := parseTensor(d, name)
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		list = append(list, t)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if rest := header[d.InputOffset():]; len(bytes.Trim(rest, " ")) > 0 {
		return nil, errors.New("there is something behind the header's object")
	}
	return list, nil
}

func parseTensor(d *json.Decoder, name string) (Tensor, error) {
	var e entry
	if err := d.Decode(&e); err != nil {
		return Tensor{}, err
	}
	bytes, ok := widths[e.Type]
	if !ok {
		return Tensor{}, fmt.Errorf("type %q is not known", e.Type)
	}
	if len(e.Shape) > maxDims || e.Offsets == nil {
		return Tensor{}, fmt.Errorf("%d dimensions, or no place", len(e.Shape))
	}
	for _, n := range e.Shape {
		if n < 0 || (n > 0 && bytes > math.MaxInt64/n) {
			return Tensor{}, fmt.Errorf("shape %v is not possible", e.Shape)
		}
		bytes *= n
	}
	from, to := e.Offsets[0], e.Offsets[1]
	if from < 0 || to < from || to-from != bytes {
		return Tensor{}, fmt.Errorf("it lies from %d to %d and must have %d bytes", from, to, bytes)
	}
	return Tensor{Name: name, Type: e.Type, Shape: e.Shape, Bytes: bytes, offset: from}, nil
}

// place checks that the tensors cover the data from its first byte to the last, each byte once, and
// makes their offsets those of the file.
func place(tensors []Tensor, data, size int64) error {
	slices.SortFunc(tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.Bytes, b.Bytes))
	})
	end := int64(0)
	for i := range tensors {
		t := &tensors[i]
		if t.offset != end {
			return fmt.Errorf("tensor %q begins at %d of the data, where %d is expected", t.Name, t.offset, end)
		}
		if t.Bytes > size-data-end {
			return fmt.Errorf("tensor %q ends outside the file: it is cut off", t.Name)
		}
		end += t.Bytes
		t.offset += data
	}
	if end != size-data {
		return fmt.Errorf("%d bytes behind the last tensor", size-data-end)
	}
	slices.SortFunc(tensors, func(a, b Tensor) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}
