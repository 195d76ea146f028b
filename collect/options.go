package collect

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// Options are what a multiple-choice question offers, in the order in which it is shown.
type Options struct {
	Texts []string
	// Gold is the letter of the accepted one.
	Gold string
}

// mostDistractors of a question that lists wrong answers instead of choices.
const mostDistractors = 3

// OptionsOf returns the options of an item: its choices in their own order, or else its canonical
// answer and up to three of its wrong answers, shuffled by a generator of this question ("Same Answer,
// Different Confidence", appendix F; rule of the SciQ and MMLU settings). ok is false where an item
// has neither, where no option is the accepted answer, or where two are.
func OptionsOf(item record.Item, seed uint64) (o Options, ok bool) {
	if len(item.References) == 0 {
		return Options{}, false
	}
	texts := slices.Clone(item.Choices)
	if len(texts) == 0 {
		if len(item.Incorrect) == 0 {
			return Options{}, false
		}
		texts = append(texts, item.References[0])
		texts = append(texts, item.Incorrect[:min(len(item.Incorrect), mostDistractors)]...)
		shuffle(texts, item.ID, seed)
	}
	if len(texts) < 2 || len(texts) > len(prompt.Letters) {
		return Options{}, false
	}
	for i, text := range texts {
		if !slices.ContainsFunc(item.References, func(r string) bool { return same(r, text) }) {
			continue
		}
		if o.Gold != "" {
			return Options{}, false
		}
		o.Gold = prompt.Letters[i : i+1]
	}
	o.Texts = texts
	return o, o.Gold != ""
}

func same(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) }

// shuffle orders texts by a generator that the seed and the item fix, so that a question keeps its
// order whatever other questions there are.
func shuffle(texts []string, item string, seed uint64) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(item))
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	r.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
}
