package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/scores"
)

// pageFile is an HTML page being written: under a temporary name, until it is whole. It is made before
// any work is done, so that a place that cannot be written is known at once.
type pageFile struct {
	path string
	temp *os.File
}

// newPageFile makes the file of a page about the scores in input; nil, which all methods take, where no
// page is asked for. What the page would take the place of must be a file, and not the scores.
func newPageFile(path, input string) (*pageFile, error) {
	if path == "" {
		return nil, nil
	}
	if there, err := os.Stat(path); err == nil {
		if !there.Mode().IsRegular() {
			return nil, usagef("--html %s is no plain file that a page could replace; name a new one", path)
		}
		if scores, err := os.Stat(input); err == nil && os.SameFile(there, scores) {
			return nil, usagef("--html %s is the file with the scores; name another one for the page", path)
		}
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".report-*")
	if err != nil {
		return nil, usagef("--html %s cannot be written: %v", path, errors.Unwrap(err))
	}
	return &pageFile{path, temp}, nil
}

// write writes the report of an evaluation of a file, and gives the page its name.
func (p *pageFile) write(e evaluated, file string) error {
	if p == nil {
		return nil
	}
	page, err := e.page(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(p.temp)
	err = errors.Join(report.WriteScoresHTML(w, page), w.Flush(), p.temp.Chmod(0o644), p.temp.Close())
	if err == nil {
		err = os.Rename(p.temp.Name(), p.path)
	}
	if err != nil {
		return fmt.Errorf("--html %s: %w", p.path, err)
	}
	return nil
}

// discard removes what was not finished; after write it does nothing.
func (p *pageFile) discard() {
	if p != nil {
		_ = p.temp.Close()
		_ = os.Remove(p.temp.Name())
	}
}

// page is the HTML report of an evaluation.
func (e evaluated) page(file string) (report.ScoresPage, error) {
	title := filepath.Base(file)
	if file == "-" {
		title = "standard input"
	}
	p := report.ScoresPage{Title: title, Rows: len(e.table.Label.Values), Level: e.options.Level}
	p.Notes = append(p.Notes, e.table.Notes...)
	for _, n := range e.table.Irregular {
		p.Notes = append(p.Notes, n.String())
	}
	for _, r := range e.results {
		p.Values = append(p.Values, report.ScoreValue(r))
	}
	for _, g := range e.table.Groups {
		forms, err := scores.Prepare(e.table, g)
		if err != nil {
			return p, err
		}
		group := report.ScoresGroup{Name: g.Name}
		for _, f := range forms {
			group.Scores = append(group.Scores, report.ScoreForms(f))
		}
		p.Groups = append(p.Groups, group)
	}
	return p, nil
}
