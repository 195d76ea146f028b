package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/credence-lab/credence/annotate"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/report"
)

// labelScreen shows answers to a person who labels, with the rules beside them.
type labelScreen struct {
	app *app
	// raw is a terminal that takes single keys, wants a return before each line end, and has the rules with each
	// answer; anything else has them once.
	raw        bool
	guidelines string
	ruled      bool
}

func newLabelScreen(a *app, raw bool, guidelines string) *labelScreen {
	return &labelScreen{app: a, raw: raw, guidelines: strings.TrimSpace(termsafe.Text(guidelines)), ruled: raw}
}

// keysHelp names the keys.
const keysHelp = "Keys: c correct, i incorrect, u unsure; n note for the next label; z take back; g go to; " +
	"f filter; s skip; r rules on or off; ? these lines; q quit."

// Widths of the rules beside an answer, and of a terminal that has room for both.
const (
	rulesWidth = 38
	bothWidth  = 100
	ruleBar    = " │ "
)

func (s *labelScreen) line(text string) {
	end := "\n"
	if s.raw {
		end = "\r\n"
	}
	fmt.Fprint(s.app.out, text, end)
}

// say writes a sentence.
func (s *labelScreen) say(format string, args ...any) {
	for _, line := range report.Wrap(fmt.Sprintf(format, args...), min(s.width(), report.DefaultWidth), "") {
		s.line(line)
	}
}

// width is that of the terminal less one column, since some go on to the next line when the last one is filled.
func (s *labelScreen) width() int { return max(s.app.width()-1, 20) }

// begin shows what is not shown with each answer.
func (s *labelScreen) begin() {
	if s.raw {
		s.say("%s", keysHelp)
		return
	}
	s.help()
}

func (s *labelScreen) help() {
	for _, line := range fold(s.guidelines, min(s.width(), report.DefaultWidth)) {
		s.line(line)
	}
	s.say("%s", keysHelp)
}

func (s *labelScreen) toggleGuidelines() { s.ruled = !s.ruled }

// show shows one answer, and what this person has said of it.
func (s *labelScreen) show(task annotate.Task, progress string, e annotate.Entry, note string) {
	beside := s.ruled && s.width() >= bothWidth
	width := min(s.width(), report.DefaultWidth)
	if beside {
		width = min(s.width()-rulesWidth-utf8.RuneCountInString(ruleBar), report.DefaultWidth)
	}
	lines := append(s.answer(task, width), s.said(e, note, width)...)
	lines = append([]string{termsafe.String(progress)}, lines...)
	s.line("")
	switch {
	case beside:
		lines = sideBySide(fold(s.guidelines, rulesWidth), lines)
	case s.ruled:
		lines = append(append(fold(s.guidelines, width), ""), lines...)
	}
	for _, line := range lines {
		s.line(line)
	}
}

// answer is the question, the references and the answer, in lines of a width.
func (s *labelScreen) answer(task annotate.Task, width int) []string {
	lines := fold("Question: "+termsafe.Text(task.Question), width)
	lines = append(lines, fold("References: "+termsafe.Text(strings.Join(task.References, "; ")), width)...)
	return append(lines, fold("Answer: "+termsafe.Text(task.Text), width)...)
}

func (s *labelScreen) said(e annotate.Entry, note string, width int) []string {
	var lines []string
	if e.Label != "" {
		lines = fold(strings.TrimSpace("Label: "+string(e.Label)+" "+termsafe.String(e.Note)), width)
	}
	if note != "" {
		lines = append(lines, fold("Note for the next label: "+termsafe.String(note), width)...)
	}
	return lines
}

// sideBySide puts two columns beside each other. The left one has the rules, whose width is known; how wide the
// letters of an answer are is the terminal's business.
func sideBySide(left, right []string) []string {
	var lines []string
	for i := range max(len(left), len(right)) {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		lines = append(lines, strings.TrimRight(l+strings.Repeat(" ", max(rulesWidth-termsafe.Width(l), 0))+ruleBar+r, " "))
	}
	return lines
}

// fold cuts a text into lines of a width. Its own line ends and the blanks at the beginning of lines stay, since in
// a program or a list they mean something; a word that is wider than a line is cut.
func fold(s string, width int) []string {
	var lines []string
	for _, paragraph := range strings.Split(strings.ReplaceAll(s, "\t", "    "), "\n") {
		lines = append(lines, foldLine(paragraph, width)...)
	}
	return lines
}

func foldLine(s string, width int) []string {
	var lines []string
	for termsafe.Width(s) > width {
		cut, blank, at := len(s), 0, 0
		for i, r := range s {
			if at += termsafe.RuneWidth(r); at > width && i > 0 {
				cut = i
				break
			}
			if r == ' ' && strings.TrimLeft(s[:i], " ") != "" {
				blank = i
			}
		}
		if blank > 0 {
			cut = blank
		}
		if cut == len(s) {
			break
		}
		lines = append(lines, s[:cut])
		s = strings.TrimPrefix(s[cut:], " ")
	}
	return append(lines, s)
}
