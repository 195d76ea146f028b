package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/record"
)

// A benchmark is the layout of a published benchmark file, with what its readers usually get wrong.
type benchmark struct {
	name string
	// columns that the file has; the item function gets their indices in this order.
	columns []string
	item    func(b *benchmarkBuilder, row *table.Row, at []int) (record.Item, error)
	// head is put before a file that comes without a header; nil where files always have one.
	head func(start []byte) string
	// array says that the file is one JSON array of objects.
	array bool
}

// benchmarks that can be read as they are published.
var benchmarks = []benchmark{
	{name: "commonsenseqa", columns: []string{"id", "answerKey", "question"}, item: commonsenseItem},
	{name: "gsm8k", columns: []string{"question", "answer"}, item: gsm8kItem},
	{name: "mmlu", columns: []string{"question", "choice0", "choice1", "choice2", "choice3", "answer"}, item: mmluItem, head: mmluHead},
	{name: "nq-open", columns: []string{"question", "answer", "def_correct_predictions", "def_incorrect_predictions"}, item: nqItem},
	{name: "simpleqa-verified", columns: []string{"original_index", "problem", "answer", "topic"}, item: simpleItem},
	{name: "svamp", columns: []string{"ID", "Body", "Question", "Answer", "Type"}, item: svampItem, array: true},
	{name: "triviaqa", columns: []string{"context", "answer", "aliases"}, item: triviaItem},
	{name: "truthfulqa", columns: []string{"Category", "Question", "Best Answer", "Correct Answers", "Incorrect Answers"}, item: truthfulItem},
}

// Benchmarks are the names of the layouts that [ReadBenchmark] knows.
func Benchmarks() []string {
	var names []string
	for _, b := range benchmarks {
		names = append(names, b.name)
	}
	return names
}

// ReadBenchmark reads a published benchmark file in the layout of that name; see [Benchmarks]. Every row
// becomes an item or the reading fails, as with [Read]; what was mended on the way stands in the notes.
func ReadBenchmark(path, layout string) (Dataset, error) {
	file, err := os.Open(path)
	if err != nil {
		var p *os.PathError
		what := err.Error()
		if errors.As(err, &p) {
			what = p.Err.Error()
		}
		return Dataset{}, &table.Error{Position: table.Position{File: path}, Problem: what, Advice: "name the file, or the folder of the benchmark files with --data"}
	}
	defer func() { _ = file.Close() }()
	return ReadBenchmarkFrom(file, path, layout)
}

// ReadBenchmarkFrom is [ReadBenchmark] from a stream; name stands in messages.
func ReadBenchmarkFrom(src io.Reader, name, layout string) (Dataset, error) {
	i := slices.IndexFunc(benchmarks, func(b benchmark) bool { return b.name == layout })
	if i < 0 {
		return Dataset{}, fmt.Errorf("there is no benchmark layout %q: there are %s", layout, strings.Join(Benchmarks(), ", "))
	}
	form := benchmarks[i]
	options := table.Options{Strict: true}
	lines := 0 // that were put before the file
	if form.array {
		lined, err := arrayLines(src, name)
		if err != nil {
			return Dataset{}, err
		}
		src, options.Format = lined, table.JSONL
	}
	if form.head != nil {
		start := bufio.NewReaderSize(src, headPeek)
		peeked, _ := start.Peek(headPeek)
		src = start
		if head := form.head(peeked); head != "" {
			src, lines, options.Format = io.MultiReader(strings.NewReader(head+"\n"), start), 1, table.CSV
		}
	}
	d, err := readRows(src, name, form, options)
	return d, shifted(err, lines)
}

const headPeek = 4096

// shifted takes the lines that were put before a file off the place of an error.
func shifted(err error, lines int) error {
	var e *table.Error
	if lines > 0 && errors.As(err, &e) && e.Position.Line > lines {
		moved := *e
		moved.Position.Line -= lines
		return &moved
	}
	return err
}

func readRows(src io.Reader, name string, form benchmark, options table.Options) (Dataset, error) {
	r, err := table.New(src, name, options)
	if err != nil {
		return Dataset{}, err
	}
	defer r.Close()
	b := &benchmarkBuilder{mended: map[string]int{}, seen: map[string]table.Position{}}
	var at []int
	for _, column := range form.columns {
		i, err := r.Lookup(column)
		if err != nil {
			return Dataset{}, fmt.Errorf("%w (the layout %s has it)", err, form.name)
		}
		at = append(at, i)
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Dataset{}, err
		}
		item, err := form.item(b, row, at)
		if err == nil {
			err = b.check(&item, row, at[0])
		}
		if err != nil {
			return Dataset{}, err
		}
		b.items = append(b.items, item)
	}
	return b.dataset(name, r, form.name), nil
}

// benchmarkBuilder gathers items and counts what it mended.
type benchmarkBuilder struct {
	items  []record.Item
	mended map[string]int
	kinds  []string
	seen   map[string]table.Position
}

func (b *benchmarkBuilder) mend(what string) {
	if b.mended[what] == 0 {
		b.kinds = append(b.kinds, what)
	}
	b.mended[what]++
}

// check holds every item to what all items are held to.
func (b *benchmarkBuilder) check(item *record.Item, row *table.Row, column int) error {
	if item.ID == "" {
		item.ID = "row-" + strconv.Itoa(row.Number)
	}
	if earlier, twice := b.seen[item.ID]; twice {
		return row.Errorf(column, "give each item an id of its own", "duplicate id %q, it is already at %s", item.ID, earlier)
	}
	b.seen[item.ID] = row.Position(column)
	switch {
	case item.Question == "":
		return row.Errorf(column, "write one, or remove the row", "no question")
	case len(item.References) == 0 || item.References[0] == "":
		return row.Errorf(column, "write at least one accepted answer, or remove the row", "no answer")
	}
	item.Incorrect = slices.DeleteFunc(item.Incorrect, func(wrong string) bool {
		if slices.Contains(item.References, wrong) {
			b.mend("an answer listed both as correct and as incorrect is taken as correct")
			return true
		}
		return false
	})
	return nil
}

func (b *benchmarkBuilder) dataset(name string, r *table.Reader, layout string) Dataset {
	notes := []string{"read in the layout " + layout}
	for _, kind := range b.kinds {
		notes = append(notes, fmt.Sprintf("%s (%d times)", kind, b.mended[kind]))
	}
	for _, n := range r.Notes() {
		notes = append(notes, n.String())
	}
	return Dataset{Name: nameOf(name), Items: b.items, SHA256: Hash(b.items), Source: name, Notes: notes}
}

// parts splits a cell at semicolons, without blanks, empty parts and repeats.
func parts(texts ...string) []string {
	var list []string
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ";") {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(list, part) {
				list = append(list, part)
			}
		}
	}
	return list
}

// texts reads the single texts of several columns.
func texts(row *table.Row, at []int) ([]string, error) {
	list := make([]string, len(at))
	for i, column := range at {
		var err error
		if list[i], err = one(row, column); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// truthfulItem: lists are divided by semicolons and may end in one; the best answer is the canonical one
// and need not be in the list.
func truthfulItem(_ *benchmarkBuilder, row *table.Row, at []int) (record.Item, error) {
	t, err := texts(row, at)
	if err != nil {
		return record.Item{}, err
	}
	references := parts(t[3])
	if t[2] != "" {
		references = append([]string{t[2]}, slices.DeleteFunc(references, func(s string) bool { return s == t[2] })...)
	}
	return record.Item{Field: t[0], Question: t[1], References: references, Incorrect: parts(t[4])}, nil
}

// triviaItem: the question stands in a wrapper, and aliases may be cut within a character. The first
// listed alias stays the second reference even where it repeats the answer: "Same Answer, Different
// Confidence", appendix I, compares the two.
func triviaItem(b *benchmarkBuilder, row *table.Row, at []int) (record.Item, error) {
	context, err := one(row, at[0])
	if err != nil {
		return record.Item{}, err
	}
	answer, err := one(row, at[1])
	if err != nil {
		return record.Item{}, err
	}
	aliases, ok := jsonList(row.Cell(at[2]).Bytes())
	if !ok {
		return record.Item{}, row.Errorf(at[2], "use a list of texts", "aliases that are no list of texts")
	}
	item := record.Item{Question: strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(context, "Question:"), "Answer:"))}
	for i, text := range append([]string{answer}, aliases...) {
		text = strings.TrimSpace(text)
		switch {
		case text == "" || i != 1 && slices.Contains(item.References, text):
		case strings.ContainsRune(text, utf8.RuneError):
			b.mend("an alias cut within a character is left out")
		default:
			item.References = append(item.References, text)
		}
	}
	return item, nil
}

// mmluHead is the header of a file that comes without one, as the first release does.
func mmluHead(start []byte) string {
	if bytes.HasPrefix(start, []byte("\x1f\x8b")) || bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")) {
		return "" // compressed: the header cannot be looked at, and is taken to be there
	}
	start = bytes.TrimPrefix(start, []byte("\ufeff"))
	line, _, _ := bytes.Cut(start, []byte("\n"))
	if strings.HasPrefix(strings.ToLower(string(line)), "question,") && bytes.HasSuffix(bytes.TrimSpace(bytes.ToLower(line)), []byte(",answer")) {
		return ""
	}
	return "question,choice0,choice1,choice2,choice3,answer"
}

// mmluItem: the gold is a number from 0 or a letter; the accepted answer is the text of that choice.
func mmluItem(b *benchmarkBuilder, row *table.Row, at []int) (record.Item, error) {
	t, err := texts(row, at)
	if err != nil {
		return record.Item{}, err
	}
	gold := strings.IndexByte("ABCD", strings.ToUpper(t[5] + " ")[0])
	if n, err := strconv.Atoi(t[5]); err == nil {
		gold = n
	} else if len(t[5]) != 1 {
		gold = -1
	}
	if gold < 0 || gold > 3 {
		return record.Item{}, row.Errorf(at[5], "use 0 to 3 or A to D", "gold %q names no choice", t[5])
	}
	item := record.Item{Question: t[0], Choices: t[1:5], References: []string{t[1+gold]}}
	if t[1+gold] == "" {
		return record.Item{}, row.Errorf(at[1+gold], "write the choice", "the accepted choice is empty")
	}
	b.repeated(item)
	return item, nil
}

// repeated notes choices that occur twice: their letters stay, and an item whose accepted text is one of
// them cannot be asked for a letter.
func (b *benchmarkBuilder) repeated(item record.Item) {
	gold := 0
	for i, choice := range item.Choices {
		if choice == item.References[0] {
			gold++
		}
		if slices.Contains(item.Choices[:i], choice) {
			b.mend("a choice occurs twice")
		}
	}
	if gold > 1 {
		b.mend("the accepted choice occurs twice, so the item has no letter")
	}
}
