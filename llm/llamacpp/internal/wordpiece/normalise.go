package wordpiece

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// normalise is BERT's: controls away, every blank a space, spaces around Chinese characters, accents off
// and lower case.
func (o Options) normalise(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || unicode.IsSpace(r) && !unicode.IsControl(r):
			b.WriteByte(' ')
		case r == 0 || r == unicode.ReplacementChar || isOther(r):
		case isChinese(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	text = b.String()
	if o.StripAccents {
		text = strings.Map(withoutMarks, norm.NFD.String(text))
	}
	if o.Lower {
		text = strings.ToLower(text)
	}
	return text
}

// isOther holds for control, format and private characters.
func isOther(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) }

func withoutMarks(r rune) rune {
	if unicode.Is(unicode.Mn, r) {
		return -1
	}
	return r
}

// chinese are the blocks that BERT takes for Chinese: each character of them is a word.
var chinese = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x3400, Hi: 0x4DBF, Stride: 1}, {Lo: 0x4E00, Hi: 0x9FFF, Stride: 1}, {Lo: 0xF900, Hi: 0xFAFF, Stride: 1}},
	R32: []unicode.Range32{
		{Lo: 0x20000, Hi: 0x2A6DF, Stride: 1}, {Lo: 0x2A700, Hi: 0x2B73F, Stride: 1}, {Lo: 0x2B740, Hi: 0x2B81F, Stride: 1},
		{Lo: 0x2B920, Hi: 0x2CEAF, Stride: 1}, {Lo: 0x2F800, Hi: 0x2FA1F, Stride: 1},
	},
}

func isChinese(r rune) bool { return unicode.Is(chinese, r) }

// words splits at blanks and makes each punctuation character a word.
func words(text string) []string {
	var list []string
	for _, field := range strings.Fields(text) {
		from := 0
		for i, r := range field {
			if !isPunctuation(r) {
				continue
			}
			if from < i {
				list = append(list, field[from:i])
			}
			from = i + len(string(r))
			list = append(list, field[i:from])
		}
		if from < len(field) {
			list = append(list, field[from:])
		}
	}
	return list
}

// isPunctuation holds for every ASCII character that is neither letter nor digit, and for the category
// punctuation of all others.
func isPunctuation(r rune) bool {
	if r < unicode.MaxASCII {
		return r > ' ' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return unicode.IsPunct(r)
}
