package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/credence-lab/credence/llm"
)

// Numbers of keys that one query takes; shorter lists are filled up with the last key, so that a
// handful of statements serves all.
var lookupSizes = []int{1, 8, 64, 256}

// Lookup implements [Store].
func (s *sqlite) Lookup(ctx context.Context, keys []Key) (map[Key]llm.Reply, error) {
	found := make(map[Key]llm.Reply, len(keys))
	for chunk := range slices.Chunk(keys, lookupSizes[len(lookupSizes)-1]) {
		if err := s.lookup(ctx, chunk, found); err != nil {
			return nil, explain(s.path, err)
		}
	}
	return found, nil
}

// lookupStatements are prepared once for each size: to parse one takes as long as to run it.
type lookupStatements struct {
	mu     sync.Mutex
	bySize map[int]*sql.Stmt
}

// of returns the statement of a size. They are closed with db.
func (l *lookupStatements) of(ctx context.Context, db *sql.DB, size int, query func() string) (*sql.Stmt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if stmt, ok := l.bySize[size]; ok {
		return stmt, nil
	}
	stmt, err := db.PrepareContext(context.WithoutCancel(ctx), query())
	if err != nil {
		return nil, err
	}
	if l.bySize == nil {
		l.bySize = make(map[int]*sql.Stmt)
	}
	l.bySize[size] = stmt
	return stmt, nil
}

func (s *sqlite) lookup(ctx context.Context, keys []Key, found map[Key]llm.Reply) error {
	size := lookupSizes[slices.IndexFunc(lookupSizes, func(n int) bool { return n >= len(keys) })]
	args := make([]any, size)
	for i := range args {
		args[i] = keys[min(i, len(keys)-1)][:]
	}
	stmt, err := s.lookups.of(ctx, s.reader, size, func() string {
		return `SELECT c.key, c.kind, c.finish, c.asked, c.took, c.reply, c.prefix_id, p.ids, c.observed_id, o.said, ` + s.usedColumns() + ` FROM call c
		LEFT JOIN prefix p ON p.id = c.prefix_id LEFT JOIN observed o ON o.id = c.observed_id
		WHERE c.key IN (?` + strings.Repeat(",?", size-1) + `)`
	})
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// A lookup takes less time than watching ctx meanwhile would.
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var list []replyColumns
	for rows.Next() {
		var c replyColumns
		if err := rows.Scan(&c.key, &c.kind, &c.finish, &c.asked, &c.took, &c.reply, &c.prefixID, &c.ids, &c.observedID, &c.observed,
			&c.used.Prompt, &c.used.Cached, &c.used.Generated); err != nil {
			return err
		}
		list = append(list, c)
	}
	// Decoding may need a connection to read a dictionary, so this one is given back first.
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, c := range list {
		reply, err := s.decode(ctx, c)
		if err != nil {
			return damagedCall(c.key, err)
		}
		found[Key(c.key)] = reply
	}
	return nil
}

// errRowGone: of a model, a prompt, its ids, decoding settings, or what a server said of itself.
var errRowGone = errors.New("a row that it names is not there")

// errOtherKey: what was asked is not what the key was made of.
var errOtherKey = errors.New("its key is that of another request")

func damagedCall(key []byte, err error) error {
	if errors.Is(err, errNewVersion) {
		return fmt.Errorf("%w: call %x: %w", ErrNewer, key, err)
	}
	return fmt.Errorf("%w: call %x: %w", ErrDamaged, key, err)
}

// replyColumns are the columns that a reply is put together from.
type replyColumns struct {
	key          []byte
	kind, finish string
	asked, took  int64
	reply, ids   []byte // packed
	observed     sql.NullString
	// The rows that ids and observed come from.
	prefixID, observedID sql.NullInt64
	used                 llm.Usage
}

func (s *sqlite) decode(ctx context.Context, c replyColumns) (llm.Reply, error) {
	if c.prefixID.Valid != (c.ids != nil) || c.observedID.Valid != c.observed.Valid {
		return llm.Reply{}, errRowGone
	}
	var ids []byte
	if c.ids != nil {
		var err error
		if ids, err = s.unpack(ctx, c.ids); err != nil {
			return llm.Reply{}, err
		}
	}
	return c.decode(ids)
}

// decode puts the reply together; ids are unpacked, and nil where the call has none.
func (c *replyColumns) decode(ids []byte) (llm.Reply, error) {
	b := binding{c.key, c.kind, c.finish, ids, c.observed.String, c.asked, c.took, c.used}
	body, err := b.bodyOf(c.reply)
	if err != nil {
		return llm.Reply{}, err
	}
	r, err := decodeReply(body)
	if err != nil {
		return llm.Reply{}, err
	}
	r.Finish = llm.Finish(c.finish)
	if ids != nil {
		if r.PromptIDs, err = decodeIDs(ids); err != nil {
			return llm.Reply{}, err
		}
	}
	if c.observed.Valid {
		err = json.Unmarshal([]byte(c.observed.String), &r.Observed)
	}
	return r, err
}

// Call implements [Store].
func (s *sqlite) Call(ctx context.Context, key Key) (Call, bool, error) {
	w := wholeRow{reply: replyColumns{key: key[:]}}
	err := s.reader.QueryRowContext(ctx, `SELECT m.identity, r.hash, r.prompt, d.declared, c.answer, c.seed, c.sample,
		c.generation, c.kind, c.finish, c.reply, c.prefix_id, p.ids, c.observed_id, o.said, c.asked, c.took, `+s.usedColumns()+`
		FROM call c LEFT JOIN model m ON m.id = c.model_id LEFT JOIN request r ON r.id = c.request_id LEFT JOIN decoding d ON d.id = c.decoding_id
		LEFT JOIN prefix p ON p.id = c.prefix_id LEFT JOIN observed o ON o.id = c.observed_id
		WHERE c.key = ?`, key[:]).Scan(&w.model, &w.hash, &w.prompt, &w.decoding, &w.answer, &w.seed, &w.sample,
		&w.generation, &w.reply.kind, &w.reply.finish, &w.reply.reply, &w.reply.prefixID, &w.reply.ids, &w.reply.observedID, &w.reply.observed, &w.reply.asked, &w.reply.took,
		&w.reply.used.Prompt, &w.reply.used.Cached, &w.reply.used.Generated)
	if errors.Is(err, sql.ErrNoRows) {
		return Call{}, false, nil
	}
	if err != nil {
		return Call{}, false, explain(s.path, err)
	}
	c, err := s.whole(ctx, &w)
	if err != nil {
		return Call{}, false, explain(s.path, damagedCall(key[:], err))
	}
	return c, true, nil
}

func (s *sqlite) decodeRequest(ctx context.Context, decoding string, hash, prompt, answer []byte) (llm.Request, error) {
	var r llm.Request
	if err := json.Unmarshal([]byte(decoding), &r); err != nil {
		return r, err
	}
	text, err := s.unpack(ctx, prompt)
	if err != nil {
		return r, err
	}
	if sum := sha256.Sum256(text); string(sum[:len(requestHash{})]) != string(hash) {
		return r, errChecksum
	}
	if err := json.Unmarshal(text, &r.Prompt); err != nil {
		return r, err
	}
	if answer != nil {
		scored, err := shared.unpack(answer)
		if err != nil {
			return r, err
		}
		r.Answer = string(scored)
	}
	return r, nil
}

// since is columns of a schema version and later, or what stands for them before.
func (s *sqlite) since(version int64, columns, before string) string {
	if s.version < version {
		return before
	}
	return columns
}

// usedColumns are what a call took.
func (s *sqlite) usedColumns() string {
	return s.since(versionOfUsed, "coalesce(c.used_prompt, 0), coalesce(c.used_cached, 0), coalesce(c.used_generated, 0)", "0, 0, 0")
}

// Done implements [Store]. A mark that is no mark is passed over: its item is then asked for, and answered by
// its calls.
func (s *sqlite) Done(ctx context.Context, scope Digest) (map[Digest]Done, error) {
	if s.version < versionOfDone {
		return nil, nil
	}
	rows, err := s.reader.QueryContext(ctx, `SELECT d.item, d.digest, d.complete FROM item_done d
		JOIN scope s ON s.id = d.scope_id WHERE s.hash = ?`, scope[:])
	if err != nil {
		return nil, explain(s.path, err)
	}
	defer rows.Close()
	found := make(map[Digest]Done)
	var item, digest sql.RawBytes
	for rows.Next() {
		d := Done{Scope: scope}
		if err := rows.Scan(&item, &digest, &d.Complete); err != nil {
			return nil, explain(s.path, err)
		}
		if copy(d.Item[:], item) == len(d.Item) && copy(d.Calls[:], digest) == len(d.Calls) {
			found[d.Item] = d
		}
	}
	return found, explain(s.path, rows.Err())
}

// Find implements [Store].
func (s *sqlite) Find(ctx context.Context, prefix string, limit int) ([]Key, error) {
	from, to, err := keyRange(prefix)
	if err != nil {
		return nil, nil // no key begins so
	}
	rows, err := s.reader.QueryContext(ctx, `SELECT key FROM call WHERE key BETWEEN ?1 AND ?2
		UNION SELECT key FROM attempt WHERE key BETWEEN ?1 AND ?2 ORDER BY key LIMIT ?3`, from[:], to[:], limit)
	if err != nil {
		return nil, explain(s.path, err)
	}
	defer rows.Close()
	var keys []Key
	for rows.Next() {
		var k []byte
		if err := rows.Scan(&k); err != nil {
			return nil, explain(s.path, err)
		}
		keys = append(keys, Key(k))
	}
	return keys, explain(s.path, rows.Err())
}

// keyRange returns the first and the last key that begin with prefix.
func keyRange(prefix string) (from, to Key, err error) {
	digits := 2 * len(Key{})
	if len(prefix) > digits {
		return from, to, errors.New("longer than a key")
	}
	if _, err := hex.Decode(from[:], []byte(prefix+strings.Repeat("0", digits-len(prefix)))); err != nil {
		return from, to, err
	}
	_, err = hex.Decode(to[:], []byte(prefix+strings.Repeat("f", digits-len(prefix))))
	return from, to, err
}

// Attempts implements [Store].
func (s *sqlite) Attempts(ctx context.Context, key Key) ([]Attempt, error) {
	rows, err := s.reader.QueryContext(ctx, `SELECT a.kind, m.identity, a.asked, a.took, a.error, `+s.since(versionOfUsed, "a.status", "0")+`
		FROM attempt a JOIN model m ON m.id = a.model_id WHERE a.key = ? ORDER BY a.id`, key[:])
	if err != nil {
		return nil, explain(s.path, err)
	}
	defer rows.Close()
	var list []Attempt
	for rows.Next() {
		a := Attempt{Key: key}
		var kind, model string
		var asked, took int64
		if err := rows.Scan(&kind, &model, &asked, &took, &a.Error, &a.Status); err != nil {
			return nil, explain(s.path, err)
		}
		if err := json.Unmarshal([]byte(model), &a.Model); err != nil {
			return nil, explain(s.path, damagedCall(key[:], err))
		}
		a.Kind, a.Asked, a.Took = llm.Kind(kind), time.UnixMilli(asked).UTC(), time.Duration(took)*time.Microsecond
		list = append(list, a)
	}
	return list, explain(s.path, rows.Err())
}

// Stats implements [Store].
func (s *sqlite) Stats(ctx context.Context) (Stats, error) {
	st, err := s.stats(ctx)
	return st, explain(s.path, err)
}

func (s *sqlite) stats(ctx context.Context) (Stats, error) {
	var st Stats
	for _, file := range []string{s.path, s.path + "-wal"} {
		if info, err := os.Stat(file); err == nil {
			st.Bytes += info.Size()
		}
	}
	// One transaction, so that the counts are those of one moment.
	tx, err := s.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return st, err
	}
	defer func() { _ = tx.Rollback() }()
	err = tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM request), (SELECT count(*) FROM claim)`).Scan(&st.Prompts, &st.Claims)
	if err != nil {
		return st, err
	}
	rows, err := tx.QueryContext(ctx, `SELECT m.identity, g.kind, sum(g.calls), sum(g.attempts), min(g.first), max(g.last),
			sum(g.prompt), sum(g.cached), sum(g.generated), sum(g.uncounted)
		FROM (SELECT model_id, kind, count(*) calls, 0 attempts, min(asked) first, max(asked) last,
				`+s.since(versionOfUsed, "total(used_prompt) prompt, total(used_cached) cached, total(used_generated) generated, count(*) - count(used_prompt) uncounted",
		"0 prompt, 0 cached, 0 generated, count(*) uncounted")+`
				FROM call GROUP BY 1, 2
			UNION ALL SELECT model_id, kind, 0, count(*), NULL, NULL, 0, 0, 0, 0 FROM attempt GROUP BY 1, 2) g
		JOIN model m ON m.id = g.model_id GROUP BY 1, 2 ORDER BY 1, 2`)
	if err != nil {
		return st, err
	}
	defer rows.Close()
	for rows.Next() {
		var g Group
		var model, kind string
		var first, last sql.NullInt64
		var prompt, cached, generated float64 // as sums of floats they cannot overflow, whatever the file says
		if err := rows.Scan(&model, &kind, &g.Calls, &g.Attempts, &first, &last, &prompt, &cached, &generated, &g.Uncounted); err != nil {
			return st, err
		}
		if err := json.Unmarshal([]byte(model), &g.Model); err != nil {
			return st, fmt.Errorf("%w: identity %q: %w", ErrDamaged, model, err)
		}
		g.Kind = llm.Kind(kind)
		g.Used = llm.Usage{Prompt: int64(prompt), Cached: int64(cached), Generated: int64(generated)}
		if first.Valid {
			g.First, g.Last = time.UnixMilli(first.Int64).UTC(), time.UnixMilli(last.Int64).UTC()
		}
		st.Groups = append(st.Groups, g)
	}
	if err := rows.Err(); err != nil {
		return st, err
	}
	for i := range st.Groups {
		g := &st.Groups[i]
		if g.Observed, err = observed(ctx, tx, *g); err != nil {
			return st, err
		}
	}
	st.sort()
	return st, nil
}

// observed returns what the server said of itself in a group of calls.
func observed(ctx context.Context, tx *sql.Tx, g Group) ([]map[string]string, error) {
	identity, err := declare(g.Model)
	if err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, `SELECT DISTINCT o.said FROM call c JOIN observed o ON o.id = c.observed_id
		JOIN model m ON m.id = c.model_id WHERE m.identity = ? AND c.kind = ? ORDER BY 1 LIMIT ?`, string(identity), string(g.Kind), maxObserved)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []map[string]string
	for rows.Next() {
		var said string
		if err := rows.Scan(&said); err != nil {
			return nil, err
		}
		var m map[string]string
		if err := json.Unmarshal([]byte(said), &m); err != nil {
			return nil, fmt.Errorf("%w: observed %q: %w", ErrDamaged, said, err)
		}
		list = append(list, m)
	}
	return list, rows.Err()
}
