package report

import (
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/internal/chart"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/protocol"
)

// Page is the HTML report of a study.
type Page struct {
	// Title is the name of the study.
	Title string
	// Card is nil where there is none.
	Card *card.Card
	// Sections are made by [NewSection], one for each setting.
	Sections []*Section
	// Tables are over all settings; see [StudyTables].
	Tables []StudyTable
	// Consistency is the survey of cross-contextual consistency; nil where there is none.
	Consistency *consistency.Survey
	// Settings are the results behind the tables; their shifts are drawn. May be nil.
	Settings []*protocol.SettingResult
}

// WriteHTML writes the report as one self-contained file, which asks nothing of anywhere: a policy in
// the page forbids it. It opens with the verdict in words, then come the card, every setting, and what
// the terms mean. The same page gives the same bytes. Whatever comes from a model, a data set or a
// file is shown as text.
func WriteHTML(w io.Writer, p Page) error {
	view := pageView{Title: p.Title, Lead: leadOf(p.Sections), Verdict: verdictOf(p.Sections)}
	if len(p.Sections) > 1 {
		t := overviewTable(p.Sections)
		view.Overview = &t
	}
	if len(p.Tables) > 0 {
		view.Shifts = shiftFigures(p.Settings)
	}
	for _, t := range p.Tables {
		view.Tables = append(view.Tables, namedTable{t.Title, t.Source, t.view})
	}
	if p.Card != nil {
		c := cardViewOf(p.Card)
		view.Card = &c
	}
	for _, s := range p.Sections {
		frame := sectionFrame{Section: s, Open: len(p.Sections) <= sectionsOpen}
		if len(p.Sections) > sectionsPlain {
			frame.Packed = pack(string(s.body))
		}
		view.Sections = append(view.Sections, frame)
	}
	view.Glossary = glossary()
	if p.Consistency != nil {
		view.Consistency = consistencyViewOf(p.Consistency)
		view.Glossary = append(view.Glossary, consistencyTerms()...)
	}
	return execute(w, "page", view)
}

const (
	// sectionsOpen is how many settings a page shows in full; more are folded up.
	sectionsOpen = 3
	// sectionsPlain is how many a page holds as they are. Of more, the charts, tables and items are
	// packed and unpacked by the page's script, so that hundreds of settings are one small file that
	// opens at once.
	sectionsPlain = 12
)

type pageView struct {
	Title    string
	Lead     string
	Verdict  verdict
	Overview *tableView
	Tables   []namedTable
	Shifts   []gapView
	Card     *cardView
	Sections []sectionFrame
	Glossary []term
	// Consistency is set where the study measured it.
	Consistency *consistencyView
	// Scores is set where the page is about scores alone.
	Scores *scoresView
	// Validation is set where the page is about judges.
	Validation *validationView
}

// namedTable is a table of the study, folded up under its title and the table of the paper that it is like.
type namedTable struct {
	Title, Source string
	Table         tableView
}

type sectionFrame struct {
	*Section
	Open bool
	// Packed is the body, where it is packed.
	Packed template.HTML
}

// pack compresses a text with gzip and writes it in base64. A writer to memory does not fail.
func pack(text string) template.HTML {
	var b strings.Builder
	encoder := base64.NewEncoder(base64.StdEncoding, &b)
	w := gzip.NewWriter(encoder)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	_ = encoder.Close()
	return template.HTML(b.String())
}

//go:embed html
var assets embed.FS

var (
	style  = asset("html/style.css") + chart.CSS
	script = asset("html/script.js")
)

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"line":   termsafe.String,
	"text":   termsafe.Text,
	"key":    chart.Key,
	"keys":   chart.Keys,
	"policy": policy,
	// Style and script are written whole, so that their hashes in the policy are those of the page.
	"style":  func() template.HTML { return template.HTML("<style>" + style + "</style>") },
	"script": func() template.HTML { return template.HTML("<script>" + script + "</script>") },
}).ParseFS(assets, "html/*.tmpl"))

// policy allows the page its own style and its own script, and nothing else.
func policy() string {
	return "default-src 'none'; style-src " + hashSource(style) + "; script-src " + hashSource(script) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
}

func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func asset(name string) string {
	data, err := assets.ReadFile(name)
	if err != nil {
		panic(err) // embedded at build time
	}
	return string(data)
}

func execute(w io.Writer, name string, data any) error {
	if err := templates.ExecuteTemplate(w, name, data); err != nil {
		return fmt.Errorf("HTML report: %w", err)
	}
	return nil
}

// plural writes a count with its word: "1 item", "2 items".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
