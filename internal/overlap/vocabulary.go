package overlap

// A Vocabulary numbers words from 0 in the order in which they appear first: equal words have equal
// numbers. The zero Vocabulary is empty and ready. Not for concurrent use.
type Vocabulary struct {
	words numbering[string]
	// marks has a mark of each word while they are few: most unequal words differ in theirs.
	marks []uint32
}

// Append appends the numbers of words to dst.
func (v *Vocabulary) Append(dst []int32, words []string) []int32 {
	for _, w := range words {
		dst = append(dst, v.of(w))
	}
	return dst
}

func (v *Vocabulary) of(w string) int32 {
	if len(v.marks) > few {
		return v.words.of(w)
	}
	m := mark(w)
	for i, other := range v.marks {
		if m == other && v.words.keys[i] == w {
			return int32(i)
		}
	}
	v.marks = append(v.marks, m)
	return v.words.add(w)
}

// mark is a number made of a word's length and three of its bytes.
func mark(w string) uint32 {
	n := len(w)
	if n == 0 {
		return 0
	}
	return uint32(n)<<24 ^ uint32(w[0])<<16 ^ uint32(w[n/2])<<8 ^ uint32(w[n-1])
}

// Len returns how many words have a number.
func (v *Vocabulary) Len() int { return len(v.words.keys) }

// Reset forgets all words and keeps the memory.
func (v *Vocabulary) Reset() {
	v.words.reset()
	v.marks = v.marks[:0]
}

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
