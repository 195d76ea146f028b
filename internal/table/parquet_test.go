package table_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/credence-lab/credence/internal/table"
)

type parquetRow struct {
	ID      string   `parquet:"id"`
	Score   float64  `parquet:"score"`
	Stated  float32  `parquet:"stated"`
	Correct *int32   `parquet:"correct,optional"`
	Aliases []string `parquet:"aliases,list"`
	Deep    struct {
		Yes bool `parquet:"yes"`
	} `parquet:"deep"`
	Price int64 `parquet:"price,decimal(2:10)"`
}

func parquetFile(t *testing.T, rows []parquetRow, perGroup int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[parquetRow](&b, parquet.MaxRowsPerRowGroup(int64(perGroup)), parquet.Compression(&parquet.Zstd))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func someRows() []parquetRow {
	one := int32(1)
	rows := []parquetRow{
		{ID: "a", Score: math.NaN(), Stated: .7, Correct: &one, Aliases: []string{"x", "y"}, Price: 1234},
		{ID: "b", Score: .2, Stated: .3},
		{ID: "c", Score: math.Inf(-1), Stated: 1, Correct: &one, Aliases: []string{""}, Price: -5},
	}
	rows[1].Deep.Yes = true
	return rows
}

var someCells = [][]string{
	{"a", "<NaN>", "<0.7>", "<1>", `<["x","y"]>`, "<false>", "<1234e-2>"},
	{"b", "<0.2>", "<0.3>", "<null>", "<[]>", "<true>", "<0e-2>"},
	{"c", "<-Inf>", "<1>", "<1>", `<[""]>`, "<false>", "<-5e-2>"},
}

// TestParquet: every kind of cell, over several row groups, from a file and from a stream. A NaN, first
// or not, hides no row (F17).
func TestParquet(t *testing.T) {
	t.Parallel()
	data := parquetFile(t, someRows(), 2)
	path := filepath.Join(t.TempDir(), "a.parquet")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := table.Open(path, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := table.New(io.MultiReader(bytes.NewReader(data)), "-", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*table.Reader{"file": file, "stream": stream} {
		columns := []string{"id", "score", "stated", "correct", "aliases", "deep.yes", "price"}
		if diff := cmp.Diff(columns, r.Columns()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		var got [][]string
		for {
			row, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			var cells []string
			for i := range columns {
				cells = append(cells, show(row.Cell(i)))
			}
			got = append(got, cells)
			if want := r.Name() + `: row ` + string(rune('0'+row.Number)) + `, column "score"`; row.Position(1).String() != want {
				t.Errorf("position %s, want %s", row.Position(1), want)
			}
		}
		if diff := cmp.Diff(someCells, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestParquetSelect(t *testing.T) {
	t.Parallel()
	r, err := table.New(bytes.NewReader(parquetFile(t, someRows(), 3)), "a.parquet", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Select(2)
	row, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	if row.Cell(0).Kind != table.Absent || show(row.Cell(2)) != "<0.7>" {
		t.Errorf("got %s, %s", show(row.Cell(0)), show(row.Cell(2)))
	}
}

// TestParquetDamaged: a file that is cut or has a byte flipped anywhere is an error or is read, and never a crash.
func TestParquetDamaged(t *testing.T) {
	t.Parallel()
	whole := parquetFile(t, someRows(), 2)
	for i := range whole {
		for _, data := range [][]byte{whole[:i], flipped(whole, i)} {
			_, err := readBytes("a.parquet", data)
			var e *table.Error
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
}

func flipped(b []byte, i int) []byte {
	c := bytes.Clone(b)
	c[i] ^= 0x5a
	return c
}

// readBytes reads everything and returns the number of rows.
func readBytes(name string, data []byte) (int, error) {
	r, err := table.New(bytes.NewReader(data), name, table.Options{MaxRecord: 1 << 16})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for {
		row, err := r.Read()
		if err == io.EOF {
			return r.Rows(), nil
		}
		if err != nil {
			return r.Rows(), err
		}
		for i := range r.Columns() {
			_ = row.Cell(i).String()
		}
	}
}
