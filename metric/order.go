package metric

import "math"

// keyed is an item with what it is sorted by.
type keyed struct {
	key   uint64 // its confidence, by descending
	item  int32
	level int32 // of its quality, 0 for the best
}

// bestFirst sorts items by confidence, high first, and items of equal confidence by quality, high
// first; items equal in both keep their order.
func bestFirst(items []keyed) {
	spare := make([]keyed, len(items))
	sortByKey(items, spare)
	eachRun(items, 0, func(from, to int) {
		ties := items[from:to]
		confidence := ties[0].key
		for i := range ties {
			ties[i].key = uint64(ties[i].level)
		}
		sortByKey(ties, spare[from:to])
		for i := range ties {
			ties[i].key = confidence
		}
	})
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

// ascending undoes descending.
func ascending(key uint64) float64 {
	if key>>63 == 1 {
		return math.Float64frombits(key)
	}
	return math.Float64frombits(^key &^ (1 << 63))
}

// sortByKey sorts by key, stably; spare is as long as items. The high halves of the keys are sorted
// first: they leave few items equal, unless many are equal altogether.
func sortByKey(items, spare []keyed) {
	if len(items) <= fewItems {
		insertionSort(items)
		return
	}
	radixSort(items, spare, half)
	eachRun(items, half, func(from, to int) {
		if run := items[from:to]; len(run) <= fewItems {
			insertionSort(run)
		} else {
			radixSort(run, spare[from:to], 0)
		}
	})
}

const (
	half     = 32 // bits of a key
	fewItems = 64
)

// eachRun calls do for every run of two items or more whose keys are equal from the given bit up.
func eachRun(items []keyed, bit int, do func(from, to int)) {
	for from, to := 0, 0; from < len(items); from = to {
		key := items[from].key >> bit
		for to = from + 1; to < len(items) && items[to].key>>bit == key; to++ {
		}
		if to-from > 1 {
			do(from, to)
		}
	}
}

// radixSort sorts by half a key, from the given bit up, stably, a byte at a time. It passes over bytes
// that all keys share.
func radixSort(items, spare []keyed, bit int) {
	sorted := items
	var sizes [half / 8][256]int
	for _, x := range items {
		for b := range sizes {
			sizes[b][byte(x.key>>(bit+8*b))]++
		}
	}
	for b := range sizes {
		shift := bit + 8*b
		if sizes[b][byte(items[0].key>>shift)] == len(items) {
			continue
		}
		next := 0
		for digit, size := range sizes[b] {
			sizes[b][digit], next = next, next+size
		}
		for _, x := range sorted {
			place := &sizes[b][byte(x.key>>shift)]
			spare[*place] = x
			*place++
		}
		sorted, spare = spare, sorted
	}
	if &sorted[0] != &items[0] {
		copy(items, sorted)
	}
}

// insertionSort sorts few items by key, stably.
func insertionSort(items []keyed) {
	for i, x := range items {
		k := i
		for ; k > 0 && items[k-1].key > x.key; k-- {
			items[k] = items[k-1]
		}
		items[k] = x
	}
}
