package table

// Batch is rows that stay valid together, so that one goroutine can read on while another works on them.
// The zero Batch is empty.
type Batch struct {
	rows  []Row
	cells []Cell
	text  []byte
	names *header
}

// Rows are the rows added since the last Reset, valid until the next.
func (b *Batch) Rows() []Row { return b.rows }

// Size is how many bytes of text the rows hold.
func (b *Batch) Size() int { return len(b.text) }

// Reset empties the batch and keeps its room.
func (b *Batch) Reset() { b.rows, b.cells, b.text = b.rows[:0], b.cells[:0], b.text[:0] }

// Add copies a row. Earlier rows keep what they hold, even where the room has to grow.
func (b *Batch) Add(row *Row) {
	copied := *row
	copied.names = b.header(row.names)
	from := len(b.cells)
	b.cells = append(b.cells, row.cells...)
	copied.cells = b.cells[from:len(b.cells):len(b.cells)]
	for i := range copied.cells {
		c := &copied.cells[i]
		if c.text == nil {
			continue
		}
		start := len(b.text)
		b.text = append(b.text, c.text...)
		c.text = b.text[start:len(b.text):len(b.text)]
	}
	b.rows = append(b.rows, copied)
}

// header is a copy of the header as it is now: a reader of JSONL goes on adding to its own.
func (b *Batch) header(h *header) *header {
	if b.names == nil || len(b.names.names) != len(h.names) {
		b.names = &header{names: h.names[:len(h.names):len(h.names)]}
	}
	return b.names
}

// ParseNumbers reads the numbers in the given columns ahead of [Cell.Float]. What is no number is left
// for that to report.
func (b *Batch) ParseNumbers(columns []int) {
	for i := range b.rows {
		for _, column := range columns {
			c := b.rows[i].Cell(column)
			if c.Kind != Number && c.Kind != Text || c.binary {
				continue
			}
			c.num, c.parsed = shortDecimal(c.text)
			// Words are common where values are missing, and dear to refuse.
			if !c.parsed && beginsDecimal(c.text) {
				x, err := ParseFloat(c.text)
				c.num, c.parsed = x, err == nil
			}
		}
	}
}
