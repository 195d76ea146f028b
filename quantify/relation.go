package quantify

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/record"
)

// Relation is what an entailment model gave for one ordered pair of texts: the probabilities that the
// premise entails the hypothesis, contradicts it, or does neither. They lie in [0,1] and sum to 1.
type Relation struct {
	Entails, Neither, Contradicts float64
	// Missing says why there are no probabilities; [record.Present] if there are.
	Missing record.Missing
}

// same is the relation of a text to itself, which no model need be asked for.
var same = Relation{Entails: 1}

// label is the most probable of the three; of equals, the one that claims less.
func (r Relation) label() label {
	switch {
	case r.Contradicts >= r.Neither && r.Contradicts >= r.Entails:
		return contradicts
	case r.Neither >= r.Entails:
		return neither
	}
	return entails
}

type label uint8

const (
	entails label = iota
	neither
	contradicts
)

// valid returns r, or the relation that is missing because r is no distribution.
func (r Relation) valid() Relation {
	if r.Missing != record.Present {
		return Relation{Missing: r.Missing}
	}
	sum := 0.0
	for _, p := range [...]float64{r.Entails, r.Neither, r.Contradicts} {
		if !(p >= 0 && p <= 1) {
			return Relation{Missing: BadEntailment}
		}
		sum += p
	}
	// Models answer in single precision, and some round to a few digits.
	if math.Abs(sum-1) > .01 {
		return Relation{Missing: BadEntailment}
	}
	return r
}

// Relations holds the relation of every ordered pair of an answer (0) and its samples (1 to m). It is
// immutable.
type Relations struct {
	n     int
	cells []Relation // premise by premise
}

// Relate builds the relations of an answer and its samples. of is asked once for each ordered pair of
// texts that differ, and need not know them all: it returns Relation{Missing: NoEntailment} for a pair
// that was not collected. A text entails itself. Probabilities that are no distribution become a
// relation that is missing as [BadEntailment].
func Relate(answer string, samples []string, of func(premise, hypothesis string) Relation) *Relations {
	texts := append([]string{answer}, samples...)
	ids, distinct := identify(texts)
	table := make([]Relation, len(distinct)*len(distinct))
	for i, premise := range distinct {
		for j, hypothesis := range distinct {
			cell := same
			if i != j {
				cell = of(premise, hypothesis).valid()
			}
			table[i*len(distinct)+j] = cell
		}
	}
	r := &Relations{n: len(texts), cells: make([]Relation, len(texts)*len(texts))}
	for i, a := range ids {
		for j, b := range ids {
			r.cells[i*r.n+j] = table[a*len(distinct)+b]
		}
	}
	return r
}

// NewRelations takes relations by position: matrix[i][j] has text i as premise and text j as hypothesis.
// It is an error if the matrix is not square. Probabilities that are no distribution become a relation
// that is missing as [BadEntailment].
func NewRelations(matrix [][]Relation) (*Relations, error) {
	r := &Relations{n: len(matrix), cells: make([]Relation, 0, len(matrix)*len(matrix))}
	for i, row := range matrix {
		if len(row) != r.n {
			return nil, fmt.Errorf("quantify: row %d of %d relations in a matrix of %d", i, len(row), r.n)
		}
		for _, cell := range row {
			r.cells = append(r.cells, cell.valid())
		}
	}
	return r, nil
}

// At returns the relation with text premise before text hypothesis; see [Evidence] for the numbers.
func (r *Relations) At(premise, hypothesis int) Relation {
	if premise < 0 || premise >= r.n || hypothesis < 0 || hypothesis >= r.n {
		panic(fmt.Sprintf("quantify: relation %d, %d of %d texts", premise, hypothesis, r.n))
	}
	return r.cells[premise*r.n+hypothesis]
}

func (r *Relations) texts() int {
	if r == nil {
		return 0
	}
	return r.n
}

// missing returns the first reason for which one of the pairs has no relation.
func (r *Relations) missing(pairs Pairs) record.Missing {
	if r == nil {
		return NoEntailment
	}
	for i := range r.n {
		for j := range r.n {
			if pairs.holds(i, j) && r.cells[i*r.n+j].Missing != record.Present {
				return r.cells[i*r.n+j].Missing
			}
		}
	}
	return record.Present
}

// identify numbers equal texts alike, in the order in which they come first.
func identify(texts []string) (ids []int, distinct []string) {
	ids = make([]int, len(texts))
	number := make(map[string]int, len(texts))
	for i, text := range texts {
		id, known := number[text]
		if !known {
			id = len(distinct)
			number[text] = id
			distinct = append(distinct, text)
		}
		ids[i] = id
	}
	return ids, distinct
}
