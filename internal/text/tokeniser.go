package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tokeniser cuts a text into the words that are compared.
type Tokeniser uint8

const (
	// Whitespace splits at blanks; case and punctuation count. Nothing else is said of the tokens of
	// nltk's sentence_bleu when it is given str.split.
	Whitespace Tokeniser = iota + 1
	// Lowercase is lower case split at blanks: the token F1 of "A Tale of Two Error Categories",
	// appendix C.2.
	Lowercase
	// SQuAD is the answer normalisation of SQuAD's official script: lower case, ASCII punctuation
	// deleted (so "state-of-the-art" is one word), the words a, an and the deleted, split at blanks.
	SQuAD
	// Rouge is the default tokeniser of the package rouge_score: lower case, runs of a to z and 0 to 9.
	// Letters of other scripts, and accented ones, part words like blanks.
	Rouge
	// RougeStemmed is Rouge with words of more than three characters cut to their stem (see [Stem]):
	// rouge_score's use_stemmer.
	RougeStemmed
	// MTEval is sacrebleu's tokeniser 13a, with case: signs are words.
	MTEval
	// MTEvalLowered is MTEval in lower case.
	MTEvalLowered
	// Unicode is runs of letters, marks and numbers of every script after [Fold]. In scripts that are
	// written without blanks between words each character with its marks is a token. A text of signs
	// alone keeps them, split at blanks: otherwise all such texts would be equal.
	Unicode
)

// String returns the name of the tokeniser.
func (t Tokeniser) String() string {
	switch t {
	case Whitespace:
		return "whitespace"
	case Lowercase:
		return "lowercase"
	case SQuAD:
		return "squad"
	case Rouge:
		return "rouge"
	case RougeStemmed:
		return "rouge-stemmed"
	case MTEval:
		return "mteval"
	case MTEvalLowered:
		return "mteval-lowered"
	case Unicode:
		return "unicode"
	}
	return fmt.Sprintf("tokeniser(%d)", uint8(t))
}

// Words returns the words of s in order. Nil where there is none.
func (t Tokeniser) Words(s string) []string { return t.Cut(nil, t.Case().Of(s)) }

// Append appends the words of s to dst. The words share memory with each other and perhaps with s.
func (t Tokeniser) Append(dst []string, s string) []string { return t.Cut(dst, t.Case().Of(s)) }

// Case says what a tokeniser does to a text before it cuts it. Who cuts one text by several tokenisers
// does it once.
type Case uint8

const (
	// AsWritten leaves the text as it is.
	AsWritten Case = iota
	// Lowered is [Lower].
	Lowered
	// Folded is [Fold].
	Folded
)

// Of returns the text in this case.
func (c Case) Of(s string) string {
	switch c {
	case Lowered:
		return Lower(s)
	case Folded:
		return Fold(s)
	}
	return s
}

// Case returns the case that [Tokeniser.Cut] wants.
func (t Tokeniser) Case() Case {
	switch t {
	case Whitespace, MTEval:
		return AsWritten
	case Unicode:
		return Folded
	}
	return Lowered
}

// Cut appends the words of a text in the tokeniser's case to dst.
func (t Tokeniser) Cut(dst []string, s string) []string {
	switch t {
	case Whitespace, Lowercase:
		return appendFields(dst, s)
	case SQuAD:
		return appendSQuAD(dst, s)
	case Rouge:
		return appendRouge(dst, s)
	case RougeStemmed:
		from := len(dst)
		dst = appendRouge(dst, s)
		for i, word := range dst[from:] {
			if len(word) > 3 {
				dst[from+i] = Stem(word)
			}
		}
		return dst
	case MTEval, MTEvalLowered:
		return appendMTEval(dst, s)
	case Unicode:
		return appendUnicode(dst, s)
	}
	panic("text: no such tokeniser: " + t.String())
}

// appendFields splits as Python's str.split does.
func appendFields(dst []string, s string) []string {
	if isASCII(s) {
		return appendRuns(dst, s, &visible)
	}
	start := -1
	for i, r := range s {
		switch blank := IsBlank(r); {
		case blank && start >= 0:
			dst, start = append(dst, s[start:i]), -1
		case !blank && start < 0:
			start = i
		}
	}
	if start >= 0 {
		dst = append(dst, s[start:])
	}
	return dst
}

// IsBlank reports whether Python takes r for whitespace: Unicode's whitespace and the four ASCII
// separators.
func IsBlank(r rune) bool { return unicode.IsSpace(r) || '\x1c' <= r && r <= '\x1f' }

// appendRouge works on bytes: those of a character outside ASCII are none of its letters.
func appendRouge(dst []string, s string) []string { return appendRuns(dst, s, &alphanumeric) }

// appendRuns appends the longest runs of bytes in the set.
func appendRuns(dst []string, s string, set *[256]bool) []string {
	for i := 0; i < len(s); {
		if !set[s[i]] {
			i++
			continue
		}
		start := i
		for i < len(s) && set[s[i]] {
			i++
		}
		dst = append(dst, s[start:i])
	}
	return dst
}

// The sets of bytes that words are made of.
var (
	visible      = bytesOf(func(r rune) bool { return r < utf8.RuneSelf && !IsBlank(r) })
	alphanumeric = bytesOf(func(r rune) bool { return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' })
	punctuation  = bytesOf(isPunctuation)
)

func bytesOf(in func(rune) bool) (set [256]bool) {
	for i := range set {
		set[i] = in(rune(i))
	}
	return set
}

func appendSQuAD(dst []string, s string) []string {
	from := len(dst)
	s = withoutPunctuation(s)
	if !wordsAndBlanks(s) {
		return appendFields(dst, withoutArticles(s))
	}
	dst = appendRuns(dst, s, &alphanumeric)
	words := dst[:from]
	for _, word := range dst[from:] {
		if !isArticle(word) {
			words = append(words, word)
		}
	}
	return words
}

// wordsAndBlanks reports whether a text is words in ASCII between blanks, so that an article can only be a
// whole word of it.
func wordsAndBlanks(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != ' ' && !alphanumeric[c] {
			return false
		}
	}
	return true
}

func isArticle(word string) bool { return word == "a" || word == "an" || word == "the" }

// withoutPunctuation deletes the characters of Python's string.punctuation.
func withoutPunctuation(s string) string {
	for i := range len(s) {
		if punctuation[s[i]] {
			return withoutBytes(s, &punctuation)
		}
	}
	return s
}

func withoutBytes(s string, set *[256]bool) string {
	kept := make([]byte, 0, len(s))
	for i := range len(s) {
		if !set[s[i]] {
			kept = append(kept, s[i])
		}
	}
	return string(kept)
}

func isPunctuation(r rune) bool {
	return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
}

// withoutArticles makes each article a blank. An article may stand between signs that are neither
// letters nor blanks, such as quotation marks outside ASCII.
func withoutArticles(s string) string {
	var kept strings.Builder
	for s != "" {
		end := strings.IndexFunc(s, func(r rune) bool { return !isWordRune(r) })
		switch {
		case end < 0:
			end = len(s)
		case end == 0:
			_, end = utf8.DecodeRuneInString(s)
		}
		if isArticle(s[:end]) {
			kept.WriteByte(' ')
		} else {
			kept.WriteString(s[:end])
		}
		s = s[end:]
	}
	return kept.String()
}

// isWordRune reports whether Python's \w matches r, the underscore apart.
func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
