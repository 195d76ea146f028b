package gguf

import "math"

// block is how a tensor type is laid out: so many elements in so many bytes.
type block struct{ elements, bytes uint64 }

// blocks holds the tensor types of ggml by their number. Types that are gone from ggml are not here.
var blocks = map[uint32]block{
	0: {1, 4}, 1: {1, 2}, // f32, f16
	2: {32, 18}, 3: {32, 20}, 6: {32, 22}, 7: {32, 24}, 8: {32, 34}, 9: {32, 36}, // q4_0 … q8_1
	10: {256, 84}, 11: {256, 110}, 12: {256, 144}, 13: {256, 176}, 14: {256, 210}, 15: {256, 292}, // q2_K … q8_K
	16: {256, 66}, 17: {256, 74}, 18: {256, 98}, 19: {256, 50}, 20: {32, 18}, 21: {256, 110}, 22: {256, 82}, 23: {256, 136}, // iq…
	24: {1, 1}, 25: {1, 2}, 26: {1, 4}, 27: {1, 8}, 28: {1, 8}, // i8 … i64, f64
	29: {256, 56}, 30: {1, 2}, 34: {256, 54}, 35: {256, 66}, 39: {32, 17}, // iq1_m, bf16, tq1_0, tq2_0, mxfp4
}

const defaultAlignment = 32

// tensors reads n tensor descriptions and checks that each lies within the file. Types that this
// table does not know are left to the engine.
func (d *decoder) tensors(g *File, n int) {
	end := uint64(0)
	for i := 0; i < n && d.err == nil; i++ {
		end = max(end, d.tensor(g))
	}
	if d.err != nil {
		return
	}
	align := uint64(defaultAlignment)
	if a, ok := g.Int("general.alignment"); ok && a > 0 {
		align = uint64(a)
	}
	start := (uint64(d.at) + align - 1) / align * align
	if end > math.MaxInt64-start || start+end > uint64(d.size) {
		d.fail("the file has %d bytes, its tensors need %d: it is cut off, fetch it again", d.size, start+end)
	}
}

// tensor reads one description and returns where it ends, counted from the start of the tensor data.
func (d *decoder) tensor(g *File) uint64 {
	name := d.text("a tensor's name", maxKey)
	dims := d.unsigned(4)
	if d.err == nil && (dims < 1 || dims > maxDims) {
		d.fail("tensor %q has %d dimensions", name, dims)
	}
	elements, wide := uint64(1), 0
	for i := uint64(0); i < dims && d.err == nil; i++ {
		k := d.unsigned(8)
		if k == 0 || k > math.MaxInt64/elements {
			d.fail("tensor %q has no possible size", name)
			return 0
		}
		elements *= k
		if k > 1 {
			wide++
		}
	}
	kind := uint32(d.unsigned(4))
	if _, have := g.matrices[kind]; wide > 1 && !have && d.err == nil {
		g.matrices[kind] = name
	}
	offset := d.unsigned(8)
	b, ok := blocks[kind]
	if d.err != nil || !ok {
		return 0
	}
	if offset > math.MaxInt64 || elements/b.elements > math.MaxInt64/b.bytes/2 {
		d.fail("tensor %q lies outside any file", name)
		return 0
	}
	return offset + (elements+b.elements-1)/b.elements*b.bytes
}
