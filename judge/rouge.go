package judge

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/credence-lab/credence/internal/overlap"
	"github.com/credence-lab/credence/internal/text"
	"github.com/credence-lab/credence/record"
)

// NoWords: the judge knows the words of some scripts only, and the answer or every reference is
// written in others.
const NoWords record.Missing = "no word that the judge can read"

// rougeEntries compare runs of words, and words in order, as rouge_score does.
func rougeEntries() []Entry {
	measures := []struct {
		name, title, counts string
		score               func(c *comparison, answer, reference []int32) overlap.Score
	}{
		{"rouge-1", "ROUGE-1", "words, counted as often as in both", func(c *comparison, a, r []int32) overlap.Score { return c.counter.NGram(a, r, 1) }},
		{"rouge-2", "ROUGE-2", "pairs of neighbouring words, counted as often as in both", func(c *comparison, a, r []int32) overlap.Score { return c.counter.NGram(a, r, 2) }},
		{"rouge-l", "ROUGE-L", "the words of the longest common subsequence", func(c *comparison, a, r []int32) overlap.Score {
			return overlap.Of(c.counter.LCS(a, r), len(a), len(r))
		}},
	}
	variants := []struct {
		suffix, title, words string
		by                   text.Tokeniser
	}{
		{"", "", "words are runs of a-z and 0-9 in lower case; other letters part words", text.Rouge},
		{".stem", ", stemmed", "words are runs of a-z and 0-9 in lower case; those of more than 3 letters are cut to NLTK's Porter stem", text.RougeStemmed},
		{".unicode", ", Unicode words", "words as of token-f1.unicode", text.Unicode},
	}
	var entries []Entry
	for _, m := range measures {
		for _, v := range variants {
			source := "Lin 2004; rouge_score 0.1.2"
			if v.by == text.Unicode {
				source = "Lin 2004; words by this project"
			}
			entries = append(entries, Entry{
				ID: m.name + v.suffix, Title: m.title + v.title,
				Definition: "2PR/(P+R), P and R the share of answer and of reference that is common, by " + m.counts + "; highest over references; " + v.words,
				High:       1, Cut: MustCut, Needs: []Need{References}, Source: source,
				measure: func(c *comparison) record.Number {
					if v.by != text.Unicode && c.unreadable(v.by) {
						return record.Absent(NoWords)
					}
					return c.best(v.by, func(a, r []int32) float64 { return m.score(c, a, r).F1 })
				},
			})
		}
	}
	return entries
}

// unreadable reports whether the answer or every reference has letters or digits and yet no word. The
// score would be 0 even of two equal texts.
func (c *comparison) unreadable(by text.Tokeniser) bool {
	words := c.cut(by)
	if len(words.answer) == 0 && lettered(c.answer) {
		return true
	}
	for i, reference := range words.references {
		if len(reference) > 0 || !lettered(c.references[i]) {
			return false
		}
	}
	return true
}

func lettered(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// Overlap is precision, recall and F1, each in [0,1], higher for more in common.
type Overlap = overlap.Score

// RougeN is the ROUGE-n of an answer and one reference as the package rouge_score gives it, n at least 1: precision,
// recall and F1 = 2PR/(P+R) in [0,1], higher is closer. A text without a word of a-z and 0-9, or shorter than n, scores 0.
// Source: Lin 2004, section 2, as in rouge_score 0.1.2.
func RougeN(answer, reference string, n int, stem bool) Overlap {
	if n < 1 {
		panic("judge: ROUGE-" + strconv.Itoa(n))
	}
	return overlap.NGram(rougeWords(answer, stem), rougeWords(reference, stem), n)
}

// RougeL is the ROUGE-L of an answer and one reference as the package rouge_score gives it: precision, recall and
// F1 = 2PR/(P+R) of the longest common subsequence of words, in [0,1], higher is closer; else as [RougeN]. Source: Lin
// 2004, section 3, as in rouge_score 0.1.2.
func RougeL(answer, reference string, stem bool) Overlap {
	return overlap.LCS(rougeWords(answer, stem), rougeWords(reference, stem))
}

func rougeWords(s string, stem bool) []string {
	if stem {
		return text.RougeStemmed.Words(s)
	}
	return text.Rouge.Words(s)
}
