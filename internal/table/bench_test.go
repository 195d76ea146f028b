package table_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/credence-lab/credence/internal/table"
)

// benchRow is a row of a scores file: a label and four scores with all their digits.
type benchRow struct {
	Correct int32   `parquet:"correct"`
	A       float64 `parquet:"a"`
	B       float64 `parquet:"b"`
	C       float64 `parquet:"c"`
	D       float64 `parquet:"d"`
}

func benchRows(n int) []benchRow {
	g := rand.New(rand.NewPCG(1, 2))
	rows := make([]benchRow, n)
	for i := range rows {
		rows[i] = benchRow{int32(g.IntN(2)), g.Float64(), g.Float64(), g.Float64(), g.Float64()}
	}
	return rows
}

// BenchmarkRead reads 100,000 rows of a label and four scores and takes every number.
func BenchmarkRead(b *testing.B) {
	const n = 100_000
	rows := benchRows(n)
	var csv, jsonl, pq bytes.Buffer
	csv.WriteString("correct,a,b,c,d\n")
	for _, r := range rows {
		fmt.Fprintf(&csv, "%d,%v,%v,%v,%v\n", r.Correct, r.A, r.B, r.C, r.D)
		fmt.Fprintf(&jsonl, "{\"correct\":%d,\"a\":%v,\"b\":%v,\"c\":%v,\"d\":%v}\n", r.Correct, r.A, r.B, r.C, r.D)
	}
	w := parquet.NewGenericWriter[benchRow](&pq)
	if _, err := w.Write(rows); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	for name, data := range map[string][]byte{"a.csv": csv.Bytes(), "a.jsonl": jsonl.Bytes(), "a.parquet": pq.Bytes()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if got := sum(b, name, data); got != n {
					b.Fatalf("%d rows", got)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

func sum(b *testing.B, name string, data []byte) int {
	r, err := table.New(bytes.NewReader(data), name, table.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for {
		row, err := r.Read()
		if err == io.EOF {
			return r.Rows()
		}
		if err != nil {
			b.Fatal(err)
		}
		for i := range 5 {
			if _, err := row.Cell(i).Float(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
