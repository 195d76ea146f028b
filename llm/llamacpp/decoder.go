package llamacpp

// row is one token to decode.
type row struct {
	slot  int
	pos   int
	token int32
	// want asks for the logits of the token that follows.
	want bool
}

// decoder is the loaded model with its cells, as the scheduler sees it. It is used by one goroutine.
// Slots are numbered from 0; a slot's cells hold one text from position 0 without gaps.
type decoder interface {
	// decode computes all rows in one batch. Rows of one slot follow each other, slots rise by one from
	// the first to the last, and all have the same number of rows.
	decode(rows []row) error
	// logits are those of rows[i] of the last decode; valid until the next.
	logits(i int) ([]float32, error)
	// copySlot makes dst hold what src holds. dst is empty before.
	copySlot(src, dst int) error
	// trim keeps the first n tokens of a slot.
	trim(slot, n int) error
	// close frees everything.
	close()
}

// limits are the bounds that a decoder was made with.
type limits struct {
	// slots is the number of texts held at once, cells the tokens of each, rows the tokens of a batch.
	slots, cells, rows int
}
