package prompt

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/credence-lab/credence/record"
)

// Reasons that the parsers of a judge's reply give.
const (
	// NoVerdict: the reply states no verdict.
	NoVerdict record.Missing = "no verdict"
	// UnclearVerdict: where the verdict should stand is something else.
	UnclearVerdict record.Missing = "unclear verdict"
)

// Notes say what a parser had to overlook to read a judge's reply.
type Notes struct {
	// Several: the reply states verdicts that differ; the last one counts.
	Several bool
	// Repaired: the JSON of the reply was broken or cut, yet held the verdict in full.
	Repaired bool
}

// Ruling is what the reply of a judge says of an answer.
type Ruling struct {
	// Verdict is NotJudged if and only if Missing is set.
	Verdict record.Verdict
	Missing record.Missing
	Notes   Notes
}

// ParseVerdict reads the reply of a judge that was asked for True or False, or for a grade. In this
// order, the first that is there decides:
//
//   - a field of a JSON object that is called verdict, grade, correct, is_correct, match or result;
//   - a verdict in double brackets: [[True]];
//   - the text behind a label Verdict, Grade, Judgement, Conclusion or Decision, at a word's edge and with a
//     colon; what is no verdict there makes the reply unclear;
//   - the text behind the labels Answer, Correct or Result, where that is a verdict;
//   - the reply's first word, or the only word of its last line.
//
// A verdict is a whole word, in any case: true, correct or yes; false, incorrect, wrong or no. The
// letters C and I count behind a label, in brackets, in JSON, or alone. Of several the last counts. Zero-width
// characters and thinking are not read. What is not clear is not judged, with [NoVerdict],
// [UnclearVerdict] or record.UnclosedThinking: never incorrect.
func ParseVerdict(reply string) Ruling {
	class, missing, notes := verdictGrammar.read(reply)
	return Ruling{map[string]record.Verdict{"true": record.Correct, "false": record.Incorrect}[class], missing, notes}
}

// Preference is which of two answers a judge prefers.
type Preference uint8

const (
	// NoPreference is the zero value: no verdict, see the reason.
	NoPreference Preference = iota
	FirstPreferred
	SecondPreferred
	// Tied: the judge says that neither is better. That is a verdict.
	Tied
)

// ParsePreference reads the reply of a judge that was asked which of two answers, A or B, is better, or C for a tie. Its
// rules are those of [ParseVerdict]; the JSON field is called preferred, preference, winner, better, choice or
// verdict.
func ParsePreference(reply string) (p Preference, missing record.Missing, notes Notes) {
	class, missing, notes := preferenceGrammar.read(reply)
	return map[string]Preference{"a": FirstPreferred, "b": SecondPreferred, "tie": Tied}[class], missing, notes
}

// A grammar says how verdicts of one kind are written.
type grammar struct {
	// fields are the JSON fields that hold a verdict.
	fields map[string]bool
	// words are verdicts in lower case with their class; those of letters need a label.
	words, letters map[string]string
}

var verdictGrammar = grammar{
	fields: set("verdict", "grade", "correct", "is_correct", "match", "result", "judgement", "judgment"),
	words: map[string]string{
		"true": "true", "correct": "true", "yes": "true",
		"false": "false", "incorrect": "false", "no": "false", "wrong": "false",
	},
	letters: map[string]string{"c": "true", "i": "false"},
}

var preferenceGrammar = grammar{
	fields:  set("preferred", "preference", "winner", "better", "choice", "verdict"),
	words:   map[string]string{"tie": "tie", "tied": "tie"},
	letters: map[string]string{"a": "a", "b": "b", "c": "tie"},
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

var (
	bracketed    = regexp.MustCompile(`\[\[\s*([\pL\pN ]*?)\s*\]\]`)
	verdictLabel = regexp.MustCompile(`(?i)(?:verdict|grade|judge?ment|conclusion|decision|preferred|winner)[*_"]*\s*[:\x{ff1a}]`)
	answerLabel  = regexp.MustCompile(`(?i)(?:answer|correct|result)[*_"]*\s*[:\x{ff1a}]`)
	decoration   = regexp.MustCompile("^[\\s*_$\"'`“(\\[]*")
)

// read finds the class of a reply.
func (g grammar) read(reply string) (class string, missing record.Missing, notes Notes) {
	text, closed := afterThinking(reply)
	if !closed {
		return "", record.UnclosedThinking, notes
	}
	text = strings.TrimSpace(visibleText(text))
	values, repaired, text := jsonFields(text, g.fields)
	if values != nil {
		notes.Repaired = repaired
		return g.last(values, &notes, true)
	}
	var found []string
	for _, m := range bracketed.FindAllStringSubmatch(text, -1) {
		if g.class(m[1], true) != "" {
			found = append(found, m[1])
		}
	}
	if found != nil {
		return g.last(found, &notes, true)
	}
	if found = wordsBehind(text, verdictLabel); found != nil {
		return g.last(found, &notes, true)
	}
	for _, word := range wordsBehind(text, answerLabel) {
		if g.class(word, true) != "" {
			found = append(found, word)
		}
	}
	if found != nil {
		return g.last(found, &notes, true)
	}
	return g.last(g.bare(text), &notes, false)
}

// last is the class of the last of several verdicts.
func (g grammar) last(found []string, notes *Notes, letters bool) (class string, missing record.Missing, _ Notes) {
	if len(found) == 0 {
		return "", NoVerdict, *notes
	}
	for _, word := range found {
		next := g.class(word, letters)
		notes.Several = notes.Several || class != "" && next != class
		class = next
	}
	if class == "" {
		return "", UnclearVerdict, *notes
	}
	return class, record.Present, *notes
}

func (g grammar) class(word string, letters bool) string {
	word = strings.ToLower(strings.TrimSpace(word))
	if class, ok := g.words[word]; ok || !letters {
		return class
	}
	return g.letters[word]
}

// wordsBehind returns the word behind each label of a text: all up to the word's edge.
func wordsBehind(text string, label *regexp.Regexp) []string {
	var words []string
	for _, m := range label.FindAllStringIndex(text, -1) {
		if before, _ := utf8.DecodeLastRuneInString(text[:m[0]]); m[0] > 0 && (unicode.IsLetter(before) || unicode.IsNumber(before)) {
			continue // "downgrade:"
		}
		words = append(words, wordAt(text[m[1]:]))
	}
	return words
}

// wordAt is the verdict at the start of a text behind its decoration: a word with all that belongs to it
// ("C-" is no C), up to a mark, the end of the line or a reason. A word that goes on otherwise ("No
// verdict", "Correct would be") is no verdict, and is returned with what follows.
func wordAt(text string) string {
	text = text[len(decoration.FindString(text)):]
	end := strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !strings.ContainsRune("_-+'’/", r)
	})
	if end < 0 {
		end = len(text)
	}
	if !standsAlone.MatchString(text[end:]) {
		return firstLine(text)
	}
	return strings.TrimRight(text[:end], "_'")
}

// bare returns the verdicts that stand without a label: the first word, and a last line that is one.
func (g grammar) bare(text string) []string {
	all := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(all) == 0 {
		return nil
	}
	alone := func(s string) bool {
		word := wordAt(s)
		return word != "" && strings.Trim(s, " \t*_$\"'`“”().!:[]") == word
	}
	if len(all) == 1 && alone(all[0]) {
		if word := wordAt(all[0]); g.class(word, true) != "" {
			return []string{g.class(word, true)}
		}
	}
	var found []string
	if word := wordAt(all[0]); g.class(word, false) != "" {
		found = append(found, word)
	}
	if last := all[len(all)-1]; len(all) > 1 && alone(last) && g.class(wordAt(last), false) != "" {
		found = append(found, wordAt(last))
	}
	return found
}
