package prompt

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/credence-lab/credence/record"
)

var (
	// answerCue ends where the letter would begin. The words are those of the languages that benchmarks
	// are translated into.
	answerCue = regexp.MustCompile(`(?i)(?:answer|antwort|réponse|respuesta|risposta|resposta|antwoord|svar|odpowiedź|ответ|` +
		`guess|正确答案|答案|答え|正解|정답)[*_]*\s*(?:(?:is|was|ist|est|es|è|é)(?:[^\pL]|$)|[は是:=\x{ff1a}])`)
	// choiceCue is a person's choice in a sentence.
	choiceCue = regexp.MustCompile(`(?i)\b(?:choose|chose|choosing|pick|select|go with|going with|opt for)\b(?:\s+(?:option|answer|choice|letter))?`)
	optionCue = regexp.MustCompile(`(?i)\b(?:option|choice|letter)\b`)
	boxedCue  = regexp.MustCompile(`\\boxed\s*\{`)

	// wrapping is what may stand between cue and letter: Markdown, LaTeX, brackets, quotation marks.
	wrapping = regexp.MustCompile(`^(?:[\s*_$"'“„«([{\x{ff08}` + "`" + `]|\\(?:text|textbf|mathrm|mathbf|boxed|\()|option\b|letter\b|definitely\b|clearly\b)*`)
	// standsAlone matches what may follow a letter or word that is an answer by itself: a mark, the end
	// of the line, a reason.
	standsAlone = regexp.MustCompile(`(?i)^\s*(?:$|[.,;:)\]}*_$!?"'”“»` + "`" + `\x{ff09}(—–-]|(?:because|since|as|due|given|and|which|weil|da|parce|porque|perché)\b)|^[ \t]*[\n\r]`)
)

// ParseLetter reads the option letter from the reply to a multiple-choice prompt: of options in number,
// A to Z. In this order, the first that is there decides:
//
//   - the last letter behind "Answer:", "the answer is", or the like in several languages, or in a box;
//   - the last letter behind "I choose", "pick", "go with";
//   - a reply that is a letter, or whose first line begins with one and its mark: "b. 4";
//   - the only letter that is called an option.
//
// The letter stands alone, in any case, perhaps in Markdown, LaTeX or brackets. Where it could be a
// word ("A lorry", "I think", any small letter within a sentence) it must end the line, carry a mark or
// come before a reason. Letters elsewhere are no answer. Not there: record.NoAnswer, also for a letter that names no
// option; record.UnclosedThinking.
func ParseLetter(reply string, options int) (string, record.Missing) {
	text, closed := afterThinking(reply)
	if !closed {
		return "", record.UnclosedThinking
	}
	text = visibleText(text)
	for _, find := range []func(string) (byte, bool){explicitLetter, chosenLetter, bareLetter, onlyOption} {
		if letter, ok := find(text); ok {
			if int(letter-'A') >= options {
				return "", record.NoAnswer
			}
			return string(letter), record.Present
		}
	}
	return "", record.NoAnswer
}

// visibleText drops format characters such as zero-width blanks.
func visibleText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}

// explicitLetter is the last letter behind a cue of an answer.
func explicitLetter(text string) (byte, bool) {
	letter, at := lastLetter(text, answerCue)
	boxed, boxedAt := lastLetter(text, boxedCue)
	if boxedAt > at {
		letter, at = boxed, boxedAt
	}
	return letter, at >= 0
}

func chosenLetter(text string) (byte, bool) {
	letter, at := lastLetter(text, choiceCue)
	return letter, at >= 0
}

// lastLetter is the last letter behind a cue, and where the cue stands; -1 without one.
func lastLetter(text string, cue *regexp.Regexp) (letter byte, at int) {
	at = -1
	for _, m := range cue.FindAllStringIndex(text, -1) {
		if before, _ := utf8.DecodeLastRuneInString(text[:m[0]]); m[0] > 0 && unicode.IsLetter(before) && before < firstIdeograph {
			continue // Within a longer word.
		}
		if l, ok := letterAt(text[m[1]:]); ok {
			letter, at = l, m[0]
		}
	}
	return letter, at
}

// firstIdeograph begins the scripts that put no blank between words.
const firstIdeograph = '\u2e80'

// letterAt reads a letter at the start of a text, behind its wrapping.
func letterAt(text string) (byte, bool) {
	rest := text[len(wrapping.FindString(text)):]
	if rest == "" {
		return 0, false
	}
	c := rest[0]
	letter := c &^ 0x20
	if letter < 'A' || letter > 'Z' {
		return 0, false
	}
	rest = rest[1:]
	if next, _ := utf8.DecodeRuneInString(rest); rest != "" && (unicode.IsLetter(next) && next < firstIdeograph || unicode.IsNumber(next) || unicode.IsMark(next) || apostropheWord(rest)) {
		return 0, false
	}
	isWord := c != letter || c == 'A' || c == 'I'
	if isWord && !standsAlone.MatchString(rest) {
		return 0, false
	}
	return letter, true
}

// apostropheWord reports whether an apostrophe and a letter follow: "I'm".
func apostropheWord(rest string) bool {
	mark, size := utf8.DecodeRuneInString(rest)
	next, _ := utf8.DecodeRuneInString(rest[size:])
	return (mark == '\'' || mark == '’') && unicode.IsLetter(next)
}

var markedLetter = regexp.MustCompile("^[\\s*_$\"'“([{`>-]*([A-Za-z])[*_$\"'”`}]*(?:[.):\\]\\x{ff09}][*_$\"'”`]*(?:\\s|$)|\\s*$)")

// bareLetter is a reply that is a letter, or whose first line with text begins with a letter and a mark.
func bareLetter(text string) (byte, bool) {
	for line := range lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if m := markedLetter.FindStringSubmatch(line); m != nil {
			return m[1][0] &^ 0x20, true
		}
		return 0, false
	}
	return 0, false
}

// onlyOption is the letter that is called an option, where there is one such letter.
func onlyOption(text string) (byte, bool) {
	var only byte
	for _, m := range optionCue.FindAllStringIndex(text, -1) {
		letter, ok := letterAt(text[m[1]:])
		switch {
		case !ok:
		case only != 0 && only != letter:
			return 0, false
		default:
			only = letter
		}
	}
	return only, only != 0
}
