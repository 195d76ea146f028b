package text

import "unicode"

// unspaced are scripts that put no blank between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Yi,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tai_Tham, unicode.Javanese, unicode.Balinese,
}

// appendUnicode cuts folded text.
func appendUnicode(dst []string, s string) []string {
	from := len(dst)
	if isASCII(s) {
		dst = appendRuns(dst, s, &alphanumeric)
	} else {
		dst = appendLetters(dst, s)
	}
	if len(dst) == from {
		return appendFields(dst, s)
	}
	return dst
}

func appendLetters(dst []string, s string) []string {
	start, alone := -1, false // alone: the token is a character that takes marks only
	for i, r := range s {
		mark, in := unicode.IsMark(r), unicode.IsLetter(r) || unicode.IsNumber(r)
		own := r >= firstUnspaced && in && unicode.In(r, unspaced...)
		if start >= 0 && (!in && !mark || own || alone && !mark) {
			dst, start = append(dst, s[start:i]), -1
		}
		if start < 0 && (in || mark) {
			start, alone = i, own
		}
	}
	if start >= 0 {
		dst = append(dst, s[start:])
	}
	return dst
}

// firstUnspaced is the first letter of the first of those scripts: below it nothing need be looked up.
const firstUnspaced = '\u02ea' // Bopomofo's tone letters; then Thai at U+0E01

// DropInvisible maps format characters (joiners, soft hyphens, marks of direction) to -1, for
// strings.Map.
func DropInvisible(r rune) rune {
	if unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}
