package text

import "strings"

// Truth reads a word for true or false, in any case and with blanks around it: true, t, yes, y, correct,
// right, pass, 1, and their opposites. Anything else is not known, and neither is an empty text: "false"
// is a text that is not empty, and no text is no verdict.
func Truth(word string) (truth, known bool) {
	switch strings.ToLower(strings.TrimFunc(word, IsBlank)) {
	case "true", "t", "yes", "y", "correct", "right", "pass", "passed", "1", "1.0":
		return true, true
	case "false", "f", "no", "n", "incorrect", "wrong", "fail", "failed", "0", "0.0":
		return false, true
	}
	return false, false
}
