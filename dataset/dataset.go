// Package dataset reads questions: a user's own, as CSV, TSV, JSONL or Parquet with a column mapping,
// and the set that the program carries.
//
// It may change; the stable packages of this module are named in docs/design.md.
package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"strconv"

	"github.com/credence-lab/credence/record"
)

// Dataset is a list of items with what the measurement card says of it.
type Dataset struct {
	// Name is what the set is called in settings and tables.
	Name string
	// Items are in the order of the file. Their ids are unique and not empty.
	Items []record.Item
	// SHA256 is [Hash] of Items.
	SHA256 string
	// Source says where the items come from: "built in", or the path of the file.
	Source string
	// Notes are what a user should know of how the file was read: guessed columns, generated ids,
	// replaced characters. For people; the wording may change.
	Notes []string
}

// Hash is the SHA-256 of the items in canonical encoding, in lower-case hex. It depends on every
// field and on the order of the items, and on nothing else: the same questions from CSV and from
// JSONL have the same hash.
//
// The canonical encoding of an item is id, question, references, incorrect, choices, field, in this
// order; a text is its length in bytes (decimal), ":" and its bytes, a list is its length, "[" and its
// texts. Items follow each other without a separator.
func Hash(items []record.Item) string {
	c := canonical{h: sha256.New()}
	for i := range items {
		it := &items[i]
		c.text(it.ID)
		c.text(it.Question)
		c.list(it.References)
		c.list(it.Incorrect)
		c.list(it.Choices)
		c.text(it.Field)
	}
	return hex.EncodeToString(c.h.Sum(nil))
}

// canonical writes the encoding that Hash describes into a hash, which never fails to take it.
type canonical struct {
	h       hash.Hash
	scratch []byte
}

func (c *canonical) text(s string) {
	c.length(len(s), ':')
	_, _ = io.WriteString(c.h, s)
}

func (c *canonical) list(texts []string) {
	c.length(len(texts), '[')
	for _, s := range texts {
		c.text(s)
	}
}

func (c *canonical) length(n int, mark byte) {
	c.scratch = append(strconv.AppendInt(c.scratch[:0], int64(n), 10), mark)
	_, _ = c.h.Write(c.scratch)
}
