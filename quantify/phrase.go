package quantify

import (
	"slices"
	"strings"
	"unicode"

	"github.com/credence-lab/credence/record"
)

// Phrase is a phrase of probability with the probability that people mean by it.
type Phrase struct {
	Text        string
	Probability float64
}

// Phrases are the phrases that [ParsePhrase] knows, the surest first: those of Tian et al. 2023, section 3,
// each with the median of what 46 people meant by it in the survey "Perceptions of Probability and
// Numbers" (2015). The survey asked for "almost certainly".
func Phrases() []Phrase {
	return []Phrase{
		{"almost certain", .95}, {"almost certainly", .95},
		{"highly likely", .90},
		{"very good chance", .80},
		{"probably", .75},
		{"we believe", .70}, {"probable", .70}, {"likely", .70},
		{"better than even", .60},
		{"about even", .50},
		{"probably not", .265},
		{"we doubt", .25},
		{"unlikely", .20},
		{"little chance", .15}, {"improbable", .15},
		{"chances are slight", .10},
		{"highly unlikely", .05},
		{"almost no chance", .02},
	}
}

// ParsePhrase reads the one phrase of probability in a reply, or in the line of it that the caller found.
// It looks for whole words in any case and takes the longest phrase at each place. No phrase is
// [record.NoProbability]; two that differ, or "not" before one, are [AmbiguousPhrase].
func ParsePhrase(reply string) record.Number {
	list := strings.FieldsFunc(strings.ToLower(reply), func(r rune) bool { return !unicode.IsLetter(r) })
	phrases := Phrases()
	slices.SortStableFunc(phrases, func(a, b Phrase) int { return len(b.Text) - len(a.Text) })
	found := record.Absent(record.NoProbability)
	for i := 0; i < len(list); {
		phrase, n := phraseAt(list[i:], phrases)
		if n == 0 {
			i++
			continue
		}
		negated := i > 0 && (list[i-1] == "not" || list[i-1] == "t" || list[i-1] == "never")
		if p, known := found.Get(); negated || (known && p != phrase.Probability) {
			return record.Absent(AmbiguousPhrase)
		}
		found = record.Known(phrase.Probability)
		i += n
	}
	return found
}

// phraseAt returns the first of phrases that the words begin with, and its number of words.
func phraseAt(list []string, phrases []Phrase) (Phrase, int) {
	for _, phrase := range phrases {
		parts := strings.Fields(phrase.Text)
		if len(parts) <= len(list) && slices.Equal(parts, list[:len(parts)]) {
			return phrase, len(parts)
		}
	}
	return Phrase{}, 0
}
