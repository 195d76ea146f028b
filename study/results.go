package study

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/report"
)

// schemaVersion of results.json and the tables; docs/format.md has its history.
const schemaVersion = "2"

// Results is results.json: every number of the report. It holds no time, path, host or count of
// reuse, so equal studies on one machine give equal bytes.
type Results struct {
	Schema   string                    `json:"schema"`
	Study    string                    `json:"study"`
	Seed     uint64                    `json:"seed"`
	Settings []*protocol.SettingResult `json:"settings"`
	// Summaries are over all settings of a group of models.
	Summaries *protocol.Summaries `json:"summaries"`
	// Uncertainty has the quantifiers under every judge, by setting.
	Uncertainty []*UncertaintyResult `json:"uncertainty,omitempty"`
	// Consistency is the survey of cross-contextual consistency; nil where the study measures none.
	Consistency *consistency.Survey `json:"consistency,omitempty"`
	Card        *card.Card          `json:"card"`
}

// RunInfo is run.json: what belongs to this run and not to its results.
type RunInfo struct {
	Schema   string    `json:"schema"`
	Study    string    `json:"study"`
	Version  string    `json:"version"`
	Go       string    `json:"go"`
	Platform string    `json:"platform"`
	CPUs     int       `json:"cpus"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	// Calls that the models answered in this run, and requests that the ledger answered.
	Made   int64     `json:"calls_made"`
	Reused int64     `json:"calls_reused"`
	Failed int64     `json:"requests_failed"`
	Models []RunCost `json:"models"`
	// Perturbations say how fast contexts were found.
	Perturbations []PerturbationCost `json:"perturbations,omitempty"`
	// Spent is what the study has spent over all of its runs; absent without a budget and prices.
	Spent *Spending `json:"study_spent,omitempty"`
}

// RunCost is what one model cost in this run.
type RunCost struct {
	Model           string  `json:"model"`
	Made            int64   `json:"calls_made"`
	Reused          int64   `json:"calls_reused"`
	PromptTokens    int64   `json:"prompt_tokens"`
	GeneratedTokens int64   `json:"generated_tokens"`
	ScoredTokens    int64   `json:"scored_tokens"`
	AskingSeconds   float64 `json:"asking_seconds"`
	// Retries is how often the engine asked again by itself.
	Retries int64 `json:"retries"`
	// Checks of the model's server at the start of this run, as on the card.
	Checks []card.Check `json:"checks,omitempty"`
}

// Tables are the tables of the study over its settings, but those of consistency.
func (r *Results) Tables() []report.StudyTable {
	list := report.StudyTables(r.Settings, r.Summaries)
	for _, u := range r.Uncertainty {
		list = append(list, report.MatrixTable(u.Matrix()))
		if steady := u.Steadiness(); len(steady.Judges) > 0 {
			list = append(list, report.SteadinessTable(steady))
		}
	}
	return list
}

// AllTables are all tables that the run has; those of consistency have a section of their own on the page.
func (r *Results) AllTables() []report.StudyTable {
	list := r.Tables()
	if r.Consistency != nil {
		list = append(list, report.ConsistencyTables(r.Consistency)...)
	}
	return list
}

// HasParts reports whether the study asked more than its main comparison.
func (r *Results) HasParts() bool {
	for _, s := range r.Settings {
		if slices.ContainsFunc(s.Further, func(f protocol.Further) bool { return f.Name != withoutFallback }) || s.Selection != nil || s.Reference != nil {
			return true
		}
	}
	if len(r.Uncertainty) > 0 || r.Consistency != nil {
		return true
	}
	return r.Summaries != nil && (len(r.Summaries.Supplied) > 0 || len(r.Summaries.Multiverse) > 0)
}

func (r *runner) results() *Results {
	return &Results{
		Schema:      schemaVersion,
		Study:       r.file.Name,
		Seed:        r.file.Seed,
		Settings:    r.settings,
		Summaries:   r.summaries,
		Uncertainty: r.quantities,
		Consistency: r.consistent.survey,
		Card:        r.card(),
	}
}

func (r *runner) info() *RunInfo {
	info := &RunInfo{
		Schema:   schemaVersion,
		Study:    r.file.Name,
		Version:  r.options.Version,
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		CPUs:     runtime.NumCPU(),
		Started:  r.started.UTC(),
		Finished: r.options.Now().UTC(),
	}
	var total ledger.Counts
	for _, m := range r.models {
		c := m.counts
		total = total.Add(c)
		info.Models = append(info.Models, RunCost{m.Name, c.Made, c.Reused, c.PromptTokens, c.GeneratedTokens, c.ScoredTokens, c.Asking.Seconds(), m.retries, m.verified.Checks})
	}
	for _, s := range r.sources {
		c := s.counts
		total = total.Add(c)
		info.Models = append(info.Models, RunCost{s.name.String(), c.Made, c.Reused, c.PromptTokens, c.GeneratedTokens, c.ScoredTokens, c.Asking.Seconds(), s.retries, nil})
	}
	info.Perturbations = r.consistent.costs
	info.Made, info.Reused, info.Failed = total.Made, total.Reused, total.Failed
	if r.meter.counts() {
		spent := r.meter.total()
		info.Spent = &spent
	}
	return info
}

// write writes results.json last: a folder that has it has the rest.
func (r *runner) write(results *Results, info *RunInfo) error {
	if err := r.writeTables(); err != nil {
		return err
	}
	if err := r.folder.write(cardFile, []byte(results.Card.Markdown())); err != nil {
		return err
	}
	page := report.Page{Title: r.file.Name, Card: results.Card, Consistency: results.Consistency, Sections: r.sections}
	if len(r.settings) > 1 || results.HasParts() {
		page.Tables, page.Settings = results.Tables(), r.settings
	}
	err := r.folder.writeWith(reportFile, func(file *os.File) error {
		w := bufio.NewWriter(file)
		return errors.Join(report.WriteHTML(w, page), w.Flush())
	})
	if err != nil {
		return err
	}
	if err := r.folder.writeJSON(runFile, info); err != nil {
		return err
	}
	if err := r.folder.writeStudy(r.file); err != nil {
		return err
	}
	return r.folder.writeJSON(resultsFile, results)
}

func (f *folder) writeJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.write(name, append(data, '\n'))
}

// writeStudy keeps the effective study in a form that can be run again from where it lies: files are
// named relative to the folder where they can be.
func (f *folder) writeStudy(file *File) error {
	kept := *file
	kept.Datasets, kept.Models = slices.Clone(file.Datasets), slices.Clone(file.Models)
	kept.rebase(f.relative)
	data, err := yaml.Marshal(&kept)
	if err != nil {
		return fmt.Errorf("%s: %w", studyFile, err)
	}
	const head = "# The effective study: every default written out but those that are the engine's to choose.\n"
	return f.write(studyFile, append([]byte(head), data...))
}

// relative names a file as seen from the folder; on another volume it stays absolute.
func (f *folder) relative(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	here, err := filepath.Abs(f.path)
	if err != nil {
		return absolute
	}
	if relative, err := filepath.Rel(here, absolute); err == nil {
		return filepath.ToSlash(relative)
	}
	return absolute
}

// ReadResults reads the results of a finished run from its folder.
func ReadResults(folder string) (*Results, error) {
	path := filepath.Join(folder, resultsFile)
	data, err := os.ReadFile(path)
	if err != nil {
		hint := ""
		if errors.Is(err, os.ErrNotExist) {
			hint = "the run is not finished; run the study again to go on with it"
		}
		return nil, &InputError{Path: path, What: "cannot be read: " + cause(err), Hint: hint, Err: err}
	}
	var results Results
	if err := json.Unmarshal(data, &results); err != nil {
		return nil, &InputError{Path: path, What: "is no results file: " + err.Error(), Err: err}
	}
	return &results, nil
}
