package study

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/internal/await"
	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/record"
)

// importedJudge takes what another program, or somebody with a spreadsheet, said of the answers of a run.
const importedJudge = "imported"

// importedJudges are the judges that read a file, in order.
func (f *File) importedJudges() []judge.ID {
	var list []judge.ID
	for _, text := range f.Judges {
		if id, err := judge.ParseID(text); err == nil && id.Judge == importedJudge {
			list = append(list, id)
		}
	}
	return list
}

// checkImport says what is wrong with the file of a judge.
func (f *File) checkImport(node string, id judge.ID) error {
	if f.Imported[id.Name] != "" {
		return nil
	}
	hint := fmt.Sprintf("add \"imported: {%s: FILE}\" with the file of its judgements", id.Name)
	if len(f.Imported) > 0 {
		hint = hintFor(id.Name, slices.Sorted(maps.Keys(f.Imported))) + ", or " + hint
	}
	return f.at.errorf(node, hint, "the judge %q has no file", id)
}

// checkImports refuses files that nothing reads.
func (f *File) checkImports() error {
	judges := f.importedJudges()
	for _, name := range slices.Sorted(maps.Keys(f.Imported)) {
		node := "$.imported." + name
		if !slices.ContainsFunc(judges, func(id judge.ID) bool { return id.Name == name }) {
			return f.at.errorf(node, fmt.Sprintf("add \"imported:%s\" to judges, with a threshold such as @0.5 if the file has scores; or remove it", name), "no judge reads the imported file %q", name)
		}
		if f.Imported[name] == "" {
			return f.at.errorf(node, "write its path, relative to the study file", "%q has no file", name)
		}
	}
	return nil
}

// rebaseImports changes the paths of imported files.
func (f *File) rebaseImports(change func(string) string) {
	kept := make(map[string]string, len(f.Imported)) // a copy of a study shares the map
	for name, path := range f.Imported {
		kept[name] = change(path)
	}
	if f.Imported != nil {
		f.Imported = kept
	}
}

// imported is the file of one name, read before anything is asked and held against the answers afterwards.
type imported struct {
	name, path, sha256 string
	// scores and verdicts say which of the two the study's judges read.
	scores, verdicts bool
	of               map[importedKey][]importedRow
	rows             int
	// repeated rows say what another says of the same answer; beyond are about items that a limit leaves out.
	repeated, beyond int
	notes            []string
	// answers of the run, and those of them without a row.
	answers, without int
}

// importedKey names the one answer of a setting to an item whose uncertainty is quantified.
type importedKey struct {
	setting record.Setting
	item    string
}

// importedRow is what a row says.
type importedRow struct {
	// answer is the text that was judged, as the file has it and without what keeps spreadsheets from formulas.
	answer, plain string
	score         record.Number
	verdict       record.Verdict
	// noVerdict says why there is none.
	noVerdict record.Missing
	at        table.Position
}

// says reports whether two rows say the same.
func (a importedRow) says(b importedRow) bool {
	return a.score == b.score && a.verdict == b.verdict && a.noVerdict == b.noVerdict
}

// readImports reads all imported files, so that what is wrong with one is said before the first call.
func (r *runner) readImports(ctx context.Context) error {
	r.imports = map[string]*imported{}
	judges := r.file.importedJudges()
	if len(judges) == 0 {
		return nil
	}
	places := r.importPlaces()
	for _, id := range judges {
		file := r.imports[id.Name]
		if file != nil {
			continue
		}
		file = &imported{name: id.Name, path: r.file.Imported[id.Name], of: map[importedKey][]importedRow{}}
		for _, other := range judges {
			if other.Name == id.Name {
				file.scores = file.scores || other.Cut.Rule != judge.NoCut
				file.verdicts = file.verdicts || other.Cut.Rule == judge.NoCut
			}
		}
		if _, err := await.Result(ctx, func() (struct{}, error) { return struct{}{}, r.readImport(file, places) }); err != nil {
			return err
		}
		r.imports[id.Name] = file
		if r.options.Note != nil {
			for _, note := range file.notes {
				r.options.Note("imported file "+id.Name, note)
			}
		}
	}
	return nil
}

// importPlaces are the settings in which each item is asked.
func (r *runner) importPlaces() map[string][]record.Setting {
	places := map[string][]record.Setting{}
	for _, m := range r.file.Models {
		for _, d := range r.dataOf(m) {
			for _, item := range d.Items {
				places[item.ID] = append(places[item.ID], record.Setting{Model: m.Name, Dataset: d.Name})
			}
		}
	}
	return places
}

// joinImports holds the imported rows against the answers of the run. A row about another text than the run's
// answer is refused: its judgement would be used for what nobody judged.
func (r *runner) joinImports() error {
	for _, id := range r.file.importedJudges() {
		file := r.imports[id.Name]
		file.answers, file.without = 0, 0
		for _, m := range r.models {
			for _, d := range r.dataOf(m.Model) {
				setting := settingOf(m.model, d)
				for _, u := range r.uncertain[setting] {
					if err := file.join(importedKey{setting, u.Item}, u.Answer.Answer); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (file *imported) join(key importedKey, answer record.Answer) error {
	rows := file.of[key]
	file.answers++
	if len(rows) == 0 {
		file.without++
	}
	for _, row := range rows {
		if text := judge.AnswerText(answer.Text); row.answer == text || row.plain == text {
			continue
		}
		problem := fmt.Sprintf("item %q of %s has the answer %q in this run, and this row judges %q", clipped(key.item), key.setting, clipped(answer.Text), clipped(row.answer))
		if answer.Missing != record.Present {
			problem = fmt.Sprintf("item %q of %s has no answer in this run (%s), and this row judges %q", clipped(key.item), key.setting, answer.Missing, clipped(row.answer))
		}
		return &table.Error{Position: row.at, Problem: problem, Advice: "judge the answers of this run, which answers.parquet has, or remove the row"}
	}
	return nil
}

// byImport is what the file says of an answer.
func (r *runner) byImport(id judge.ID, item string, answer record.Answer) record.Judgement {
	j := record.Judgement{Answer: answer.ID, Judge: id.String()}
	rows := r.imports[id.Name].of[importedKey{answer.ID.Setting, item}]
	switch {
	case answer.Missing != record.Present:
		j.Missing = record.AnswerMissing
	case len(rows) == 0:
		j.Missing = judge.NotInFile
	case id.Cut.Rule == judge.NoCut:
		j.Verdict, j.Missing = rows[0].verdict, rows[0].noVerdict
	default:
		j = byScore(id, j, rows[0].score)
	}
	return j
}

// importWords say what a judge reads of its file.
func importWords(id judge.ID) string {
	what := "the verdicts of the column " + correctColumn
	if id.Cut.Rule != judge.NoCut {
		what = "the scores of the column " + scoreColumn
	}
	return what + " of the imported file of that name; joined by item and by answer, whose text is equal after NFC and without blanks at its edges"
}

// importedOnCard are the files that the study's judges read.
func (r *runner) importedOnCard() []card.Import {
	var list []card.Import
	for _, name := range slices.Sorted(maps.Keys(r.imports)) {
		file := r.imports[name]
		list = append(list, card.Import{
			Name: name, File: filepath.Base(file.path), Rows: file.rows, SHA256: file.sha256,
			Answers: file.answers, Without: file.without, Notes: file.notes,
		})
	}
	return list
}
