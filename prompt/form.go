package prompt

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/credence-lab/credence/llm"
)

// What consistency asks besides answers ("Is This Your Final Answer?", Wu, Jiang and Aragam 2026, appendix D,
// of which the published text has the requirements alone). The wording is this project's.
const (
	// Perturbations asks for short contexts to put before a question: of its topic, saying nothing of its
	// answer, and no restatement of it.
	Perturbations Name = "perturbations"
	// Paraphrases asks for other ways to say a text.
	Paraphrases Name = "paraphrases"
	// Equivalence asks whether two answers to a question are the same answer.
	Equivalence Name = "equivalence"
	// Topic asks which of several domains a text, shown alone, belongs to.
	Topic Name = "topic"
)

// FormNames are the prompts with fields besides the question, in the order in which a card shows them.
func FormNames() []Name { return []Name{Perturbations, Paraphrases, Equivalence, Topic} }

// The fields of forms.
const (
	questionField = "{{.Question}}"
	numberField   = "{{.Number}}"
	textField     = "{{.Text}}"
	firstField    = "{{.First}}"
	secondField   = "{{.Second}}"
	domainsField  = "{{.Domains}}"
)

// formKind is what a form must hold, and its built-in words.
type formKind struct {
	fields []string
	// asks are words that the reply's parser depends on; empty is none.
	asks string
	text string
}

// The wordings for contexts and paraphrases were chosen by eye among a few, on three to six texts and a model of half a
// billion parameters: it answers a question that comes first, and takes "other ways to write" for a request to explain.
var formKinds = map[Name]formKind{
	Perturbations: {
		fields: []string{questionField, numberField},
		text: "A remark is a plain sentence of at most fifteen words on the broad subject of a question. " +
			"It says something ordinary that does not help to answer the question.\n\n" +
			"For the question \"How many legs does a spider have?\" three remarks are:\n" +
			"1. Many small animals hide under stones during the day.\n" +
			"2. Children like to look for insects in the garden.\n" +
			"3. A museum in the old town shows butterflies behind glass.\n\n" +
			"Write {{.Number}} remarks for the question below as a numbered list, and no other words. " +
			"Each speaks of something else, asks nothing, and does not answer the question.\n\n" +
			"The question: {{.Question}}",
	},
	Paraphrases: {
		fields: []string{textField, numberField},
		text: "The text: {{.Text}}\n\n" +
			"Write {{.Number}} paraphrases of the text as a numbered list, and no other words. " +
			"A paraphrase says exactly the same as the text in other words. A question stays a question and is not answered.",
	},
	Equivalence: {
		fields: []string{questionField, firstField, secondField},
		asks:   trueFirst,
		text: "You will judge whether two answers to a question say the same. They do if they mean the same, " +
			"whatever their wording; whether they are right does not matter. Write True or False, and no other words.\n\n" +
			"The question: {{.Question}}\n" +
			"The first answer: {{.First}}\n" +
			"The second answer: {{.Second}}\n" +
			"Do the two answers say the same, True or False?",
	},
	Topic: {
		fields: []string{textField, domainsField},
		text: "You will say which kind of task a text belongs to. " +
			"Write the letter of one kind, and no other words.\n\n" +
			"The text: {{.Text}}\n" +
			"The kinds:\n{{.Domains}}",
	},
}

// form is a checked text with its fields.
type form struct {
	name Name
	text string
}

// newForm checks a user's own words of a form: every field is there, and no other.
func newForm(name Name, text string) (form, error) {
	kind := formKinds[name]
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), " \t\n")
	rest := text
	for _, field := range kind.fields {
		if !strings.Contains(text, field) {
			return form{}, fmt.Errorf("prompt %s: %s is missing: put it where it goes", name, field)
		}
		rest = strings.ReplaceAll(rest, field, "")
	}
	switch {
	case len(text) > maxTemplate:
		return form{}, fmt.Errorf("prompt %s: %d bytes, at most %d are allowed", name, len(text), maxTemplate)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return form{}, fmt.Errorf("prompt %s: not a text: save it as UTF-8", name)
	case strings.Contains(rest, "{{"):
		return form{}, fmt.Errorf("prompt %s: the only fields are %s", name, list(kind.fields))
	case !strings.Contains(text, kind.asks):
		return form{}, fmt.Errorf("prompt %s: must ask for %q", name, kind.asks)
	}
	return form{name, text}, nil
}

// fill puts values in the places of fields, given in turns. Values are data: fields within them stay text.
func (f form) fill(fieldsAndValues ...string) string {
	return strings.NewReplacer(fieldsAndValues...).Replace(f.text)
}

// written is the user turn of a request that is answered by writing; plain text is opened by a marker.
func written(f Form, text, marker string) llm.Prompt {
	if f == Plain {
		return llm.Prompt{Text: text + "\n" + marker, NoBOS: true}
	}
	return llm.Chat(text, "")
}

// ListMarker opens a list in plain text; a reply goes on behind it.
const ListMarker = "1."

// AskPerturbations returns the prompt of an [llm.Generate] request for n contexts of a question, whose reply
// [ParseList] reads. Error: llm.ErrEmptyText without a question.
func (s *Set) AskPerturbations(f Form, question string, n int) (llm.Prompt, error) {
	return s.askList(Perturbations, questionField, f, question, n)
}

// AskParaphrases returns the prompt of an [llm.Generate] request for n paraphrases of a text, whose reply
// [ParseList] reads. Error: llm.ErrEmptyText without a text.
func (s *Set) AskParaphrases(f Form, text string, n int) (llm.Prompt, error) {
	return s.askList(Paraphrases, textField, f, text, n)
}

func (s *Set) askList(name Name, field string, f Form, text string, n int) (llm.Prompt, error) {
	switch {
	case oneLine(text) == "":
		return llm.Prompt{}, llm.ErrEmptyText
	case n < 1:
		return llm.Prompt{}, fmt.Errorf("prompt %s: a list of %d", name, n)
	}
	return written(f, s.forms[name].fill(field, text, numberField, fmt.Sprint(n)), ListMarker), nil
}

// AskEquivalence returns the prompt of an [llm.Generate] request whose reply [ParseVerdict] reads: correct
// where the two answers say the same. Error: llm.ErrEmptyAnswer where one is missing.
func (s *Set) AskEquivalence(f Form, question, first, second string) (llm.Prompt, error) {
	first, second = oneLine(first), oneLine(second)
	if first == "" || second == "" {
		return llm.Prompt{}, llm.ErrEmptyAnswer
	}
	text := s.forms[Equivalence].fill(questionField, question, firstField, first, secondField, second)
	return written(f, text, VerdictMarker), nil
}

// AskTopic returns the prompt of an [llm.Generate] request whose reply [ParseLetter] reads: which of the
// domains the text belongs to. Error: llm.ErrEmptyText, or a number of domains that letters cannot name.
func (s *Set) AskTopic(f Form, text string, domains []string) (llm.Prompt, error) {
	text = oneLine(text)
	switch {
	case text == "":
		return llm.Prompt{}, llm.ErrEmptyText
	case len(domains) < 2 || len(domains) > len(Letters):
		return llm.Prompt{}, errors.New("prompt topic: 2 to 26 domains")
	}
	lines := make([]string, len(domains))
	for i, d := range domains {
		lines[i] = fmt.Sprintf("%c. %s", Letters[i], oneLine(d))
	}
	return written(f, s.forms[Topic].fill(textField, text, domainsField, strings.Join(lines, "\n")), AnswerMarker), nil
}

// FormTexts returns the forms in full, in the order of [FormNames].
func (s *Set) FormTexts() []Text {
	var texts []Text
	for _, name := range FormNames() {
		texts = append(texts, Text{name, s.forms[name].text, s.own[name]})
	}
	return texts
}
