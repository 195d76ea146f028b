package wire

import "bytes"

// notNumbers are what Python writes for numbers that JSON has no form for.
var notNumbers = [][]byte{[]byte("-Infinity"), []byte("Infinity"), []byte("NaN")}

// finite puts null in the place of bare NaN, Infinity and -Infinity, so that one value without a number
// does not make a whole answer unreadable. Texts stay as they are. Without any the body is returned itself.
func finite(body []byte) []byte {
	if !bytes.Contains(body, notNumbers[1]) && !bytes.Contains(body, notNumbers[2]) {
		return body
	}
	out := make([]byte, 0, len(body))
	quoted := false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\' && i+1 < len(body):
			out = append(out, c, body[i+1])
			i++
			continue
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '-' || c == 'I' || c == 'N'):
			if n := notNumber(body[i:]); n > 0 {
				out = append(out, "null"...)
				i += n - 1
				continue
			}
		}
		out = append(out, body[i])
	}
	return out
}

func notNumber(text []byte) int {
	for _, word := range notNumbers {
		if bytes.HasPrefix(text, word) {
			return len(word)
		}
	}
	return 0
}
