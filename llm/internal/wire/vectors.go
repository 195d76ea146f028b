package wire

import "github.com/credence-lab/credence/llm"

// Units checks the vectors of n texts, of dimensions numbers each or, where that is 0, of equally many,
// and gives each the length 1, which servers give to about a millionth. Its errors are of the kind of
// [Malformedf].
func Units(vectors [][]float64, n, dimensions int) ([][]float32, error) {
	if len(vectors) != n {
		return nil, Malformedf("%d vectors for %d texts", len(vectors), n)
	}
	out := make([][]float32, n)
	for i, v := range vectors {
		if len(v) != len(vectors[0]) || dimensions > 0 && len(v) != dimensions {
			return nil, Malformedf("a vector of %d numbers beside others of %d", len(v), max(len(vectors[0]), dimensions))
		}
		var err error
		if out[i], err = llm.Unit(v); err != nil {
			return nil, Malformedf("%v", err)
		}
	}
	return out, nil
}
