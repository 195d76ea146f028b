package cli

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/study"
	"github.com/credence-lab/credence/weights"
)

// eventsSchema is the version of the events; docs/format.md describes them.
const eventsSchema = "1"

// events tells a program how work goes: one JSON object a line on standard error, in place of progress
// and messages. Standard output keeps the results.
type events struct {
	mu    sync.Mutex
	w     io.Writer
	now   func() time.Time
	level slog.Level
}

// addEvents gives a command the flag that asks for events.
func (a *app) addEvents(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "events on standard error, one JSON object a line, in place of progress and messages")
}

// events is nil where a person reads.
func (a *app) events() *events {
	if a.json && a.stream == nil {
		a.stream = &events{w: a.err, now: time.Now, level: a.level()}
	}
	return a.stream
}

// head begins every event.
type head struct {
	Event string    `json:"event"`
	Time  time.Time `json:"time"`
}

// write writes an event whole, whatever else is written at the same time. What cannot be written has
// nobody to be told.
func (e *events) write(event any) {
	line, err := json.Marshal(event)
	if err != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.w.Write(append(termsafe.JSON(line), '\n'))
}

func (e *events) head(event string) head { return head{event, e.now().UTC()} }

// started says what is begun. It does nothing where a person reads, as all that the commands call.
func (e *events) started(command, study, folder, file string) {
	if e == nil {
		return
	}
	e.write(struct {
		head
		Schema  string `json:"schema"`
		Command string `json:"command"`
		Study   string `json:"study,omitempty"`
		Folder  string `json:"folder,omitempty"`
		File    string `json:"file,omitempty"`
	}{e.head("started"), eventsSchema, command, study, folder, file})
}

// work is how far something counted is.
type work struct {
	What  string `json:"what"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
	// Rate is in units a second, Left in seconds; null before they are known.
	Rate *float64 `json:"rate"`
	Left *float64 `json:"eta_seconds"`
}

func workOf(now time.Time, p pace, what string, done, total int) work {
	w := work{What: what, Done: done, Total: total}
	if rate, left, known := p.speed(now, done, total); known {
		seconds := left.Seconds()
		w.Rate, w.Left = &rate, &seconds
	}
	return w
}

func (e *events) setting(now time.Time, p pace, s study.Progress) {
	e.write(struct {
		head
		Model   string `json:"model"`
		Dataset string `json:"dataset"`
		Stage   string `json:"stage"`
		work
		Made      int64 `json:"calls_made"`
		Reused    int64 `json:"calls_reused"`
		Retries   int64 `json:"retries"`
		NotScored int   `json:"not_scored"`
	}{head{"progress", now.UTC()}, s.Setting.Model, s.Setting.Dataset, string(s.Stage), workOf(now, p, "items", s.Done, s.Total),
		s.Counts.Made, s.Counts.Reused, s.Retries, s.NotScored})
}

func (e *events) counted(now time.Time, p pace, what string, done, total int) {
	e.write(struct {
		head
		work
	}{head{"progress", now.UTC()}, workOf(now, p, what, done, total)})
}

// perturbed says how the perturbations of a source for a data set were found.
func (e *events) perturbed(p study.Perturbations) {
	e.write(struct {
		head
		study.Perturbations
	}{e.head("perturbations"), p})
}

// surveyed says of every setting what became of the C3 of its items, under the first source, kernel and estimator.
func (e *events) surveyed(s *consistency.Survey) {
	if e == nil || s == nil {
		return
	}
	for _, c := range s.Main() {
		e.write(struct {
			head
			Model        string        `json:"model"`
			Dataset      string        `json:"dataset"`
			Items        int           `json:"items"`
			Determined   int           `json:"determined"`
			Undetermined int           `json:"undetermined"`
			Missing      int           `json:"missing"`
			C3           measure.Value `json:"c3"`
		}{e.head("consistency"), c.Model, c.Benchmark, c.Items, c.Determined, c.Undetermined, c.Missing, c.C3})
	}
}

// finished says that a run is done and where its results are.
func (e *events) finished(folder string, info *study.RunInfo) {
	if e == nil {
		return
	}
	e.write(struct {
		head
		Folder  string  `json:"folder"`
		Results string  `json:"results"`
		Report  string  `json:"report"`
		Made    int64   `json:"calls_made"`
		Reused  int64   `json:"calls_reused"`
		Seconds float64 `json:"seconds"`
	}{e.head("finished"), folder, filepath.Join(folder, "results.json"), filepath.Join(folder, "report.html"),
		info.Made, info.Reused, info.Finished.Sub(info.Started).Seconds()})
}

// calibrated says that a threshold is found and which file has it.
func (e *events) calibrated(folder, file string) {
	if e == nil {
		return
	}
	e.write(struct {
		head
		Folder string `json:"folder"`
		File   string `json:"file"`
	}{e.head("finished"), folder, file})
}

// evaluated says that scores are evaluated; the results are on standard output.
func (e *events) evaluated(file, page string) {
	if e == nil {
		return
	}
	e.write(struct {
		head
		File string `json:"file"`
		HTML string `json:"html,omitempty"`
	}{e.head("finished"), file, page})
}

func (e *events) failed(code int, said, hint string) {
	e.write(struct {
		head
		Error string `json:"error"`
		Hint  string `json:"hint,omitempty"`
		Exit  int    `json:"exit"`
	}{e.head("failed"), said, hint, code})
}

func (e *events) said(event, text string) {
	e.write(struct {
		head
		Text string `json:"text"`
	}{e.head(event), text})
}

// events is the handler of the program's messages: warnings, and notes below them.

func (e *events) Enabled(_ context.Context, level slog.Level) bool { return level >= e.level }

func (e *events) Handle(_ context.Context, r slog.Record) error {
	e.said(kindOf(r.Level), wordsOf(r))
	return nil
}

func (e *events) WithAttrs([]slog.Attr) slog.Handler { return e }
func (e *events) WithGroup(string) slog.Handler      { return e }

// fetchEvents tells how a fetch goes.
type fetchEvents struct {
	*events
	quiet bool
	shown time.Time
}

func (f *fetchEvents) Announce(a weights.Announcement) {
	for _, i := range a.Items {
		f.write(struct {
			head
			Name    string `json:"name"`
			Bytes   int64  `json:"bytes"`
			Have    int64  `json:"bytes_there"`
			Licence string `json:"licence"`
			Folder  string `json:"folder"`
		}{f.head("fetch"), i.Name, i.Bytes, i.Have, i.Licence.Name, a.Home})
	}
}

func (f *fetchEvents) Progress(p weights.Progress) {
	now := f.now()
	if f.quiet || now.Sub(f.shown) < eventEvery {
		return
	}
	f.shown = now
	f.write(struct {
		head
		Name   string `json:"name"`
		Done   int64  `json:"bytes_done"`
		Bytes  int64  `json:"bytes"`
		Source string `json:"source"`
	}{f.head("fetching"), p.Name, p.Done, p.Total, p.Source})
}

func (f *fetchEvents) Note(line string) { f.said("note", line) }

func (f *fetchEvents) Done(i weights.Item) {
	f.write(struct {
		head
		Name  string `json:"name"`
		Bytes int64  `json:"bytes"`
	}{f.head("fetched"), i.Name, i.Bytes})
}

func (f *fetchEvents) End() {}
