package table_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/credence-lab/credence/internal/table"
)

// goodError fails unless err is nil or an error that names the file.
func goodError(t *testing.T, err error) {
	t.Helper()
	var e *table.Error
	if err != nil && (!errors.As(err, &e) || e.Position.File == "" || e.Problem == "") {
		t.Fatalf("an error without a place: %v", err)
	}
}

// FuzzCSV: whatever the bytes, no crash, and every cell stands where its position says. Bytes that
// encoding/csv reads too give the same cells.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a,b\r\n\"x\"\"y\r\n\",2", "\xef\xbb\xbfa;b\n1;2", "a\n\n1\n", "a,b\n1,\"", "a,a\n", "a,b\n1\n\x00", "a,b\r1,2\r", "\"a\" ,b\n", "a\tb\n1\t2\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := table.New(bytes.NewReader(data), "a.csv", table.Options{Format: table.CSV, MaxRecord: 1 << 16})
		if err != nil {
			goodError(t, err)
			return
		}
		lines := splitLines(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
		var rows [][]string
		for {
			row, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				goodError(t, err)
				return
			}
			var cells []string
			for i := range r.Columns() {
				cells = append(cells, row.Cell(i).String())
				checkPlace(t, lines, row.Position(i), row.Cell(i).Bytes())
			}
			rows = append(rows, cells)
		}
		if len(r.Notes()) == 0 {
			sameAsStandard(t, data, r.Columns(), rows)
		}
	})
}

// splitLines splits where the reader counts lines: at LF, CRLF and CR.
func splitLines(data []byte) []string {
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
}

// checkPlace: the cell, or the quote before it, begins at its position. Inside quotes a lone CR is
// text, so places in files that have one are not checked.
func checkPlace(t *testing.T, lines []string, p table.Position, cell []byte) {
	t.Helper()
	first, _, _ := strings.Cut(string(cell), "\n")
	first = strings.TrimSuffix(first, "\r")
	if strings.ContainsAny(first, "\r\"\uFFFD") || strings.Contains(strings.Join(lines, ""), "\"") {
		return
	}
	if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > len(lines[p.Line-1])+1 {
		t.Fatalf("position %s lies outside the text", p)
	}
	if !strings.HasPrefix(lines[p.Line-1][p.Column-1:], first) {
		t.Fatalf("%q does not stand at %s", first, p)
	}
}

// sameAsStandard compares with encoding/csv where both mean the same.
func sameAsStandard(t *testing.T, data []byte, columns []string, rows [][]string) {
	t.Helper()
	text := string(data)
	if strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") || strings.HasPrefix(text, "\xef\xbb\xbf") || len(columns) < 2 || len(rows) == 0 {
		return
	}
	header, _, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	if !strings.Contains(header, ",") || strings.Contains(header, "\"") {
		return
	}
	standard := csv.NewReader(strings.NewReader(text))
	want, err := standard.ReadAll()
	if err != nil {
		return
	}
	for i, row := range rows {
		for j := range row {
			// encoding/csv makes LF of a CRLF inside quotes; the bytes are kept here.
			row[j] = strings.ReplaceAll(row[j], "\r\n", "\n")
		}
		if i+1 >= len(want) || !slices.Equal(row, want[i+1]) {
			t.Fatalf("row %d is %q; encoding/csv has %q", i+1, row, want)
		}
	}
	if len(want) != len(rows)+1 {
		t.Fatalf("%d rows, encoding/csv has %d", len(rows), len(want)-1)
	}
}

// FuzzJSONL: no crash; every line of an object that encoding/json reads is a row with the same texts.
func FuzzJSONL(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":"x"}`, "{\"a\":NaN}\n{\"a\":-Infinity}", `{"id":1,"t":"ab{"id":1,"t":"abc"}`, `{"a":"\ud835"}`, `{"a":[1,{"b":null}]}`, `{"a":1}{"a":2}`, "{\"a\":\"x\u2028\"}\r\n", `{"a":1e-}`, `{"a":1,"a":2}`, `{`, "\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := table.New(bytes.NewReader(data), "a.jsonl", table.Options{Format: table.JSONL, MaxRecord: 1 << 16})
		if err != nil {
			goodError(t, err)
			return
		}
		got := map[int][]map[string]string{}
		for {
			row, err := r.Read()
			if err != nil {
				if err != io.EOF {
					goodError(t, err)
				}
				break
			}
			texts := map[string]string{}
			for i, name := range r.Columns() {
				if c := row.Cell(i); c.Kind == table.Text {
					texts[name] = c.String()
				}
			}
			got[row.Line] = append(got[row.Line], texts)
		}
		for i, line := range bytes.Split(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), []byte("\n")) {
			compareLine(t, i+1, line, got[i+1])
		}
	})
}

func compareLine(t *testing.T, n int, line []byte, got []map[string]string) {
	t.Helper()
	var want map[string]any
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) || json.Unmarshal(line, &want) != nil || repeatsKey(line) || depth(line) > 100 {
		return
	}
	if len(got) != 1 {
		t.Fatalf("line %d gave %d rows: %q", n, len(got), line)
	}
	for key, value := range want {
		if s, ok := value.(string); ok && got[0][key] != s {
			t.Fatalf("line %d: %q is %q, want %q", n, key, got[0][key], s)
		}
	}
}

// repeatsKey reports whether the object has a key twice, which the reader refuses.
func repeatsKey(line []byte) bool {
	d := json.NewDecoder(bytes.NewReader(line))
	seen, depth, key := map[string]bool{}, 0, true
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
			key = depth == 1
			continue
		case string:
			if depth == 1 && key {
				if seen[v] {
					return true
				}
				seen[v] = true
			}
		}
		if depth == 1 {
			key = !key
		}
	}
}

func depth(line []byte) int { return bytes.Count(line, []byte("[")) + bytes.Count(line, []byte("{")) }

// FuzzParquet: damaged input of any kind is an error, not a crash.
func FuzzParquet(f *testing.F) {
	f.Add([]byte("PAR1\x00\x00\x00\x00PAR1"))
	f.Add([]byte("PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := readBytes("a.parquet", data)
		goodError(t, err)
	})
}

// FuzzCompressed: the same for gzip and zstd, and for a format found by content.
func FuzzCompressed(f *testing.F) {
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		f.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, z} {
		if _, err := io.WriteString(w, "a,b\n1,2\n"); err != nil {
			f.Fatal(err)
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(gz.Bytes())
	f.Add(zst.Bytes())
	f.Add([]byte("{\"a\":1}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := readBytes("a", data)
		goodError(t, err)
	})
}

// FuzzParseFloat: what is no number gets an error that says so, what only programs write is none, and
// the rest is what strconv makes of it.
func FuzzParseFloat(f *testing.F) {
	for _, s := range []string{"1e-", "-0.5", "nan", "1_0", "0x1p2", "1,5", "+inf", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := table.ParseFloat([]byte(s))
		var e *table.NumberError
		if err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		if err == nil && strings.ContainsAny(s, "xX_pP") {
			t.Fatalf("%q is read as %v", s, x)
		}
		want, wrong := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err == nil && (wrong != nil || math.Float64bits(x) != math.Float64bits(want) && !math.IsNaN(x)) {
			t.Fatalf("%q is read as %v, not as %v (%v)", s, x, want, wrong)
		}
	})
}
