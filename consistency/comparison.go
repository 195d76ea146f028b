package consistency

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// Kernel is the id of a similarity k of two answers, with k(y,y) = 1.
type Kernel string

const (
	// Indicator: 1 if the extracted answers are the same string, else 0.
	Indicator Kernel = "indicator"
	// Cosine: the cosine of the answers' embeddings, in [-1,1]. A zero vector is like nothing, itself included.
	Cosine Kernel = "cosine"
	// Equivalent: 1 if a judge says that the two mean the same, else 0.
	Equivalent Kernel = "equivalent"
	// Clustered: as Equivalent, after the judge's verdicts were closed under transitivity.
	Clustered Kernel = "clustered"
)

// NotJudged: the judge gave no verdict on some pair of answers.
const NotJudged measure.Reason = "a pair of answers is not judged"

// Sample is the extracted answer of one reply, or the reason why there is none.
type Sample struct {
	Answer  string
	Missing record.Missing
}

// Answers makes samples of answers that are all there.
func Answers(texts ...string) []Sample {
	samples := make([]Sample, len(texts))
	for i, t := range texts {
		samples[i].Answer = t
	}
	return samples
}

// Comparison holds the answers to one item: n under the original prompt and m under perturbed ones, which
// may differ in number. Samples without an answer are left out and counted. It is read-only and safe for use
// by several goroutines.
type Comparison struct {
	kernel  Kernel
	n, m    int
	form    form
	leftOut map[string]int
	why     measure.Reason // why the kernel cannot be read; empty if it can
}

// N and M are the samples used of the original prompt and of perturbed ones.
func (c *Comparison) N() int { return c.n }

// M is the number of perturbed samples used; see [Comparison.N].
func (c *Comparison) M() int { return c.m }

// Kernel says how answers are compared.
func (c *Comparison) Kernel() Kernel { return c.kernel }

// CompareAnswers compares extracted answers by the [Indicator] kernel, from their counts: O(n + m).
func CompareAnswers(original, perturbed []Sample) *Comparison {
	c, texts := pooled(Indicator, original, perturbed)
	codes, unique := enumerate(texts)
	c.form = coded{codes: codes, values: len(unique)}
	return c
}

// CompareEmbeddings compares answers by the [Cosine] of their embeddings, one row a sample, all of the same
// number of dimensions; a nil row is a sample without embedding. Sums of unit vectors take the place of the
// n × m matrix. The rows are kept, not copied, and must not change.
//
// It is an error if rows differ in length or hold anything but finite numbers.
func CompareEmbeddings[F Real](original, perturbed [][]F) (*Comparison, error) {
	c := &Comparison{kernel: Cosine, leftOut: map[string]int{}}
	v := vectors[F]{rows: make([][]F, 0, len(original)+len(perturbed)), inverse: make([]float64, 0, len(original)+len(perturbed))}
	for side, rows := range [][][]F{original, perturbed} {
		for i, row := range rows {
			if row == nil {
				c.leftOut["no embedding"]++
				continue
			}
			if err := v.add(row); err != nil {
				return nil, fmt.Errorf("consistency: embedding %d of the %s answers: %w", i, []string{"original", "perturbed"}[side], err)
			}
		}
		if side == 0 {
			c.n = len(v.rows)
		}
	}
	c.m = len(v.rows) - c.n
	c.form = v
	return c, nil
}

// CompareJudged compares answers by the verdicts of a judge. The kernel is [Equivalent], or [Clustered] if
// the verdicts were closed by [Verdicts.Closed]. Where two answers that occur have no verdict, C3 is missing
// with the reason [NotJudged].
func CompareJudged(original, perturbed []Sample, verdicts *Verdicts) *Comparison {
	c, texts := pooled(Equivalent, original, perturbed)
	if verdicts.closed {
		c.kernel = Clustered
	}
	codes, unique := enumerate(texts)
	k := make([]float64, len(unique)*len(unique))
	for a := range unique {
		for b := range unique {
			same, known := verdicts.Same(unique[a], unique[b])
			if !known {
				c.why = NotJudged
			}
			if same {
				k[a*len(unique)+b] = 1
			}
		}
	}
	c.form = coded{codes: codes, values: len(unique), k: k}
	return c
}

// pooled leaves out what is missing and puts the original answers before the perturbed ones.
func pooled(kernel Kernel, original, perturbed []Sample) (*Comparison, []string) {
	c := &Comparison{kernel: kernel, leftOut: map[string]int{}}
	texts := make([]string, 0, len(original)+len(perturbed))
	for side, samples := range [][]Sample{original, perturbed} {
		for _, s := range samples {
			if s.Missing != record.Present {
				c.leftOut[string(s.Missing)]++
				continue
			}
			texts = append(texts, s.Answer)
		}
		if side == 0 {
			c.n = len(texts)
		}
	}
	c.m = len(texts) - c.n
	return c, texts
}

// enumerate numbers the distinct texts in the order of their first occurrence.
func enumerate(texts []string) (codes []int32, unique []string) {
	number := make(map[string]int32, len(texts))
	codes = make([]int32, len(texts))
	for i, t := range texts {
		code, known := number[t]
		if !known {
			code = int32(len(unique))
			number[t] = code
			unique = append(unique, t)
		}
		codes[i] = code
	}
	return codes, unique
}

// First is the comparison of the first n original and the first m perturbed samples that were used.
// It panics if there are fewer.
func (c *Comparison) First(n, m int) *Comparison {
	if n < 0 || m < 0 || n > c.n || m > c.m {
		panic(fmt.Sprintf("consistency: the first %d and %d of %d and %d samples", n, m, c.n, c.m))
	}
	part := *c
	part.n, part.m = n, m
	keep := make([]int, 0, n+m)
	for i := range n {
		keep = append(keep, i)
	}
	for j := range m {
		keep = append(keep, c.n+j)
	}
	part.form = c.form.pick(keep)
	return &part
}

// ones are the weights of the samples as they are.
func (c *Comparison) ones() (x, y []float64) {
	x, y = make([]float64, c.n+c.m), make([]float64, c.n+c.m)
	for i := range x {
		if i < c.n {
			x[i] = 1
		} else {
			y[i] = 1
		}
	}
	return x, y
}

// finite reports whether x is a number that can be computed with.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
