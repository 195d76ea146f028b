package scores

import (
	"io"
	"sync"

	"github.com/credence-lab/credence/internal/table"
)

// Reading a large file takes longer than one core should be waited for: finding the records, reading
// their numbers and gathering the columns go on beside each other, a batch of rows apart.

const (
	batchRows = 1024
	// batchBytes ends a batch of long rows early, so that memory is bounded by the longest record.
	batchBytes = 1 << 20
	// batchesAhead bounds what is read and not yet added.
	batchesAhead = 4
)

// batch is some rows on their way. After them comes err, if it is set.
type batch struct {
	table.Batch
	parsed sync.WaitGroup
	err    error
}

// ahead hands all further rows of r to add, in their order, until one of them fails. Nothing reads r any
// more when it returns.
func ahead(r *table.Reader, numbers []int, add func(*table.Row) error) error {
	free, filled := make(chan *batch, batchesAhead), make(chan *batch, batchesAhead)
	for range batchesAhead {
		free <- new(batch)
	}
	go func() {
		defer close(filled)
		for b := range free {
			b.fill(r)
			b.parsed.Go(func() { b.ParseNumbers(numbers) })
			filled <- b
			if b.err != nil {
				return
			}
		}
	}()
	err := drain(filled, free, add)
	close(free)
	for b := range filled { // until the reader has stopped
		b.parsed.Wait()
	}
	return err
}

// fill reads rows until the batch is full or reading fails.
func (b *batch) fill(r *table.Reader) {
	b.Reset()
	for n := 0; n < batchRows && b.Size() < batchBytes; n++ {
		var row *table.Row
		if row, b.err = r.Read(); b.err != nil {
			return
		}
		b.Add(row)
	}
}

// drain adds the rows of the batches and gives these back.
func drain(filled <-chan *batch, free chan<- *batch, add func(*table.Row) error) error {
	for b := range filled {
		b.parsed.Wait()
		rows := b.Rows()
		for i := range rows {
			if err := add(&rows[i]); err != nil {
				return err
			}
		}
		if b.err == io.EOF {
			return nil
		}
		if b.err != nil {
			return b.err
		}
		free <- b
	}
	return nil
}
