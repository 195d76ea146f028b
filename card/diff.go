package card

import (
	"fmt"
	"strings"
)

// Difference is one protocol choice in which two cards differ. A side is nil where its card does not
// have that choice at all, such as a context that only the other study scores.
type Difference struct {
	// About is the part of the card, Choice the choice in it.
	About  string  `json:"about"`
	Choice string  `json:"choice"`
	A      *string `json:"a"`
	B      *string `json:"b"`
}

// Diff is what two cards have in common and what not, choice by choice.
type Diff struct {
	// Equal is the number of choices that are the same in both.
	Equal       int          `json:"equal"`
	Differences []Difference `json:"differences"`
}

// Compare compares the protocol choices of two cards. What came of them (how many answers were used, how
// many replies could be parsed) is no choice and is not compared. Models and data sets are matched by
// name; where each card has one only, these two are compared whatever their names.
func Compare(a, b *Card) Diff {
	left, right := choicesOf(a, b), choicesOf(b, a)
	d := Diff{Differences: []Difference{}}
	of := make(map[[2]string]string, len(right))
	for _, c := range right {
		of[c.key()] = c.says
	}
	seen := make(map[[2]string]bool, len(left))
	for _, c := range left {
		seen[c.key()] = true
		says, both := of[c.key()]
		switch {
		case !both:
			d.Differences = append(d.Differences, Difference{c.about, c.name, &c.says, nil})
		case says == c.says:
			d.Equal++
		default:
			d.Differences = append(d.Differences, Difference{c.about, c.name, &c.says, &says})
		}
	}
	for _, c := range right {
		if !seen[c.key()] {
			d.Differences = append(d.Differences, Difference{c.about, c.name, nil, &c.says})
		}
	}
	return d
}

// choice is one protocol choice of a card.
type choice struct{ about, name, says string }

func (c choice) key() [2]string { return [2]string{c.about, c.name} }

// choicesOf lists the choices of a card in its order. other decides how models and data sets are named.
func choicesOf(c, other *Card) []choice {
	var list []choice
	add := func(about, name, says string) { list = append(list, choice{about, name, says}) }
	for i, m := range c.Models {
		about := "model"
		if len(c.Models) > 1 || len(other.Models) > 1 {
			about = "model " + m.Name
		}
		add(about, "identity", m.Identity.String())
		add(about, "weights", m.Identity.Weights)
		add(about, "asked as", m.Form)
		if i < len(c.Generation) {
			add(about, "generation", strings.TrimPrefix(c.Generation[i], m.Name+": "))
		}
	}
	for _, d := range c.Datasets {
		about := "data"
		if len(c.Datasets) > 1 || len(other.Datasets) > 1 {
			about = "data " + d.Name
		}
		add(about, "items", fmt.Sprint(d.Items))
		add(about, "content SHA-256", d.SHA256)
	}
	for _, x := range c.Imported {
		add("imported "+x.Name, "file", x.File)
		add("imported "+x.Name, "SHA-256", x.SHA256)
	}
	add("answers", c.Answers.ID, c.Answers.What)
	add("stated confidence", c.Elicitation.ID, c.Elicitation.What)
	add("contexts", "base of shifts", c.Base)
	for _, x := range c.Contexts {
		add("context", x.Name, x.What)
	}
	add("tokens", "tokenisation", c.Tokenisation)
	for _, name := range c.Aggregations {
		add("aggregation", name, "used")
	}
	add("parser", "rule", c.Parser.ID+": "+c.Parser.What)
	for _, r := range c.Parts {
		add("part", r.ID, r.What)
	}
	for _, r := range c.Correctness {
		add("correctness", r.ID, r.What)
	}
	for _, v := range c.Validation {
		add("validation", v.Judge, v.Says())
	}
	for _, r := range c.Metrics {
		add("metric", r.ID, r.What)
	}
	add("intervals", "method, resamples, seed", c.Intervals)
	for _, p := range c.Prompts {
		add("prompt", p.Name, p.Text)
	}
	return list
}

// Says is what is known of a judge, in a sentence.
func (v Validation) Says() string {
	against := "held against nobody's labels"
	if v.Against != "" {
		against = fmt.Sprintf("held against %d labels of %s", v.HumanLabels, v.Against)
	}
	said := []string{v.Type, "threshold: " + v.Threshold, against}
	if v.WithPeople != nil {
		said = append(said, "agreement with people "+number(*v.WithPeople))
	}
	if v.AmongPeople != nil {
		said = append(said, "of people among themselves "+number(*v.AmongPeople))
	}
	if v.Effect != "" {
		said = append(said, "effect of its errors: "+v.Effect)
	}
	return strings.Join(said, "; ")
}

// Markdown writes the comparison as a table of the choices that differ. a and b name the two cards.
func (d Diff) Markdown(a, b string) string {
	w := &writer{}
	w.line("# %s and %s", code(a), code(b))
	w.line("")
	w.line("%s", d.Summary())
	if len(d.Differences) == 0 {
		return w.b.String()
	}
	w.line("")
	w.line("| | choice | %s | %s |", cell(a), cell(b))
	w.line("|---|---|---|---|")
	for _, x := range d.Differences {
		w.line("| %s | %s | %s | %s |", plain(x.About), cell(x.Choice), side(x.A), side(x.B))
	}
	return w.b.String()
}

func side(says *string) string {
	switch {
	case says == nil:
		return "–"
	case strings.TrimSpace(*says) == "":
		return "not stated"
	}
	return cell(*says)
}

// Summary counts what is equal and what differs.
func (d Diff) Summary() string {
	switch n := len(d.Differences); n {
	case 0:
		return fmt.Sprintf("All %d protocol choices are equal.", d.Equal)
	case 1:
		return fmt.Sprintf("1 protocol choice differs, %d are equal.", d.Equal)
	default:
		return fmt.Sprintf("%d protocol choices differ, %d are equal.", n, d.Equal)
	}
}
