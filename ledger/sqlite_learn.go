package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// What a dictionary is for.
const (
	forPrompts = "prompt"
	forIDs     = "ids"
)

// learner packs texts of one purpose for a committer, and learns from them: after 32 texts it makes
// a dictionary of the latest ones, and again after 512, 8192 and so on, since a later part of a
// study has other instructions.
type learner struct {
	purpose string
	packer  interface{ pack([]byte) []byte }
	// recent are the latest texts, kept when it is nearly time to learn; seen counts all since the program opened the
	// ledger.
	recent [][]byte
	seen   int
	next   int
}

const (
	firstLearned = 32
	nextLearned  = 16 // times as many
	// learnedTexts of at most learnedBytes each make a dictionary.
	learnedTexts = 16
	learnedBytes = 2048
)

// pack compresses text, and learns from it if it is time to. A dictionary is in the same
// transaction as the first text that needs it.
func (l *learner) pack(c *committer, text []byte) ([]byte, error) {
	if l.packer == nil {
		if err := l.resume(c); err != nil {
			return nil, err
		}
	}
	packed := l.packer.pack(text)
	l.seen++
	if l.next-l.seen < learnedTexts {
		l.recent = append(l.recent, bytes.Clone(text[:min(len(text), learnedBytes)]))
	}
	if l.seen == l.next {
		l.next *= nextLearned
		return packed, l.learn(c)
	}
	return packed, nil
}

// resume takes up the latest dictionary of the ledger.
func (l *learner) resume(c *committer) error {
	l.packer, l.recent, l.seen, l.next = shared, nil, 0, firstLearned
	var id uint32
	var content []byte
	err := c.stmt.findDictionary.QueryRow(l.purpose).Scan(&id, &content)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	l.next *= nextLearned
	l.packer, err = newPacker(id, content, 1)
	return err
}

func (l *learner) learn(c *committer) error {
	content := bytes.Join(l.recent, nil)
	l.recent = nil
	res, err := c.stmt.addDictionary.Exec(l.purpose, content)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	l.packer, err = newPacker(uint32(id), content, 1)
	return err
}

// unpackers has the dictionaries of a ledger that were needed so far, for reading.
type unpackers struct {
	mu   sync.Mutex
	byID map[uint32]packer
}

// unpack is the inverse of any pack of this ledger.
func (s *sqlite) unpack(ctx context.Context, b []byte) ([]byte, error) {
	id := dictionaryOf(b)
	if id <= sharedID {
		return shared.unpack(b)
	}
	s.learned.mu.Lock()
	defer s.learned.mu.Unlock()
	p, ok := s.learned.byID[id]
	if !ok {
		var content []byte
		err := s.reader.QueryRowContext(ctx, "SELECT content FROM dictionary WHERE id = ?", id).Scan(&content)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("dictionary %d is missing", id)
		}
		if err != nil {
			return nil, err
		}
		if p, err = newPacker(id, content, 1); err != nil {
			return nil, err
		}
		if s.learned.byID == nil {
			s.learned.byID = make(map[uint32]packer)
		}
		s.learned.byID[id] = p
	}
	return p.unpack(b)
}
