package study

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
)

// nearMiss is a supplied wrong answer that a looser normalisation finds close to a reference: a person
// decides whether it is correct after all ("Same Answer, Different Confidence", appendix I).
type nearMiss struct {
	answer    record.Answer
	question  string
	reference string
	ruling    protocol.Ruling
}

// rulingColumns of the file that a run writes and that a study may name.
var rulingColumns = []string{"model", "dataset", "item", "question", "answer", "reference", "correct"}

type rulingKey struct{ model, dataset, item string }

// readRulings reads a person's decisions. Rows without one are undecided.
func (f *File) readRulings() (map[rulingKey]protocol.Ruling, error) {
	path := f.Protocol.Rulings
	rulings := map[rulingKey]protocol.Ruling{}
	if path == "" {
		return rulings, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, f.at.errorf("$.protocol.rulings", "run the study without it first: the run's folder gets the list to decide on", "%s: %s", path, cause(err))
	}
	defer func() { _ = file.Close() }()
	r := csv.NewReader(file)
	head, err := r.Read()
	if err != nil {
		return nil, &InputError{Path: path, Line: 1, What: "no list of rulings: " + err.Error(), Err: err}
	}
	at := map[string]int{}
	for i, name := range head {
		at[strings.TrimPrefix(name, "\ufeff")] = i
	}
	for _, name := range []string{"model", "dataset", "item", "correct"} {
		if _, ok := at[name]; !ok {
			return nil, &InputError{Path: path, Line: 1, What: fmt.Sprintf("there is no column %q", name), Hint: "keep the columns of the list that the run wrote"}
		}
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rulings, nil
		}
		if err != nil {
			return nil, &InputError{Path: path, What: err.Error(), Err: err}
		}
		line, _ := r.FieldPos(0)
		ruling, ok := rulingOf(row[at["correct"]])
		if !ok {
			return nil, &InputError{Path: path, Line: line, What: fmt.Sprintf("correct is %q", row[at["correct"]]), Hint: "write yes or no, or leave it empty"}
		}
		rulings[rulingKey{row[at["model"]], row[at["dataset"]], row[at["item"]]}] = ruling
	}
}

func rulingOf(cell string) (protocol.Ruling, bool) {
	switch strings.ToLower(strings.TrimSpace(cell)) {
	case "":
		return protocol.Undecided, true
	case "yes", "y", "true", "1", "correct":
		return protocol.JudgedCorrect, true
	case "no", "n", "false", "0", "incorrect":
		return protocol.JudgedWrong, true
	}
	return protocol.NotNear, false
}

// nearIndex finds the near misses among the supplied wrong answers, with what was decided of them.
func (r *runner) nearIndex(rulings map[rulingKey]protocol.Ruling) map[record.AnswerID]protocol.Ruling {
	index := map[record.AnswerID]protocol.Ruling{}
	for _, m := range r.models {
		for _, d := range r.dataOf(m.Model) {
			questions := map[string]record.Item{}
			for _, item := range d.Items {
				questions[item.ID] = item
			}
			for _, a := range r.collected[settingOf(m.model, d)].Answers {
				if a.ID.Origin.Role != record.PlausibleWrong {
					continue
				}
				item := questions[a.ID.Item]
				reference, near := nearReference(a.Text, item.References)
				if !near {
					continue
				}
				ruling, ruled := rulings[rulingKey{m.Name, d.Name, item.ID}]
				if !ruled {
					ruling = protocol.Undecided
				}
				index[a.ID] = ruling
				r.near = append(r.near, nearMiss{a, item.Question, reference, ruling})
			}
		}
	}
	return index
}

// nearReference is the first reference that the answer equals or contains, or that contains it, after
// the looser normalisation.
func nearReference(answer string, references []string) (string, bool) {
	i := slices.IndexFunc(references, func(ref string) bool { return judge.NearlyCorrect(answer, []string{ref}) })
	if i < 0 {
		return "", false
	}
	return references[i], true
}

// writeNear writes the list that a person decides on.
func (f *folder) writeNear(list []nearMiss) error {
	return f.writeWith(nearFile, func(file *os.File) error {
		w := csv.NewWriter(file)
		rows := [][]string{rulingColumns}
		for _, n := range list {
			id := n.answer.ID
			decided := map[protocol.Ruling]string{protocol.JudgedCorrect: "yes", protocol.JudgedWrong: "no"}[n.ruling]
			rows = append(rows, []string{id.Setting.Model, id.Setting.Dataset, id.Item, table.Neutral(n.question), table.Neutral(n.answer.Text), table.Neutral(n.reference), decided})
		}
		return w.WriteAll(rows)
	})
}
