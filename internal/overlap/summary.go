package overlap

// MostCells bounds the table of two sentences that [Counter.Summary] fills, in cells of one byte.
const MostCells = 1 << 24

// Summary is ROUGE-L of several sentences as rouge_score's rougeLsum computes it (Lin 2004, section 3.2, with
// every word counted at most as often as it occurs): of each reference sentence, the words that belong to a
// longest common subsequence with any of the answer's. ok is false where two sentences are too long
// ([MostCells]).
func (c *Counter) Summary(answer, reference [][]int32) (score Score, ok bool) {
	most, inAnswer, inReference := 0, 0, 0
	for _, s := range answer {
		most, inAnswer = max(most, room(s, nil)), inAnswer+len(s)
	}
	for _, s := range reference {
		most, inReference = max(most, room(s, nil)), inReference+len(s)
	}
	left, right := make([]int32, most), make([]int32, most) // how often a word may still count
	count(left, answer)
	count(right, reference)
	hits := 0
	for _, r := range reference {
		in := make([]bool, len(r))
		for _, a := range answer {
			if len(r)*len(a) > MostCells {
				return Score{}, false
			}
			markCommon(in, r, a)
		}
		for i, x := range r {
			if in[i] && left[x] > 0 && right[x] > 0 {
				hits++
				left[x]--
				right[x]--
			}
		}
	}
	return Of(hits, inAnswer, inReference), true
}

func count(counts []int32, sentences [][]int32) {
	for _, s := range sentences {
		for _, x := range s {
			counts[x]++
		}
	}
}

// markCommon marks the words of r that lie on one longest common subsequence with a. Of several it takes the
// one that rouge_score's walk back through the table meets.
func markCommon(in []bool, r, a []int32) {
	const diagonal, shorterAnswer, shorterReference = 0, 1, 2
	walk := make([]byte, len(r)*len(a))
	above, row := make([]int32, len(a)+1), make([]int32, len(a)+1)
	for i, x := range r {
		for j, y := range a {
			at := i*len(a) + j
			switch {
			case x == y:
				row[j+1], walk[at] = above[j]+1, diagonal
			case row[j] > above[j+1]:
				row[j+1], walk[at] = row[j], shorterAnswer
			default:
				row[j+1], walk[at] = above[j+1], shorterReference
			}
		}
		above, row = row, above
	}
	for i, j := len(r)-1, len(a)-1; i >= 0 && j >= 0; {
		switch walk[i*len(a)+j] {
		case diagonal:
			in[i] = true
			i, j = i-1, j-1
		case shorterAnswer:
			j--
		default:
			i--
		}
	}
}
