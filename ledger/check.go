package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/credence-lab/credence/llm"
)

// Checkup says what [Check] has found.
type Checkup struct {
	Path string
	// Calls were read whole; their keys and checksums fit.
	Calls int
	// Older of them have a form whose checksum covers less than the whole call, see the package's forms of replies.
	Older int
	// Findings are what is wrong, at most [MostFindings] of it; none for a sound ledger. Found is how many there are.
	Findings []string
	Found    int
}

func (c *Checkup) find(format string, args ...any) {
	c.Found++
	if len(c.Findings) < MostFindings {
		c.Findings = append(c.Findings, fmt.Sprintf(format, args...))
	}
}

// Check reads the ledger in the file path whole, and its log: the structure of the file, and of every call whether
// its key is that of what was asked and its checksums fit. Nothing is changed.
//
// What is wrong with a ledger is in the result. Errors are those of files that are none ([ErrNotLedger], [ErrNewer],
// [ErrReadOnly], or fs.ErrNotExist), and the end of ctx.
func Check(ctx context.Context, path string) (*Checkup, error) {
	c := &Checkup{Path: path}
	if err := probe(path); err != nil {
		if !errors.Is(err, ErrDamaged) {
			return nil, err
		}
		c.find("%v", cause(err))
		return c, nil
	}
	if err := probeLog(path); errors.Is(err, ErrDamaged) {
		c.find("%v", cause(err))
	} else if err != nil {
		return nil, err
	}
	s, err := openReadOnly(path)
	if err != nil {
		if errors.Is(err, ErrNewer) || errors.Is(err, ErrReadOnly) || errors.Is(err, ErrBusy) {
			return nil, err
		}
		c.find("the file cannot be opened: %v", cause(err))
		return c, nil
	}
	c.checkStructure(ctx, s)
	c.checkCalls(ctx, s)
	c.checkRest(ctx, s)
	return c, errors.Join(ctx.Err(), s.Close())
}

// cause is an error without the ledger's name and hint.
func cause(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Err
	}
	return err
}

// checkStructure has SQLite look at its tables and indexes.
func (c *Checkup) checkStructure(ctx context.Context, s *sqlite) {
	rows, err := s.reader.QueryContext(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", MostFindings))
	if err != nil {
		c.find("the structure of the file: %v", err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var said string
		if err := rows.Scan(&said); err != nil {
			c.find("the structure of the file: %v", err)
			return
		}
		if said != "ok" {
			c.find("the structure of the file: %s", said)
		}
	}
	if err := rows.Err(); err != nil && ctx.Err() == nil {
		c.find("the structure of the file: %v", err)
	}
}

// checkCalls reads every call in the order of its row.
func (c *Checkup) checkCalls(ctx context.Context, s *sqlite) {
	rows, err := s.reader.QueryContext(ctx, `SELECT c.key, m.identity, r.hash, r.prompt, d.declared, c.answer, c.seed, c.sample,
		c.generation, c.kind, c.finish, c.reply, c.prefix_id, p.ids, c.observed_id, o.said, c.asked, c.took, `+s.usedColumns()+`
		FROM call c LEFT JOIN model m ON m.id = c.model_id LEFT JOIN request r ON r.id = c.request_id LEFT JOIN decoding d ON d.id = c.decoding_id
		LEFT JOIN prefix p ON p.id = c.prefix_id LEFT JOIN observed o ON o.id = c.observed_id ORDER BY c.id`)
	if err != nil {
		c.find("the calls: %v", err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var w wholeRow
		if err := rows.Scan(&w.reply.key, &w.model, &w.hash, &w.prompt, &w.decoding, &w.answer, &w.seed, &w.sample, &w.generation,
			&w.reply.kind, &w.reply.finish, &w.reply.reply, &w.reply.prefixID, &w.reply.ids, &w.reply.observedID, &w.reply.observed, &w.reply.asked, &w.reply.took,
			&w.reply.used.Prompt, &w.reply.used.Cached, &w.reply.used.Generated); err != nil {
			c.find("a call: %v", err)
			continue
		}
		switch _, err := s.whole(ctx, &w); {
		case ctx.Err() != nil:
			return
		case err != nil:
			c.find("call %x: %v", w.reply.key, err)
		default:
			c.Calls++
			if w.reply.reply[0] != replyBoundWithUse && w.reply.reply[0] != replyBound {
				c.Older++
			}
		}
	}
	if err := rows.Err(); err != nil && ctx.Err() == nil {
		c.find("the calls: %v", err)
	}
}

// wholeRow is a call with the rows that it names. They are NULL where they are not there.
type wholeRow struct {
	model, decoding      sql.NullString
	hash, prompt, answer []byte
	seed                 int64
	sample, generation   int
	reply                replyColumns
}

// whole puts a call together and checks it: its key, its checksums, the hash of its prompt.
func (s *sqlite) whole(ctx context.Context, w *wholeRow) (Call, error) {
	c := Call{Generation: w.generation, Used: w.reply.used,
		Asked: time.UnixMilli(w.reply.asked).UTC(), Took: time.Duration(w.reply.took) * time.Microsecond}
	if copy(c.Key[:], w.reply.key) != len(c.Key) || len(w.reply.key) != len(c.Key) {
		return c, fmt.Errorf("its key has %d bytes", len(w.reply.key))
	}
	if !w.model.Valid || !w.decoding.Valid || w.prompt == nil {
		return c, errRowGone
	}
	var err error
	if c.Reply, err = s.decode(ctx, w.reply); err != nil {
		return c, err
	}
	if c.Request, err = s.decodeRequest(ctx, w.decoding.String, w.hash, w.prompt, w.answer); err != nil {
		return c, err
	}
	if err := json.Unmarshal([]byte(w.model.String), &c.Model); err != nil {
		return c, err
	}
	c.Request.Seed, c.Request.Sample = uint64(w.seed), w.sample
	key, err := keyOf([]byte(w.model.String), c.Request, c.Generation)
	if err != nil || key != c.Key || string(c.Request.Kind) != w.reply.kind {
		return c, cmp.Or(err, errOtherKey)
	}
	return c, nil
}

// checkRest reads what else there is.
func (c *Checkup) checkRest(ctx context.Context, s *sqlite) {
	rows, err := s.reader.QueryContext(ctx, `SELECT a.key, a.kind, m.identity FROM attempt a LEFT JOIN model m ON m.id = a.model_id`)
	if err != nil {
		c.find("the attempts: %v", err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var key []byte
		var kind string
		var identity sql.NullString
		var model llm.Identity
		err := rows.Scan(&key, &kind, &identity)
		if err == nil {
			err = json.Unmarshal([]byte(identity.String), &model)
		}
		if err == nil && len(key) != len(Key{}) {
			err = fmt.Errorf("its key has %d bytes", len(key))
		}
		if err != nil {
			c.find("an attempt: %v", err)
		}
	}
	if err := rows.Err(); err != nil && ctx.Err() == nil {
		c.find("the attempts: %v", err)
	}
	if _, err := s.Stats(ctx); err != nil && ctx.Err() == nil {
		c.find("the counts: %v", cause(err))
	}
}
