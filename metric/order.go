package metric

import "math"

// bestFirst orders items by confidence, high first, and items of equal confidence by quality, high
// first; items equal in both keep their order. There is no NaN.
func bestFirst(confidence, quality []float64) []int32 {
	items := make([]keyed, len(confidence))
	spare := make([]keyed, len(confidence))
	for i, q := range quality {
		items[i] = keyed{descending(q), int32(i)}
	}
	items, spare = radixSort(items, spare)
	for i := range items {
		items[i].key = descending(confidence[items[i].item])
	}
	items, _ = radixSort(items, spare)
	order := make([]int32, len(items))
	for i, x := range items {
		order[i] = x.item
	}
	return order
}

type keyed struct {
	key  uint64
	item int32
}

// descending maps floats to integers in reverse order: the bits of a float, read as an integer, grow
// with it above 0 and fall below.
func descending(x float64) uint64 {
	bits := math.Float64bits(x)
	if bits>>63 == 1 {
		return bits
	}
	return ^bits &^ (1 << 63)
}

// radixSort sorts by key, stably, a byte at a time, and passes over bytes that all keys share. It
// returns the sorted slice first; both may have changed.
func radixSort(items, spare []keyed) (sorted, other []keyed) {
	var sizes [8][256]int
	for _, x := range items {
		for b := range 8 {
			sizes[b][byte(x.key>>(8*b))]++
		}
	}
	for b := range 8 {
		if len(items) == 0 || sizes[b][byte(items[0].key>>(8*b))] == len(items) {
			continue
		}
		next := 0
		for digit, size := range sizes[b] {
			sizes[b][digit], next = next, next+size
		}
		for _, x := range items {
			place := &sizes[b][byte(x.key>>(8*b))]
			spare[*place] = x
			*place++
		}
		items, spare = spare, items
	}
	return items, spare
}
