package overlap

// A Vocabulary numbers words from 0 in the order in which they appear first: equal words have equal
// numbers. The zero Vocabulary is empty and ready. Not for concurrent use.
type Vocabulary struct{ numbering[string] }

// Append appends the numbers of words to dst.
func (v *Vocabulary) Append(dst []int32, words []string) []int32 {
	for _, w := range words {
		dst = append(dst, v.of(w))
	}
	return dst
}

// Len returns how many words have a number.
func (v *Vocabulary) Len() int { return len(v.keys) }

// Reset forgets all words and keeps the memory.
func (v *Vocabulary) Reset() { v.reset() }

// numbering gives keys numbers from 0. Few keys, as in a short answer, are found faster by looking at
// each than by hashing.
type numbering[K comparable] struct {
	keys  []K
	index map[K]int32 // of all keys, once they are more than few
}

const few = 16

func (n *numbering[K]) of(key K) int32 {
	if len(n.keys) <= few {
		for i, k := range n.keys {
			if k == key {
				return int32(i)
			}
		}
	} else if i, ok := n.index[key]; ok {
		return i
	}
	return n.add(key)
}

func (n *numbering[K]) add(key K) int32 {
	i := int32(len(n.keys))
	n.keys = append(n.keys, key)
	switch {
	case i > few:
		n.index[key] = i
	case i == few:
		if n.index == nil {
			n.index = make(map[K]int32, 4*few)
		}
		for j, k := range n.keys {
			n.index[k] = int32(j)
		}
	}
	return i
}

func (n *numbering[K]) reset() {
	clear(n.keys)
	n.keys = n.keys[:0]
	clear(n.index)
}
