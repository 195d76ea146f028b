package table_test

import (
	"strings"
	"testing"

	"github.com/credence-lab/credence/internal/table"
)

func TestBatchOutlivesReading(t *testing.T) {
	t.Parallel()
	text := "{\"a\":\"1.5\"}\n{\"a\":\"x\",\"b\":2}\n{\"a\":null,\"c\":\"\"}\n"
	r, err := table.New(strings.NewReader(text), "a.jsonl", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b table.Batch
	for range 3 {
		row, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		b.Add(row)
	}
	_, _ = r.Read()
	b.ParseNumbers([]int{0, 1, 9})
	rows := b.Rows()
	if x, err := rows[0].Cell(0).Float(); x != 1.5 || err != nil {
		t.Errorf("the first number is %v, %v", x, err)
	}
	if got := rows[0].Cell(0).String(); got != "1.5" {
		t.Errorf("its text is %q", got)
	}
	if _, err := rows[1].Cell(0).Float(); err == nil {
		t.Error("a word passes for a number")
	}
	if kind := rows[2].Cell(0).Kind; kind != table.Null {
		t.Errorf("null became %v", kind)
	}
	if at := rows[1].Position(0); at.Line != 2 || at.Name != "a" {
		t.Errorf("the second row is at %v", at)
	}
	b.Reset()
	if len(b.Rows()) != 0 || b.Size() != 0 {
		t.Error("something is left after Reset")
	}
}
