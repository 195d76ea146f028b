package consistency

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/credence-lab/credence/internal/text"
)

// Refusal is why a perturbation must not be used; empty if it may.
type Refusal string

const (
	// RefusedEmpty: no letter or digit in it.
	RefusedEmpty Refusal = "empty"
	// RefusedLong: more characters than allowed.
	RefusedLong Refusal = "too long"
	// RefusedReference and RefusedChoice: an accepted answer or an option of the question occurs in it.
	RefusedReference Refusal = "contains a reference answer"
	RefusedChoice    Refusal = "contains a choice"
	// RefusedCopy: it holds the question, or is a part of it.
	RefusedCopy Refusal = "copy of the question"
	// RefusedParaphrase: its embedding is as near to the question's as paraphrases are.
	RefusedParaphrase Refusal = "paraphrase of the question"
	// RefusedQuestion: it asks something itself, so that there would be two questions to answer.
	RefusedQuestion Refusal = "asks something itself"
	// RefusedRepeat and RefusedAlike: it has the words of one that was kept, or is as near to it as paraphrases
	// are. A guard knows one candidate alone and gives neither; see [Pool].
	RefusedRepeat Refusal = "repeats one that was kept"
	RefusedAlike  Refusal = "too near to one that was kept"
)

// SameWords reports whether two texts have the same words in the sense of [Guard].
func SameWords(a, b string) bool { return slices.Equal(wordsOf(a), wordsOf(b)) }

// Occurs reports whether the words of a part occur in a text in a row, in the sense of [Guard].
func Occurs(part, in string) bool { return contains(wordsOf(in), wordsOf(part)) }

// Guard refuses perturbations that are no neutral context for one item. Texts are compared by their words,
// without regard to case, punctuation and Unicode form, in every script: "7" occurs in "7 apples", not in
// "17". Choices are the texts of options, not their letters, or every article would be one.
type Guard struct {
	Question            string
	References, Choices []string
	// MaxCharacters is the greatest length; at least 1.
	MaxCharacters int
	// StatementsOnly refuses what has a question mark.
	StatementsOnly bool
	// QuestionVector is the embedding of the question and K the cosine from which a perturbation counts as its
	// paraphrase, in (-1,1]. Without a vector that is not looked at.
	QuestionVector []float32
	K              float64
}

// Refuses says whether and why the perturbation must not be used, the first reason in the order of the
// constants. vector is its embedding, needed if the guard has one of the question. Errors: a guard that makes
// no sense, or vectors that cannot be compared.
func (g Guard) Refuses(perturbation string, vector []float32) (Refusal, error) {
	if g.MaxCharacters < 1 {
		return "", fmt.Errorf("consistency: a guard that allows %d characters refuses everything", g.MaxCharacters)
	}
	words := wordsOf(perturbation)
	switch {
	case strings.IndexFunc(perturbation, isWordCharacter) < 0:
		return RefusedEmpty, nil
	case utf8.RuneCountInString(perturbation) > g.MaxCharacters:
		return RefusedLong, nil
	case containsAny(words, g.References):
		return RefusedReference, nil
	case containsAny(words, g.Choices):
		return RefusedChoice, nil
	case contains(words, wordsOf(g.Question)) || contains(wordsOf(g.Question), words):
		return RefusedCopy, nil
	case g.StatementsOnly && strings.ContainsAny(perturbation, "?？؟¿\u037e⸮"):
		return RefusedQuestion, nil
	case g.QuestionVector == nil:
		return "", nil
	}
	cos, err := cosine(g.QuestionVector, vector)
	if err != nil {
		return "", fmt.Errorf("consistency: comparing a perturbation with its question: %w", err)
	}
	if !(g.K > -1 && g.K <= 1) {
		return "", fmt.Errorf("consistency: paraphrases from a cosine of %v on; one above -1 and at most 1 is meant", g.K)
	}
	if cos >= g.K {
		return RefusedParaphrase, nil
	}
	return "", nil
}

func cosine(v, w []float32) (float64, error) {
	var pair vectors[float32]
	for _, row := range [][]float32{v, w} {
		if err := pair.add(row); err != nil {
			return 0, err
		}
	}
	if pair.inverse[0] == 0 || pair.inverse[1] == 0 {
		return 0, fmt.Errorf("an embedding has no length")
	}
	return dot(v, w) * pair.inverse[0] * pair.inverse[1], nil
}

func isWordCharacter(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// thousands is a comma between groups of digits.
var thousands = regexp.MustCompile(`([0-9]),([0-9]{3}\b)`)

// wordsOf cuts a text into words; "1,000" is the word 1000.
func wordsOf(s string) []string { return text.Unicode.Words(thousands.ReplaceAllString(s, "$1$2")) }

// containsAny reports whether the words of some text occur in a row. A text without words occurs nowhere.
func containsAny(words, texts []string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return contains(words, wordsOf(t)) })
}

func contains(words, part []string) bool {
	if len(part) == 0 {
		return false
	}
	for from := 0; from+len(part) <= len(words); from++ {
		if slices.Equal(words[from:from+len(part)], part) {
			return true
		}
	}
	return false
}
