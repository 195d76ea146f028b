package judge

import (
	"math"
	"strconv"

	"github.com/credence-lab/credence/internal/overlap"
	"github.com/credence-lab/credence/internal/text"
	"github.com/credence-lab/credence/record"
)

// ShortForSmoothing: method 6 needs a common run of three words.
const ShortForSmoothing record.Missing = "too little in common for the smoothing"

// Smoothing is what BLEU does with runs of words of which none is found: nltk's SmoothingFunction, method by
// method (Chen and Cherry, "A Systematic Comparison of Smoothing Techniques for Sentence-Level BLEU", 2014), with
// its defaults ε = .1, α = 5, k = 5.
type Smoothing uint8

const (
	// NoSmoothing is method 0. A precision of 0 counts as the smallest normal float64, so that the score
	// is not 0 but below 1e-76.
	NoSmoothing Smoothing = iota
	// AddEpsilon is method 1: a count of 0 becomes .1.
	AddEpsilon
	// AddOne is method 2: 1 is added to both counts of runs longer than one.
	AddOne
	// Geometric is method 3: the k-th count of 0 becomes 1/2^k.
	Geometric
	// ByLength is method 4: the k-th count of 0 becomes ln(length)/(5·2^k). One word keeps its zeros,
	// which nltk then leaves out of the mean.
	ByLength
	// Neighbours is method 5: the mean of the precisions of runs one shorter, equal and one longer. It
	// exceeds 1 where the texts are equal.
	Neighbours
	// Interpolated is method 6: a prior of five counts from the two shorter runs. Undefined
	// ([ShortForSmoothing]) without a common run of three.
	Interpolated
	// ByLengthNeighbours is method 7: 4, then 5. It exceeds 1 as 5 does.
	ByLengthNeighbours
)

// BLEU is the sentence BLEU of nltk with runs of one to four words and equal weights. The zero BLEU is
// sentence_bleu by default.
type BLEU struct {
	Smoothing Smoothing
	// Reweigh is nltk's auto_reweigh: an answer of n < 4 words has runs of up to n words only.
	Reweigh bool
}

const longestRun = 4

// Of returns BP · exp(mean of ln p_n), n from 1 to 4: p_n is the share of the answer's runs of n words
// that the references have, each counted as often as in the reference that has it most; BP is 1 where
// the answer is longer than the reference nearest to it in length, else exp(1 - reference/answer).
// All references at once (Papineni et al. 2002). Range [0,1], with Neighbours and ByLengthNeighbours
// up to about 1.2; higher is closer. 0 without a common word.
func (b BLEU) Of(answer []string, references [][]string) record.Number {
	var v overlap.Vocabulary
	var c comparison
	lists := make([][]int32, len(references))
	words := v.Append(nil, answer)
	for i, r := range references {
		lists[i] = v.Append(nil, r)
	}
	return b.of(&c, words, lists)
}

// precision is a modified precision as two counts. nltk keeps it as a fraction.
type precision struct{ found, runs int }

func (p precision) value() float64 { return float64(p.found) / float64(p.runs) }

func (b BLEU) of(c *comparison, answer []int32, references [][]int32) record.Number {
	most := longestRun
	if b.Smoothing == Neighbours || b.Smoothing == ByLengthNeighbours {
		most++
	}
	var counts [longestRun + 1]precision
	if counts = c.precisions(answer, references, most); counts[0].found == 0 {
		return record.Known(0)
	}
	p, missing := b.Smoothing.apply(counts, len(answer))
	if missing != record.Present {
		return record.Absent(missing)
	}
	used, weight := p[:longestRun], 1./longestRun
	if b.Reweigh && len(answer) < longestRun {
		used, weight = p[:len(answer)], 1/float64(len(answer))
	}
	// What rounding takes from the sum is added at the end: nltk's sum is exact, and exp makes much of the
	// last bit.
	sum, lost := 0.0, 0.0
	for _, x := range used {
		if x > 0 {
			term := weight * math.Log(x)
			next := sum + term
			if math.Abs(sum) >= math.Abs(term) {
				lost += (sum - next) + term
			} else {
				lost += (term - next) + sum
			}
			sum = next
		}
	}
	return record.Known(brevity(len(answer), references) * math.Exp(sum+lost))
}

// precisions counts runs of 1 to most words.
func (c *comparison) precisions(answer []int32, references [][]int32, most int) (p [longestRun + 1]precision) {
	c.counter.ForgetRuns()
	c.runs = append(c.runs[:0], answer...)
	for len(c.listed) < len(references) {
		c.listed = append(c.listed, nil)
	}
	listed := c.listed[:len(references)]
	for i, r := range references {
		listed[i] = append(listed[i][:0], r...)
	}
	for n := 1; n <= most; n++ {
		if n > 1 {
			c.runs = c.counter.Widen(c.runs, answer, n)
			for i, r := range references {
				listed[i] = c.counter.Widen(listed[i], r, n)
			}
		}
		p[n-1] = precision{c.counter.Clipped(c.runs, listed), max(1, len(c.runs))}
		if p[n-1].found == 0 {
			c.runs = c.runs[:0] // No longer run can be found; their number is known without them.
			for ; n < most; n++ {
				p[n] = precision{0, max(1, len(answer)-n)}
			}
		}
	}
	return p
}

// apply smooths the precisions of runs of one to four words; the first is not 0.
func (s Smoothing) apply(counts [longestRun + 1]precision, length int) (p [longestRun + 1]float64, why record.Missing) {
	for i, c := range counts {
		if c.runs > 0 {
			p[i] = c.value()
		}
	}
	zeros := 0
	for i, c := range counts[:longestRun] {
		switch {
		case s == AddOne && i > 0:
			p[i] = float64(c.found+1) / float64(c.runs+1)
		case c.found > 0:
			continue
		case s == NoSmoothing:
			p[i] = smallestNormal
		case s == AddEpsilon:
			p[i] = .1 / float64(c.runs)
		case s == Geometric:
			zeros++
			p[i] = 1 / (math.Ldexp(1, zeros) * float64(c.runs))
		case (s == ByLength || s == ByLengthNeighbours) && length > 1:
			zeros++
			p[i] = 1 / (math.Ldexp(1, zeros) * 5 / math.Log(float64(length))) / float64(c.runs)
		}
	}
	switch s {
	case Neighbours, ByLengthNeighbours:
		before := p[0] + 1
		for i := range longestRun {
			p[i] = (before + p[i] + p[i+1]) / 3
			before = p[i]
		}
	case Interpolated:
		if counts[2].found == 0 {
			return p, ShortForSmoothing
		}
		for i := 2; i < longestRun; i++ {
			prior := 0.0
			if p[i-2] != 0 {
				prior = p[i-1] * p[i-1] / p[i-2]
			}
			p[i] = (float64(counts[i].found) + 5*prior) / (float64(max(0, length-i)) + 5)
		}
	}
	return p, record.Present
}

// smallestNormal is Python's sys.float_info.min.
const smallestNormal = 0x1p-1022

// brevity is BLEU's penalty for answers shorter than the reference nearest in length, the shorter of
// two equally near.
func brevity(answer int, references [][]int32) float64 {
	nearest, distance := 0, math.MaxInt
	for _, r := range references {
		d := max(answer-len(r), len(r)-answer)
		if d < distance || d == distance && len(r) < nearest {
			nearest, distance = len(r), d
		}
	}
	if answer > nearest {
		return 1
	}
	return math.Exp(1 - float64(nearest)/float64(answer))
}

// bleuEntries are BLEU with each smoothing.
func bleuEntries() []Entry {
	entry := func(suffix, title string, b BLEU, high float64) Entry {
		return Entry{
			ID: "bleu" + suffix, Title: "BLEU" + title,
			Definition: "BP · exp(mean of ln p_n, n from 1 to 4), all references at once; words are the text split at blanks; " + b.words(),
			High:       high, Cut: MustCut, Needs: []Need{References}, Source: "Papineni et al. 2002; nltk 3.10 sentence_bleu",
			measure: func(c *comparison) record.Number {
				words := c.cut(text.Whitespace)
				return b.of(c, words.answer, words.references)
			},
		}
	}
	entries := []Entry{entry("", "", BLEU{}, 1)}
	entries[0].Source += "; " + secondPaper
	for s := AddEpsilon; s <= ByLengthNeighbours; s++ {
		high := 1.
		if s == Neighbours || s == ByLengthNeighbours {
			high = 1.12 // 1.1167 for equal texts
		}
		method := "method" + strconv.Itoa(int(s))
		entries = append(entries, entry("."+method, ", "+method, BLEU{Smoothing: s}, high))
	}
	entries = append(entries, entry(".method1.reweighed", ", method1, reweighed", BLEU{AddEpsilon, true}, 1))
	return append(entries, sacreEntries()...)
}

// words says what the variant does to runs that are not found.
func (b BLEU) words() string {
	how := [...]string{
		"without smoothing: an answer without a common run of four words scores next to 0",
		"a count of 0 becomes .1",
		"1 is added to the counts of runs longer than one word",
		"the k-th count of 0 becomes 1/2^k",
		"the k-th count of 0 becomes ln(length)/(5·2^k)",
		"precisions are averaged with those of runs one shorter and one longer, and exceed 1 for equal texts",
		"precisions of runs of three and four get a prior of five counts; undefined without a common run of three",
		"method4, then method5; exceeds 1 for equal texts",
	}[b.Smoothing]
	if b.Reweigh {
		how += "; runs no longer than the answer"
	}
	return how
}
