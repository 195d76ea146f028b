// Package gguf writes GGUF files, version 3, little endian: metadata, then tensors. The same input gives
// the same bytes.
package gguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Pair is one entry of the metadata. The value is a string, bool, uint32, float32, []string or []int32.
type Pair struct {
	Key   string
	Value any
}

// Tensor is a tensor of 32-bit floats.
type Tensor struct {
	Name string
	// Shape has the fastest dimension first, as GGUF has it: the reverse of what Python libraries print.
	Shape []int64
	// Data gives the elements, little endian: four bytes for each.
	Data io.Reader
}

// Numbers of the format.
const (
	version   = 3
	alignment = 32
	float32s  = 0 // the tensor type

	typeUint32  = 4
	typeInt32   = 5
	typeFloat32 = 6
	typeBool    = 7
	typeString  = 8
	typeArray   = 9
)

// Write writes a whole file. Data that is shorter or longer than its shape is an error.
func Write(w io.Writer, pairs []Pair, tensors []Tensor) error {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<20)}
	e.bytes([]byte("GGUF"))
	e.u32(version)
	e.u64(uint64(len(tensors)))
	e.u64(uint64(len(pairs)))
	for _, p := range pairs {
		e.text(p.Key)
		e.value(p.Value)
	}
	offset := uint64(0)
	for _, t := range tensors {
		e.describe(t, offset)
		offset = aligned(offset + uint64(size(t)))
	}
	for _, t := range tensors {
		e.pad()
		e.data(t)
	}
	e.pad()
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

func size(t Tensor) int64 {
	n := int64(4)
	for _, k := range t.Shape {
		n *= k
	}
	return n
}

func aligned(n uint64) uint64 { return (n + alignment - 1) / alignment * alignment }

// encoder counts what it writes and remembers the first error.
type encoder struct {
	w   *bufio.Writer
	at  uint64
	err error
}

func (e *encoder) bytes(b []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(b)
		e.at += uint64(len(b))
	}
}

func (e *encoder) u32(x uint32) { e.bytes(binary.LittleEndian.AppendUint32(nil, x)) }
func (e *encoder) u64(x uint64) { e.bytes(binary.LittleEndian.AppendUint64(nil, x)) }

func (e *encoder) text(s string) {
	e.u64(uint64(len(s)))
	e.bytes([]byte(s))
}

func (e *encoder) pad() { e.bytes(make([]byte, aligned(e.at)-e.at)) }

func (e *encoder) value(v any) {
	switch v := v.(type) {
	case string:
		e.u32(typeString)
		e.text(v)
	case bool:
		e.u32(typeBool)
		if v {
			e.bytes([]byte{1})
		} else {
			e.bytes([]byte{0})
		}
	case uint32:
		e.u32(typeUint32)
		e.u32(v)
	case float32:
		e.u32(typeFloat32)
		e.u32(math.Float32bits(v))
	case []string:
		e.array(typeString, len(v))
		for _, s := range v {
			e.text(s)
		}
	case []int32:
		e.array(typeInt32, len(v))
		for _, n := range v {
			e.u32(uint32(n))
		}
	default:
		e.fail(fmt.Errorf("a value of type %T cannot be written", v))
	}
}

func (e *encoder) array(kind uint32, n int) {
	e.u32(typeArray)
	e.u32(kind)
	e.u64(uint64(n))
}

func (e *encoder) describe(t Tensor, offset uint64) {
	e.text(t.Name)
	e.u32(uint32(len(t.Shape)))
	for _, n := range t.Shape {
		e.u64(uint64(n))
	}
	e.u32(float32s)
	e.u64(offset)
}

func (e *encoder) data(t Tensor) {
	if e.err != nil {
		return
	}
	// One byte more than the shape says tells longer data from right ones.
	n, err := io.Copy(e.w, io.LimitReader(t.Data, size(t)+1))
	e.at += uint64(n)
	switch {
	case err != nil:
		e.fail(fmt.Errorf("tensor %s: %w", t.Name, err))
	case n != size(t):
		e.fail(fmt.Errorf("tensor %s: data have not the %d bytes of shape %v", t.Name, size(t), t.Shape))
	}
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}
