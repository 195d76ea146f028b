package study

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/internal/table"
)

// snippets are the texts of a source for one data set; those of a corpus are read once for all.
func (r *runner) snippets(p PerturbationSource, d dataset.Dataset) (*collect.Snippets, error) {
	key := [2]string{p.Name, d.Name}
	if p.From == FromCorpus {
		key[1] = ""
	}
	if known := r.consistent.snippets[key]; known != nil {
		return known, nil
	}
	s, err := r.file.snippets(p, d)
	if err == nil {
		r.consistent.snippets[key] = s
	}
	return s, err
}

// snippets reads the texts of a source for one data set.
func (f *File) snippets(p PerturbationSource, d dataset.Dataset) (*collect.Snippets, error) {
	s := &collect.Snippets{Number: p.Batch, Seed: f.Seed}
	switch {
	case p.From == FromCorpus && p.File == "":
		s.All = collect.BuiltinCorpus()
		return s, nil
	case p.From == FromFile:
		return s, f.readPerturbations(s, p.File, d)
	}
	file, err := os.Open(p.File)
	if err != nil {
		return nil, &InputError{Path: p.File, What: "cannot be read: " + cause(err), Hint: "name a text file of the corpus", Err: err}
	}
	defer func() { _ = file.Close() }()
	if s.All, err = collect.ReadSnippets(file, p.Words); err != nil {
		return nil, &InputError{Path: p.File, What: err.Error(), Err: err}
	}
	if len(s.All) == 0 {
		return nil, &InputError{Path: p.File, What: fmt.Sprintf("holds no snippet of about %d words", p.Words), Hint: "name a text with sentences, or change words"}
	}
	return s, nil
}

// readPerturbations reads a table with a column perturbation, and perhaps dataset and item; a row without item is
// for all items of its data set, one without data set for all.
func (f *File) readPerturbations(s *collect.Snippets, path string, d dataset.Dataset) error {
	r, err := table.Open(path, table.Options{Strict: true})
	if err != nil {
		return err
	}
	defer r.Close()
	text, err := r.Lookup("perturbation")
	if err != nil {
		return err
	}
	optional := func(name string) int {
		at, err := r.Lookup(name)
		if err != nil {
			return -1
		}
		return at
	}
	of, item := optional("dataset"), optional("item")
	cell := func(row *table.Row, at int) string {
		if at < 0 {
			return ""
		}
		return strings.TrimSpace(string(row.Cell(at).Bytes()))
	}
	s.ByItem = map[string][]string{}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if name := cell(row, of); name != "" && name != d.Name {
			continue
		}
		perturbation := cell(row, text)
		if perturbation == "" {
			return row.Errorf(text, "write one, or remove the row", "no perturbation")
		}
		if id := cell(row, item); id != "" {
			s.ByItem[id] = append(s.ByItem[id], perturbation)
		} else {
			s.All = append(s.All, perturbation)
		}
	}
	if f.limited(d.Name) || f.largestLimit() > 0 {
		return nil // an item may be one of those left out
	}
	return knownItems(s, path, d)
}

func (f *File) limited(name string) bool {
	return slices.ContainsFunc(f.Datasets, func(d Data) bool { return d.Name == name && d.Limit > 0 })
}

// knownItems refuses a perturbation for an item that is not there: a typing error would pass for a short file.
func knownItems(s *collect.Snippets, path string, d dataset.Dataset) error {
	known := map[string]bool{}
	for _, item := range d.Items {
		known[item.ID] = true
	}
	ids := make([]string, 0, len(s.ByItem))
	for id := range s.ByItem {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if !known[id] {
			return &InputError{Path: path, What: fmt.Sprintf("has a perturbation for the item %q, which %s does not have", id, d.Name), Hint: "write the id of an item, or the column dataset beside it"}
		}
	}
	return nil
}
