package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/credence-lab/credence/internal/table"
)

// contents is everything that a table says of itself, in a form that tests can compare.
type contents struct {
	Columns []string
	Rows    [][]string
	Notes   []string
}

// read reads a whole table. A cell that is not text shows its kind.
func read(t *testing.T, name, text string, o table.Options) (contents, error) {
	t.Helper()
	r, err := table.New(strings.NewReader(text), name, o)
	if err != nil {
		return contents{}, err
	}
	defer r.Close()
	var c contents
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return c, err
		}
		var cells []string
		for i := range r.Columns() {
			cells = append(cells, show(row.Cell(i)))
		}
		c.Rows = append(c.Rows, cells)
	}
	c.Columns = r.Columns()
	for _, n := range r.Notes() {
		c.Notes = append(c.Notes, n.String())
	}
	return c, nil
}

func show(c *table.Cell) string {
	switch c.Kind {
	case table.Text:
		return c.String()
	case table.Null:
		return "<null>"
	case table.Absent:
		return "<absent>"
	}
	return "<" + c.String() + ">"
}

func TestRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, text string
		want             contents
	}{
		{"byte order mark (F01)", "a.csv", "\xef\xbb\xbfid,answer\n1,x\n", contents{
			Columns: []string{"id", "answer"}, Rows: [][]string{{"1", "x"}},
		}},
		{"byte order mark before a record", "a.jsonl", "\xef\xbb\xbf{\"id\":1}\n", contents{
			Columns: []string{"id"}, Rows: [][]string{{"<1>"}},
		}},
		{"literals that are no JSON (F02)", "a.jsonl",
			"{\"id\":1,\"score\":NaN,\"note\":\"NaN means none\"}\n{\"id\":2,\"score\":-Infinity,\"note\":\"\"}\n", contents{
				Columns: []string{"id", "score", "note"},
				Rows:    [][]string{{"<1>", "<NaN>", "NaN means none"}, {"<2>", "<-Infinity>", ""}},
			}},
		{"only LF ends a record (F03)", "a.jsonl", "{\"a\":\"x\u0085y\u2028z\"}\r\n{\"a\":\"2\"}", contents{
			Columns: []string{"a"}, Rows: [][]string{{"x\u0085y\u2028z"}, {"2"}},
		}},
		{"record cut by a kill, then a whole one (F05)", "a.jsonl",
			"{\"id\":1,\"text\":\"abc{\"id\": 1, \"text\":\"abc def\"}\n{\"id\":2,\"text\":\"g\"}\n", contents{
				Columns: []string{"id", "text"}, Rows: [][]string{{"<1>", "abc def"}, {"<2>", "g"}},
				Notes: []string{`1 record skipped: a.jsonl:1:1: a record cut short ('i' where ',' is wanted or '}' after a value), with a whole one behind it on the same line`},
			}},
		{"cut inside a key, then a whole one", "a.jsonl", "{\"id\":0}\n{\"i{\"id\":1}\n", contents{
			Columns: []string{"id"}, Rows: [][]string{{"<0>"}, {"<1>"}},
			Notes: []string{`1 record skipped: a.jsonl:2:1: a record cut short ('i' where ':' is wanted after a key), with a whole one behind it on the same line`},
		}},
		{"a nested object is no record", "a.jsonl", "{\"id\":0}\n{\"id\":1 \"in\":{\"id\":5}}\n", contents{
			Columns: []string{"id"}, Rows: [][]string{{"<0>"}},
			Notes: []string{`1 record skipped: a.jsonl:2:9: '"' where ',' is wanted or '}' after a value`},
		}},
		{"two whole records on a line", "a.jsonl", "{\"id\":1}{\"id\":2}\n", contents{
			Columns: []string{"id"}, Rows: [][]string{{"<1>"}, {"<2>"}},
		}},
		{"rubbish after a record", "a.jsonl", "{\"id\":1}xyz\n{\"id\":2}\n", contents{
			Columns: []string{"id"}, Rows: [][]string{{"<1>"}, {"<2>"}},
			Notes: []string{`1 record skipped: a.jsonl:1:9: 'x' where '{' is wanted at the beginning of a record`},
		}},
		{"broken line in the middle (F06)", "a.jsonl", "{\"id\":1}\n{\"id\":\n{\"id\":3}\n", contents{
			Columns: []string{"id"}, Rows: [][]string{{"<1>"}, {"<3>"}},
			Notes: []string{`1 record skipped: a.jsonl:2:7: the record ends where a value is wanted`},
		}},
		{"number without exponent", "a.jsonl", "{\"s\":1e-}\n{\"s\":2}\n", contents{
			Columns: []string{"s"}, Rows: [][]string{{"<2>"}},
			Notes: []string{`1 record skipped: a.jsonl:1:6: "1e-" is no number`},
		}},
		{"NUL bytes in a line", "a.jsonl", "{\"s\":1}\n\x00\x00\x00\n{\"s\":2}\n", contents{
			Columns: []string{"s"}, Rows: [][]string{{"<1>"}, {"<2>"}},
			Notes: []string{`1 record skipped: a.jsonl:2:1: '\x00' where '{' is wanted at the beginning of a record`},
		}},
		{"lone surrogate (F07)", "a.jsonl", "{\"a\":\"x\\ud835y\"}\n{\"a\":\"\\ud835\\udfd8\"}\n", contents{
			Columns: []string{"a"}, Rows: [][]string{{"x\uFFFDy"}, {"\U0001D7D8"}},
			Notes: []string{`1 cell with a character replaced by U+FFFD: a.jsonl:1:6: a lone surrogate, or bytes that are not UTF-8`},
		}},
		{"key that occurs twice", "a.jsonl", "{\"a\":1,\"a\":2}\n{\"a\":3}\n", contents{
			Columns: []string{"a"}, Rows: [][]string{{"<3>"}},
			Notes: []string{`1 record skipped: a.jsonl:1:8: key "a" occurs twice in the record`},
		}},
		{"keys that come and go", "a.jsonl", "{\"a\":1}\n{\"b\":[1,\"x\"],\"c\":true}\n{\"a\":null}\n", contents{
			Columns: []string{"a", "b", "c"},
			Rows:    [][]string{{"<1>", "<absent>", "<absent>"}, {"<absent>", `<[1,"x"]>`, "<true>"}, {"<null>", "<absent>", "<absent>"}},
		}},
		{"mixed line ends", "a.csv", "a,b\r\n1,2\n3,4\r5,6\n", contents{
			Columns: []string{"a", "b"}, Rows: [][]string{{"1", "2"}, {"3", "4"}, {"5", "6"}},
			Notes: []string{"line ends are mixed, each was taken as one: a.csv:2: LF here, CRLF before"},
		}},
		{"cut row", "a.csv", "a,b\n1,2\n3\n5,6,7\n8,9", contents{
			Columns: []string{"a", "b"}, Rows: [][]string{{"1", "2"}, {"8", "9"}},
			Notes: []string{"2 records skipped: a.csv:3: 1 cell where the header has 2; a.csv:4:5: 3 cells where the header has 2"},
		}},
		{"quotes", "a.csv", "a,b\n\"x\"\"y\r\nz\", 2\"in\"\n\"\",\"a,b\" \n", contents{
			Columns: []string{"a", "b"}, Rows: [][]string{{"x\"y\r\nz", " 2\"in\""}, {"", "a,b"}},
		}},
		{"Latin 1", "a.csv", "a\ncaf\xe9\n", contents{
			Columns: []string{"a"}, Rows: [][]string{{"caf\uFFFD"}},
			Notes: []string{"1 cell with a character replaced by U+FFFD: a.csv:2:1: text that is not UTF-8 (convert the file: iconv -f WINDOWS-1252 -t UTF-8)"},
		}},
		{"semicolons", "a.csv", "a;b\n0,5;1\n", contents{Columns: []string{"a", "b"}, Rows: [][]string{{"0,5", "1"}}}},
		{"tabs by name", "a.tsv", "a\tb\n0,5\t\"x\ty\"\n", contents{Columns: []string{"a", "b"}, Rows: [][]string{{"0,5", "x\ty"}}}},
		{"blank lines", "a.csv", "\n\na,b\n\n1,2\n\n", contents{Columns: []string{"a", "b"}, Rows: [][]string{{"1", "2"}}}},
		{"a blank line in one column is a row", "a.csv", "a\n1\n\n2\n", contents{Columns: []string{"a"}, Rows: [][]string{{"1"}, {""}, {"2"}}}},
		{"unnamed column", "a.csv", ",b\n1,2\n", contents{Columns: []string{"column 1", "b"}, Rows: [][]string{{"1", "2"}}}},
		{"records without a name that says so", "-", "{\"a\":1}\n", contents{Columns: []string{"a"}, Rows: [][]string{{"<1>"}}}},
		{"records named CSV", "a.csv", "{\"a\":1}\n", contents{Columns: []string{"a"}, Rows: [][]string{{"<1>"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := read(t, tt.file, tt.text, table.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, text, want string
		strict                 bool
	}{
		{"quote left open", "a.csv", "a,b\n1,\"x\n2,y\n", "a.csv:2:3: a quote is left open; close it, or double each quote that belongs to the text", false},
		{"text after a quote", "a.csv", "a,b\n1,\"x\ny\"z\n", "a.csv:3:3: text after a closing quote; double each quote that belongs to the text, and quote the whole cell", false},
		{"duplicate header", "a.csv", "id,b,id\n1,2,3\n", `a.csv:1:6: duplicate header: column "id" is already at line 1, column 1; give each column a name of its own`, false},
		{"empty", "a.csv", "", "a.csv: no rows; the file is empty: is it the right one?", false},
		{"only blank lines", "a.csv", "\n\r\n", "a.csv: no rows; the file is empty: is it the right one?", false},
		{"header alone", "a.csv", "a,b\n", "a.csv: no rows; the file has a header and nothing else: is it the right one?", false},
		{"no record", "a.jsonl", "\n\n", "a.jsonl: no rows; the file holds no record: is it the right one?", false},
		{"all records broken", "a.jsonl", "{\"a\n{\"b\n", "a.jsonl: no row that could be read: 2 records skipped: a.jsonl:1:2: a string is left open; a.jsonl:2:2: a string is left open", false},
		{"NUL", "a.csv", "a,b\n1,x\x00y\n", "a.csv:2:4: a NUL byte; the file is damaged, or not UTF-8 text: write it again, or convert it (iconv -f UTF-16 -t UTF-8)", false},
		{"NUL after a line in a cell", "a.csv", "a,b\n\"1\n2\",\x00\n", "a.csv:3:4: a NUL byte; the file is damaged, or not UTF-8 text: write it again, or convert it (iconv -f UTF-16 -t UTF-8)", false},
		{"UTF-16", "a.csv", "\xff\xfea\x00,\x00", "a.csv: text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8", false},
		{"spreadsheet", "a.csv", "PK\x03\x04xxxx", "a.csv: a zip archive, perhaps a spreadsheet; save the sheet as CSV, or unpack the archive", false},
		{"JSON list", "a.json", "[{\"a\":1}]", "a.json:1: a JSON list where one record a line is wanted; convert it: jq -c '.[]' in.json > out.jsonl", false},
		{"Parquet by name only", "a.parquet", "a,b\n1,2\n", "a.parquet: the name says Parquet, the content does not; is the file complete? it should begin with PAR1", false},
		{"Parquet cut short", "a.parquet", "PAR1 and no more", "", false},
		{"strict: cut row", "a.csv", "a,b\n1,2\n3\n", "a.csv:3: 1 cell where the header has 2; the record looks cut", true},
		{"strict: broken record", "a.jsonl", "{\"a\":1}\n{\"a\":tru}\n", `a.jsonl:2:6: a word that is no JSON, near "tru}"; mend or remove the record`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := read(t, tt.file, tt.text, table.Options{Strict: tt.strict})
			var e *table.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a *table.Error", err)
			}
			if tt.want != "" && err.Error() != tt.want {
				t.Errorf("\n got %s\nwant %s", err, tt.want)
			}
		})
	}
}

// TestLongFields: a field longer than the buffers of common readers is read whole (F08).
func TestLongFields(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x, y\tz ", 200_000/7+1)
	for file, text := range map[string]string{
		"a.csv":   "id,t\n1,\"" + long + "\"\n2,b\n",
		"a.tsv":   "id\tt\n1\t\"" + long + "\"\n2\tb\n",
		"a.jsonl": "{\"id\":\"1\",\"t\":\"" + strings.ReplaceAll(long, "\t", `\t`) + "\"}\n{\"id\":\"2\",\"t\":\"b\"}\n",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			got, err := read(t, file, text, table.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := [][]string{{"1", long}, {"2", "b"}}
			if !cmp.Equal(got.Rows, want) {
				t.Errorf("%d rows, or a field cut", len(got.Rows))
			}
		})
	}
}

// TestNoColumns: a JSONL file in which nothing is a record says what is wrong with it, not that a column
// is missing.
func TestNoColumns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a,b\n1,2\n":      "a.jsonl: no row that could be read: 2 records skipped: a.jsonl:1:1: ",
		"null\nnull\n":    "a.jsonl: no row that could be read: 2 records skipped: a.jsonl:1:1: ",
		"{}\n{\"a\":1}\n": "",
		"{}\n{}\n":        "a.jsonl: no record with a key at the beginning; is this JSONL, one object a line?",
	} {
		_, err := table.New(strings.NewReader(text), "a.jsonl", table.Options{Format: table.JSONL})
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestBound: what an open quote, or a file without line ends, can swallow is bounded.
func TestBound(t *testing.T) {
	t.Parallel()
	for file, text := range map[string]string{
		"a.csv":   "a,b\n1,2\n3,\"" + strings.Repeat("x\n", 1<<20),
		"a.jsonl": "{\"a\":1}\n{\"a\":\"" + strings.Repeat("x", 2<<20),
	} {
		_, err := read(t, file, text, table.Options{MaxRecord: 1 << 20})
		var e *table.Error
		if !errors.As(err, &e) || !strings.Contains(e.Problem, "longer than 1048576 bytes") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestCompressed(t *testing.T) {
	t.Parallel()
	text := "a,b\n1,2\n3,4\n"
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, z} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := [][]string{{"1", "2"}, {"3", "4"}}
	for name, data := range map[string]string{"a.csv.gz": gz.String(), "a.csv.zst": zst.String(), "misnamed": gz.String()} {
		got, err := read(t, name, data, table.Options{})
		if err != nil || !cmp.Equal(got.Rows, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		_, err = read(t, name, data[:len(data)-6], table.Options{})
		var e *table.Error
		if !errors.As(err, &e) || !strings.Contains(e.Problem, "end in the middle") {
			t.Errorf("%s cut: %v", name, err)
		}
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	r, err := table.New(strings.NewReader("a,b\n\"x\ny\",2\n3,4\n"), "a.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, row.Position(0).String(), row.Position(1).String())
	}
	want := []string{"a.csv:2:1", "a.csv:3:4", "a.csv:4:1", "a.csv:4:3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	r, err := table.New(strings.NewReader("question,answer,id\nq,a,1\n"), "a.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if i, err := r.Lookup("answer"); i != 1 || err != nil {
		t.Errorf("answer: %d, %v", i, err)
	}
	_, err = r.Lookup("Answers")
	want := `a.csv: no column "Answers"; did you mean "answer"? the columns are "question", "answer", "id"`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestParseFloat(t *testing.T) {
	t.Parallel()
	good := map[string]float64{"1": 1, " -0.5 ": -.5, "+.5e-3": .0005, "5.": 5, "-inf": math.Inf(-1), "Infinity": math.Inf(1), "1e-400": 0}
	for text, want := range good {
		if got, err := table.ParseFloat([]byte(text)); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if got, err := table.ParseFloat([]byte("NaN")); !math.IsNaN(got) || err != nil {
		t.Errorf("NaN: %v, %v", got, err)
	}
	for _, text := range []string{"", "1e-", "0x1p-2", "1_000", "1,5", "85%", "1e999", "--1", ".", "e5", "-nan", "one", "1 2"} {
		if got, err := table.ParseFloat([]byte(text)); err == nil {
			t.Errorf("%q: read as %v", text, got)
		}
	}
}

// TestWriter: formulas are neutralised, numbers are not, and come back as the same floats (S04).
func TestWriter(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := table.NewWriter(&b)
	numbers := []float64{-0.0231, -1e-7, math.Nextafter(1, 2), -math.MaxFloat64, 5e-324}
	for _, s := range []string{"=1+2", "@SUM(A1)", "-2+3+x", "-0.0231", "plain", "a \"b\", c"} {
		w.Text(s)
	}
	w.Empty()
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	for _, x := range numbers {
		w.Float(x)
	}
	w.Int(-3)
	w.Empty()
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	head := "'=1+2,'@SUM(A1),'-2+3+x,-0.0231,plain,\"a \"\"b\"\", c\",\n"
	if !strings.HasPrefix(b.String(), head) {
		t.Errorf("got %s", b.String())
	}
	r, err := table.New(&b, "a.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	row, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range numbers {
		if got, err := row.Cell(i).Float(); got != want || err != nil {
			t.Errorf("%v came back as %v, %v", want, got, err)
		}
	}
}

func TestStandardInput(t *testing.T) {
	t.Parallel()
	r, err := table.Open("-", table.Options{Stdin: strings.NewReader("a\n1\n")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(); err != nil {
		t.Error(err)
	}
	if _, err := table.Open("-", table.Options{}); err == nil {
		t.Error("standard input was read though there is none")
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, want := range map[string]string{
		dir + "/none.csv": dir + "/none.csv: no such file; check the path",
		dir:               dir + ": a folder where a file is wanted",
	} {
		_, err := table.Open(name, table.Options{})
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// broken fails after its text, as a disk does.
type broken struct{ io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = fmt.Errorf("input/output error")
	}
	return n, err
}

// TestBrokenSource: a failure in the middle of a stream is an error, not an end.
func TestBrokenSource(t *testing.T) {
	t.Parallel()
	for file, text := range map[string]string{
		"a.csv":   "a\n" + strings.Repeat("1\n", 1<<18),
		"a.jsonl": strings.Repeat("{\"a\":1}\n", 1<<16),
	} {
		r, err := table.New(broken{strings.NewReader(text)}, file, table.Options{})
		for err == nil {
			_, err = r.Read()
		}
		if err == io.EOF || !strings.Contains(err.Error(), "input/output error") {
			t.Errorf("%s: %v", file, err)
		}
	}
}
