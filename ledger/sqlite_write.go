package ledger

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/credence-lab/credence/llm"
)

// statements are the prepared writes of a committer.
type statements struct {
	findModel, addModel       *sql.Stmt
	findRequest, addRequest   *sql.Stmt
	findDecoding, addDecoding *sql.Stmt
	findObserved, addObserved *sql.Stmt
	findPrefix, addPrefix     *sql.Stmt
	addCall, addAttempt       *sql.Stmt
	isStored                  *sql.Stmt
	claim, claimedBy, seize   *sql.Stmt
	release                   *sql.Stmt
	findScope, addScope       *sql.Stmt
	addDone                   *sql.Stmt
	findDictionary            *sql.Stmt
	addDictionary             *sql.Stmt
	all                       []*sql.Stmt
}

func (s *statements) prepare(ctx context.Context, conn *sql.Conn) error {
	for _, p := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&s.findModel, "SELECT id FROM model WHERE identity = ?"},
		{&s.addModel, "INSERT INTO model (identity) VALUES (?)"},
		{&s.findRequest, "SELECT id FROM request WHERE hash = ?"},
		{&s.addRequest, "INSERT INTO request (hash, prompt) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING"},
		{&s.findDecoding, "SELECT id FROM decoding WHERE declared = ?"},
		{&s.addDecoding, "INSERT INTO decoding (declared) VALUES (?)"},
		{&s.findObserved, "SELECT id FROM observed WHERE said = ?"},
		{&s.addObserved, "INSERT INTO observed (said) VALUES (?)"},
		{&s.findPrefix, "SELECT id, ids FROM prefix WHERE request_id = ? AND model_id = ?"},
		{&s.addPrefix, "INSERT INTO prefix (request_id, model_id, ids) VALUES (?, ?, ?)"},
		{&s.addCall, `INSERT INTO call (key, kind, model_id, request_id, decoding_id, answer, seed, sample,
			generation, finish, prefix_id, observed_id, asked, took, reply, used_prompt, used_cached, used_generated)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`},
		{&s.addAttempt, "INSERT INTO attempt (key, kind, model_id, asked, took, error, status) VALUES (?, ?, ?, ?, ?, ?, ?)"},
		{&s.isStored, "SELECT 1 FROM call WHERE key = ?"},
		{&s.claim, `INSERT INTO claim (key, owner, expires) SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM call WHERE key = ?1)
			ON CONFLICT (key) DO UPDATE SET owner = ?2, expires = ?3 WHERE owner = ?2 OR expires <= ?4`},
		{&s.claimedBy, "SELECT owner FROM claim WHERE key = ?"},
		{&s.seize, "UPDATE claim SET owner = ?2, expires = ?3 WHERE key = ?1"},
		{&s.findDictionary, "SELECT id, content FROM dictionary WHERE purpose = ? ORDER BY id DESC LIMIT 1"},
		{&s.addDictionary, "INSERT INTO dictionary (id, purpose, content) SELECT coalesce(max(id), 1) + 1, ?, ? FROM dictionary"},
		{&s.findScope, "SELECT id FROM scope WHERE hash = ?"},
		{&s.addScope, "INSERT INTO scope (hash) VALUES (?)"},
		{&s.addDone, "INSERT OR REPLACE INTO item_done (scope_id, item, digest, complete) VALUES (?, ?, ?, ?)"},
		{&s.release, "DELETE FROM claim WHERE key = ? AND owner = ?"},
	} {
		stmt, err := conn.PrepareContext(ctx, p.sql)
		if err != nil {
			return errors.Join(err, s.close())
		}
		*p.to = stmt
		s.all = append(s.all, stmt)
	}
	return nil
}

func (s *statements) close() error {
	var errs []error
	for _, stmt := range s.all {
		errs = append(errs, stmt.Close())
	}
	s.all = nil
	return errors.Join(errs...)
}

// rowCache knows the ids of rows that were written or found lately. Rows are never deleted.
type rowCache struct {
	texts    map[string]int64 // of model, decoding, observed; the key begins with the table
	requests map[requestHash]int64
	prefixes map[prefixKey]int64
}

type requestHash [16]byte

type prefixKey struct {
	request, model int64
	ids            [sha256.Size]byte
}

// maxCached bounds each part of a rowCache.
const maxCached = 1 << 16

func (c *rowCache) clear() {
	c.texts, c.requests, c.prefixes = make(map[string]int64), make(map[requestHash]int64), make(map[prefixKey]int64)
}

// remember adds to a part of a rowCache, and empties it first when it is full.
func remember[K comparable](part map[K]int64, k K, id int64) {
	if len(part) >= maxCached {
		clear(part)
	}
	part[k] = id
}

// row is a call in the form of its columns, made ready by whoever delivers it: the committer only writes.
type row struct {
	key             Key
	kind            llm.Kind
	model, decoding string
	hash            requestHash
	prompt          []byte // JSON; packed only if it is new
	answer          []byte
	seed            int64
	sample, gen     int
	finish          llm.Finish
	prefix          []byte // encodeIDs; nil where the engine does not know the prompt's ids
	observed        string
	asked, took     int64
	reply           []byte
	used            llm.Usage
}

// newRow has the model's identity from declared, if that is not nil.
func newRow(c Call, declared []byte) (row, error) {
	var err1 error
	if declared == nil {
		declared, err1 = declare(c.Model)
	}
	prompt, err2 := declare(c.Request.Prompt)
	rest := c.Request
	rest.Prompt, rest.Answer, rest.Seed, rest.Sample = llm.Prompt{}, "", 0, 0
	decoding, err3 := declare(rest)
	if err := errors.Join(err1, err2, err3); err != nil {
		return row{}, err
	}
	sum := sha256.Sum256(prompt)
	r := row{
		key: c.Key, kind: c.Request.Kind, model: string(declared), decoding: string(decoding),
		hash: requestHash(sum[:]), prompt: prompt, seed: int64(c.Request.Seed), sample: c.Request.Sample, gen: c.Generation,
		finish: c.Reply.Finish, asked: c.Asked.UnixMilli(), took: c.Took.Microseconds(), used: c.Used,
	}
	if c.Request.Answer != "" {
		r.answer = shared.pack([]byte(c.Request.Answer))
	}
	if c.Reply.PromptIDs != nil {
		r.prefix = encodeIDs(c.Reply.PromptIDs)
	}
	if len(c.Reply.Observed) > 0 {
		said, err := json.Marshal(c.Reply.Observed)
		if err != nil {
			return row{}, err
		}
		r.observed = string(said)
	}
	r.reply = (&binding{r.key[:], string(r.kind), string(r.finish), r.prefix, r.observed, r.asked, r.took, r.used}).bind(encodeReply(c.Reply))
	return r, nil
}

// Deliver implements [Store].
func (s *sqlite) Deliver(ctx context.Context, d Delivery) ([]bool, error) {
	if s.commit == nil {
		return nil, &Error{Path: s.path, Err: fmt.Errorf("%w: it was opened to be read", ErrReadOnly)}
	}
	rows := make([]row, len(d.Calls))
	for i, c := range d.Calls {
		var err error
		if rows[i], err = newRow(c, d.declared); err != nil {
			return nil, explain(s.path, err)
		}
	}
	fresh := make([]bool, len(rows))
	err := s.commit.do(ctx, func(c *committer) error {
		for i := range rows {
			var err error
			if fresh[i], err = c.writeCall(&rows[i]); err != nil {
				return err
			}
		}
		for _, a := range d.Attempts {
			if err := c.writeAttempt(a); err != nil {
				return err
			}
		}
		if err := c.writeDone(d.Done); err != nil {
			return err
		}
		for _, k := range d.Release {
			if _, err := c.stmt.release.Exec(k[:], d.Owner); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, explain(s.path, err)
	}
	return fresh, nil
}

// writeCall inserts r and reports whether it is the first with its key.
func (c *committer) writeCall(r *row) (fresh bool, err error) {
	model, err := c.textRow("model", c.stmt.findModel, c.stmt.addModel, r.model)
	if err != nil {
		return false, err
	}
	decoding, err := c.textRow("decoding", c.stmt.findDecoding, c.stmt.addDecoding, r.decoding)
	if err != nil {
		return false, err
	}
	request, err := c.requestRow(r)
	if err != nil {
		return false, err
	}
	var prefix, observed sql.NullInt64
	if r.prefix != nil {
		if prefix.Int64, err = c.prefixRow(request, model, r.prefix); err != nil {
			return false, err
		}
		prefix.Valid = true
	}
	if r.observed != "" {
		if observed.Int64, err = c.textRow("observed", c.stmt.findObserved, c.stmt.addObserved, r.observed); err != nil {
			return false, err
		}
		observed.Valid = true
	}
	res, err := c.stmt.addCall.Exec(r.key[:], string(r.kind), model, request, decoding, r.answer, r.seed, r.sample,
		r.gen, string(r.finish), prefix, observed, r.asked, r.took, r.reply, counted(r.used, r.used.Prompt), counted(r.used, r.used.Cached), counted(r.used, r.used.Generated))
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

func (c *committer) writeAttempt(a Attempt) error {
	identity, err := declare(a.Model)
	if err != nil {
		return err
	}
	model, err := c.textRow("model", c.stmt.findModel, c.stmt.addModel, string(identity))
	if err != nil {
		return err
	}
	_, err = c.stmt.addAttempt.Exec(a.Key[:], string(a.Kind), model, a.Asked.UnixMilli(), a.Took.Microseconds(), a.Error, a.Status)
	return err
}

func (c *committer) writeDone(list []Done) error {
	var last Digest
	var scope int64
	for _, d := range list {
		if scope == 0 || d.Scope != last {
			var err error
			if scope, err = findOrAdd(c.stmt.findScope, c.stmt.addScope, d.Scope[:]); err != nil {
				return err
			}
			last = d.Scope
		}
		if _, err := c.stmt.addDone.Exec(scope, d.Item[:], d.Calls[:], d.Complete); err != nil {
			return err
		}
	}
	return nil
}

// counted is a count of u; NULL where nothing was counted.
func counted(u llm.Usage, n int64) sql.NullInt64 {
	return sql.NullInt64{Int64: n, Valid: u != llm.Usage{}}
}

// textRow returns the id of the row of table that holds text, and adds it if need be.
func (c *committer) textRow(table string, find, add *sql.Stmt, text string) (int64, error) {
	cached := table + "\n" + text
	if id, ok := c.seen.texts[cached]; ok {
		return id, nil
	}
	id, err := findOrAdd(find, add, text)
	if err == nil {
		remember(c.seen.texts, cached, id)
	}
	return id, err
}

func (c *committer) requestRow(r *row) (int64, error) {
	if id, ok := c.seen.requests[r.hash]; ok {
		return id, nil
	}
	// Most prompts that were not seen lately are new, so that one statement does.
	prompt, err := c.prompts.pack(c, r.prompt)
	if err != nil {
		return 0, err
	}
	res, err := c.stmt.addRequest.Exec(r.hash[:], prompt)
	if err != nil {
		return 0, err
	}
	added, err := res.RowsAffected()
	if err != nil {
		return 0, err
	}
	var id int64
	if added == 1 {
		id, err = res.LastInsertId()
	} else {
		err = c.stmt.findRequest.QueryRow(r.hash[:]).Scan(&id)
	}
	if err == nil {
		remember(c.seen.requests, r.hash, id)
	}
	return id, err
}

func (c *committer) prefixRow(request, model int64, ids []byte) (int64, error) {
	k := prefixKey{request, model, sha256.Sum256(ids)}
	if id, ok := c.seen.prefixes[k]; ok {
		return id, nil
	}
	id, err := c.findPrefix(request, model, ids)
	if errors.Is(err, sql.ErrNoRows) {
		var packed []byte
		if packed, err = c.ids.pack(c, ids); err == nil {
			id, err = insert(c.stmt.addPrefix, request, model, packed)
		}
	}
	if err == nil {
		remember(c.seen.prefixes, k, id)
	}
	return id, err
}

// findPrefix compares what the texts say: equal ids may have been packed against other dictionaries.
func (c *committer) findPrefix(request, model int64, ids []byte) (int64, error) {
	rows, err := c.stmt.findPrefix.Query(request, model)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var packed []byte
		if err := rows.Scan(&id, &packed); err != nil {
			return 0, err
		}
		if stored, err := c.unpack(packed); err == nil && bytes.Equal(stored, ids) {
			return id, nil
		}
	}
	return 0, cmp.Or(rows.Err(), sql.ErrNoRows)
}

func findOrAdd(find, add *sql.Stmt, value any) (int64, error) {
	var id int64
	err := find.QueryRow(value).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return insert(add, value)
	}
	return id, err
}

func insert(add *sql.Stmt, values ...any) (int64, error) {
	res, err := add.Exec(values...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// Claim implements [Store].
func (s *sqlite) Claim(ctx context.Context, owner string, lease time.Duration, keys []Key) ([]ClaimState, error) {
	if s.commit == nil {
		return nil, &Error{Path: s.path, Err: fmt.Errorf("%w: it was opened to be read", ErrReadOnly)}
	}
	states := make([]ClaimState, len(keys))
	err := s.commit.do(ctx, func(c *committer) error {
		now := time.Now()
		gone := make(map[string]bool)
		for i, k := range keys {
			var err error
			if states[i], err = c.claim(k, owner, now, now.Add(lease), gone); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, explain(s.path, err)
	}
	return states, nil
}

// claim takes key for owner. A claim of a process of this machine that has ended is void; gone
// remembers which owners are.
func (c *committer) claim(key Key, owner string, now, expires time.Time, gone map[string]bool) (ClaimState, error) {
	res, err := c.stmt.claim.Exec(key[:], owner, expires.UnixMilli(), now.UnixMilli())
	if err != nil {
		return ClaimHeld, err
	}
	if n, err := res.RowsAffected(); n == 1 || err != nil {
		return ClaimGranted, err
	}
	var one int
	if err := c.stmt.isStored.QueryRow(key[:]).Scan(&one); err == nil {
		return ClaimStored, nil
	} else if !errors.Is(err, sql.ErrNoRows) {
		return ClaimHeld, err
	}
	var other string
	if err := c.stmt.claimedBy.QueryRow(key[:]).Scan(&other); err != nil {
		return ClaimHeld, err
	}
	if _, known := gone[other]; !known {
		gone[other] = ownerGone(other)
	}
	if !gone[other] {
		return ClaimHeld, nil
	}
	_, err = c.stmt.seize.Exec(key[:], owner, expires.UnixMilli())
	return ClaimGranted, err
}
