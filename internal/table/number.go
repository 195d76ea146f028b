package table

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// NumberError says why a text is no number.
type NumberError struct {
	Text    string
	Problem string
	Advice  string
}

// Error is the problem alone: whoever reports it adds the place.
func (e *NumberError) Error() string { return e.Problem }

// ParseFloat reads a decimal number: digits with an optional point, sign and exponent, or an infinity
// (inf, infinity, any case, signed) or NaN. Blanks around it are ignored. What programming languages
// allow besides (hexadecimal, underscores) is refused, and so is a number too large for a float64.
// The error is a *NumberError.
func ParseFloat(text []byte) (float64, error) {
	if x, ok := shortDecimal(text); ok {
		return x, nil
	}
	t := text
	if len(t) > 0 && (t[0] <= ' ' || t[len(t)-1] <= ' ' || t[0] >= 0x80) {
		t = bytes.TrimSpace(t)
	}
	if beginsDecimal(t) {
		x, err := strconv.ParseFloat(string(t), 64)
		switch {
		case err == nil:
			return x, nil
		case errors.Is(err, strconv.ErrRange):
			return 0, &NumberError{clip(t), fmt.Sprintf("the number %q is too large for a 64-bit float", clip(t)), "write inf if infinity is meant"}
		}
	}
	if x, ok := notFinite(t); ok {
		return x, nil
	}
	return 0, notANumber(bytes.TrimSpace(t))
}

// beginsDecimal reports whether t begins with a digit or a point, perhaps behind a sign, not as a
// hexadecimal number does, and has no underscore: what strconv reads of these is plain decimal.
func beginsDecimal(t []byte) bool {
	if len(t) > 0 && (t[0] == '-' || t[0] == '+') {
		t = t[1:]
	}
	if len(t) == 0 || (t[0] < '0' || t[0] > '9') && t[0] != '.' || bytes.IndexByte(t, '_') >= 0 {
		return false
	}
	return len(t) < 2 || t[0] != '0' || t[1] != 'x' && t[1] != 'X'
}

// decimal reports whether t has the characters of a decimal number, so that what strconv accepts
// beyond that does not pass.
func decimal(t []byte) bool {
	digits := false
	for _, c := range t {
		switch {
		case '0' <= c && c <= '9':
			digits = true
		case c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E':
		default:
			return false
		}
	}
	return digits
}

func notFinite(t []byte) (float64, bool) {
	sign, rest := 1, t
	if len(t) > 0 && (t[0] == '-' || t[0] == '+') {
		if t[0] == '-' {
			sign = -1
		}
		rest = t[1:]
	}
	switch {
	case bytes.EqualFold(rest, []byte("inf")), bytes.EqualFold(rest, []byte("infinity")):
		return math.Inf(sign), true
	case len(rest) == len(t) && bytes.EqualFold(t, []byte("nan")):
		return math.NaN(), true
	}
	return 0, false
}

func notANumber(t []byte) *NumberError {
	e := &NumberError{Text: clip(t), Problem: fmt.Sprintf("%q is no number", clip(t))}
	switch {
	case len(t) == 0:
		e.Problem = "an empty cell where a number is wanted"
	case bytes.Count(t, []byte{','}) == 1 && decimal(bytes.Replace(t, []byte{','}, []byte{'.'}, 1)):
		e.Advice = "write decimals with a point"
	case t[len(t)-1] == '%' && decimal(bytes.TrimSpace(t[:len(t)-1])):
		e.Advice = "write the number without the percent sign"
	case decimal(t):
		e.Advice = "it looks cut: an exponent, a sign or a point without digits"
	}
	return e
}

// clip shortens a text for a message.
func clip(t []byte) string {
	const most = 40
	if len(t) <= most {
		return string(t)
	}
	return string(bytes.ToValidUTF8(t[:most], nil)) + "…"
}
