package scores

import (
	"bytes"
	"math"
	"strings"

	"github.com/credence-lab/credence/internal/table"
)

// Words that labels are written in, in lower case.
var (
	correctWords   = []string{"1", "true", "yes", "correct", "c", "right", "pass", "y", "t"}
	incorrectWords = []string{"0", "false", "no", "incorrect", "i", "wrong", "fail", "n", "f"}
)

// missingWords stand for a value that is not there, in lower case. [Spec].Missing adds others.
var missingWords = []string{"", "na", "n/a", "nan", "null"}

// vocabulary reads labels and recognises missing values.
type vocabulary struct {
	label   map[string]float64
	missing map[string]bool
	// numbers says that some word for a missing value looks like a number, such as -999.
	numbers bool
	// digits are the labels of one digit, the common case; NaN where there is none.
	digits [10]float64
}

func newVocabulary(s Spec) *vocabulary {
	v := &vocabulary{label: map[string]float64{}, missing: map[string]bool{}}
	for _, w := range correctWords {
		v.label[w] = 1
	}
	for _, w := range incorrectWords {
		v.label[w] = 0
	}
	for _, w := range missingWords {
		v.missing[w] = true
	}
	// What the user says prevails, whichever list a word is in by default.
	v.declare(s.Correct, 1)
	v.declare(s.Incorrect, 0)
	for _, w := range s.Missing {
		v.missing[fold(w)] = true
		v.numbers = v.numbers || fold(w) != "" && digitLike(fold(w)[0])
	}
	for d := range v.digits {
		v.digits[d] = math.NaN()
		if q, known := v.label[string(rune('0'+d))]; known {
			v.digits[d] = q
		}
	}
	return v
}

func (v *vocabulary) declare(words []string, quality float64) {
	for _, w := range words {
		v.label[fold(w)] = quality
		delete(v.missing, fold(w))
	}
}

func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// longestWord bounds what is looked up as a word.
const longestWord = 64

// why is the reason for which a cell has no value, empty if it has one.
func (v *vocabulary) why(c *table.Cell) string {
	switch c.Kind {
	case table.Absent:
		return "absent"
	case table.Null:
		return "null"
	case table.Bool, table.JSON:
		return ""
	}
	if x, binary := c.Binary(); binary && !math.IsNaN(x) && !v.numbers {
		return ""
	}
	text := c.Bytes()
	if len(text) > 0 && digitLike(text[0]) && !v.numbers {
		return ""
	}
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return "empty"
	case len(text) > longestWord:
		return ""
	}
	if word := fold(string(text)); v.missing[word] {
		return word
	}
	return ""
}

// digitLike lets numbers, the common case, pass without making a lower-case copy.
func digitLike(c byte) bool { return '0' <= c && c <= '9' || c == '-' || c == '.' }

// quality reads a label that is not missing.
func (v *vocabulary) quality(row *table.Row, column int) (float64, error) {
	c := row.Cell(column)
	text := bytes.TrimSpace(c.Bytes())
	if len(text) == 1 && '0' <= text[0] && text[0] <= '9' {
		if q := v.digits[text[0]-'0']; !math.IsNaN(q) {
			return q, nil
		}
	}
	if q, known := v.label[string(text)]; known {
		return q, nil // most labels are in lower case already
	}
	if len(text) <= longestWord {
		if q, known := v.label[fold(string(text))]; known {
			return q, nil
		}
	}
	x, err := c.Float()
	if err != nil {
		return 0, row.Errorf(column, "say which it is: --correct WORD, --incorrect WORD or --missing WORD",
			"the label %q is neither correct nor incorrect nor a number in [0,1]", clip(string(text)))
	}
	if !(x >= 0 && x <= 1) {
		return 0, row.Errorf(column, "scale graded labels to [0,1]", "the label %s lies outside [0,1]", clip(string(text)))
	}
	return x, nil
}

func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
