package text

import "strings"

// Stem returns the stem of an English word in lower-case ASCII: Porter's algorithm ("An algorithm for
// suffix stripping", Program 14, 1980) with the extensions that NLTK's PorterStemmer has by default, which is
// what rouge_score uses. Words of one or two letters are returned as they are.
func Stem(word string) string {
	if stem, ok := irregular[word]; ok {
		return stem
	}
	if len(word) <= 2 {
		return word
	}
	word = porter1a(word)
	word = porter1b(word)
	word = porter1c(word)
	word = porter2(word)
	word = step(word, porter3)
	word = step(word, porter4)
	word = porter5a(word)
	if strings.HasSuffix(word, "ll") && vowelGroups(word[:len(word)-1]) > 1 {
		word = word[:len(word)-1]
	}
	return word
}

// irregular are NLTK's exceptions.
var irregular = map[string]string{
	"skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
	"innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing",
	"cannings": "canning", "canning": "canning", "howe": "howe",
	"proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}

// A suffixRule replaces a suffix where what stands before it has enough vowel groups.
type suffixRule struct {
	suffix, replacement string
	groups              int // at least so many
	after               string
}

// step applies the first rule whose suffix the word has. If its condition fails the word stays: later
// rules are not tried.
func step(word string, rules []suffixRule) string {
	for _, r := range rules {
		stem, ok := strings.CutSuffix(word, r.suffix)
		if !ok {
			continue
		}
		allowed := r.after == "" || stem != "" && strings.Contains(r.after, stem[len(stem)-1:])
		if allowed && vowelGroups(stem) >= r.groups {
			return stem + r.replacement
		}
		return word
	}
	return word
}

var porter2Rules = []suffixRule{
	{"ational", "ate", 1, ""}, {"tional", "tion", 1, ""}, {"enci", "ence", 1, ""}, {"anci", "ance", 1, ""},
	{"izer", "ize", 1, ""}, {"bli", "ble", 1, ""}, {"alli", "al", 1, ""}, {"entli", "ent", 1, ""},
	{"eli", "e", 1, ""}, {"ousli", "ous", 1, ""}, {"ization", "ize", 1, ""}, {"ation", "ate", 1, ""},
	{"ator", "ate", 1, ""}, {"alism", "al", 1, ""}, {"iveness", "ive", 1, ""}, {"fulness", "ful", 1, ""},
	{"ousness", "ous", 1, ""}, {"aliti", "al", 1, ""}, {"iviti", "ive", 1, ""}, {"biliti", "ble", 1, ""},
	{"fulli", "ful", 1, ""},
}

var porter3 = []suffixRule{
	{"icate", "ic", 1, ""}, {"ative", "", 1, ""}, {"alize", "al", 1, ""}, {"iciti", "ic", 1, ""},
	{"ical", "ic", 1, ""}, {"ful", "", 1, ""}, {"ness", "", 1, ""},
}

var porter4 = []suffixRule{
	{"al", "", 2, ""}, {"ance", "", 2, ""}, {"ence", "", 2, ""}, {"er", "", 2, ""}, {"ic", "", 2, ""},
	{"able", "", 2, ""}, {"ible", "", 2, ""}, {"ant", "", 2, ""}, {"ement", "", 2, ""}, {"ment", "", 2, ""},
	{"ent", "", 2, ""}, {"ion", "", 2, "st"}, {"ou", "", 2, ""}, {"ism", "", 2, ""}, {"ate", "", 2, ""},
	{"iti", "", 2, ""}, {"ous", "", 2, ""}, {"ive", "", 2, ""}, {"ize", "", 2, ""},
}

// porter1a takes off plurals.
func porter1a(word string) string {
	switch {
	case strings.HasSuffix(word, "ies") && len(word) == 4:
		return word[:3] // NLTK: "dies" is "die".
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "ies"):
		return word[:len(word)-2]
	case strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss"):
		return word[:len(word)-1]
	}
	return word
}

// porter1b takes off -ed and -ing.
func porter1b(word string) string {
	if stem, ok := strings.CutSuffix(word, "ied"); ok { // NLTK
		if len(word) == 4 {
			return stem + "ie"
		}
		return stem + "i"
	}
	if stem, ok := strings.CutSuffix(word, "eed"); ok {
		if vowelGroups(stem) > 0 {
			return stem + "ee"
		}
		return word
	}
	stem, ok := strings.CutSuffix(word, "ed")
	if !ok || !hasVowel(stem) {
		if stem, ok = strings.CutSuffix(word, "ing"); !ok || !hasVowel(stem) {
			return word
		}
	}
	last := len(stem) - 1
	switch {
	case strings.HasSuffix(stem, "at"), strings.HasSuffix(stem, "bl"), strings.HasSuffix(stem, "iz"):
		return stem + "e"
	case last > 0 && stem[last] == stem[last-1] && isConsonant(stem, last):
		if strings.IndexByte("lsz", stem[last]) < 0 {
			return stem[:last]
		}
	case vowelGroups(stem) == 1 && endsShort(stem):
		return stem + "e"
	}
	return stem
}

// porter1c makes a final y an i: in NLTK where a consonant stands before it that is not the first letter.
func porter1c(word string) string {
	stem, ok := strings.CutSuffix(word, "y")
	if ok && len(stem) > 1 && isConsonant(stem, len(stem)-1) {
		return stem + "i"
	}
	return word
}

func porter2(word string) string {
	if stem, ok := strings.CutSuffix(word, "alli"); ok && vowelGroups(stem) > 0 {
		return porter2(stem + "al") // NLTK
	}
	// NLTK: the l of -logi counts as part of the stem.
	if strings.HasSuffix(word, "logi") {
		if vowelGroups(word[:len(word)-3]) > 0 {
			return word[:len(word)-1]
		}
		return word
	}
	return step(word, porter2Rules)
}

// porter5a takes off a final e.
func porter5a(word string) string {
	stem, ok := strings.CutSuffix(word, "e")
	if !ok {
		return word
	}
	if groups := vowelGroups(stem); groups > 1 || groups == 1 && !endsShort(stem) {
		return stem
	}
	return word
}

// isConsonant reports whether the letter at i is one: y is one at the start and after a vowel.
func isConsonant(word string, i int) bool {
	consonant := true
	for j := 0; j <= i; j++ {
		switch word[j] {
		case 'a', 'e', 'i', 'o', 'u':
			consonant = false
		case 'y':
			consonant = j == 0 || !consonant
		default:
			consonant = true
		}
	}
	return consonant
}

// vowelGroups is Porter's measure m: how often a consonant follows a vowel.
func vowelGroups(stem string) int {
	groups, _ := shape(stem)
	return groups
}

func hasVowel(stem string) bool {
	_, vowel := shape(stem)
	return vowel
}

func shape(stem string) (groups int, vowel bool) {
	before := true // whether the letter before is a consonant
	for i := range len(stem) {
		consonant := true
		switch stem[i] {
		case 'a', 'e', 'i', 'o', 'u':
			consonant = false
		case 'y':
			consonant = i == 0 || !before
		}
		if consonant && !before {
			groups++
		}
		vowel = vowel || !consonant
		before = consonant
	}
	return groups, vowel
}

// endsShort is Porter's *o: consonant, vowel, consonant other than w, x and y. NLTK adds words that are
// a vowel and a consonant.
func endsShort(word string) bool {
	n := len(word)
	if n == 2 {
		return !isConsonant(word, 0) && isConsonant(word, 1)
	}
	return n > 2 && isConsonant(word, n-3) && !isConsonant(word, n-2) && isConsonant(word, n-1) &&
		strings.IndexByte("wxy", word[n-1]) < 0
}
