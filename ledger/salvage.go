package ledger

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/credence-lab/credence/llm"
)

// Salvage says what a repair could have and what it could not.
type Salvage struct {
	// From is the ledger that was read, To the new one.
	From, To string
	// Calls and Attempts are what the new ledger has.
	Calls, Attempts int
	// Lost are calls of which something was found and not enough, or that are named and not there, by key; at
	// most [MostFindings] of them. Others may be gone without a trace.
	Lost []Loss
	// LostCalls is how many there are.
	LostCalls int
}

// Loss is a call that could not be had.
type Loss struct {
	Key Key
	Why string
}

// MostFindings bounds what is listed of a damaged ledger.
const MostFindings = 20

// Repair reads all that is whole from the ledger in the file path, damaged or not, and writes it to a new ledger,
// the file to, which must not be there. path and its log are only read.
//
// A call is whole if its key is that of what was asked and its reply fits the checksum over the two, so that no call
// comes out other than it went in. Attempts have no checksum and come as they are. Marks of finished items are left
// behind: a study finds anew what is done.
//
// Errors are an [*Error]: [ErrNotLedger] where nothing of a ledger was found, [ErrNewer], and those of writing.
func Repair(ctx context.Context, path, to string) (_ *Salvage, err error) {
	if err := probePlain(path); err != nil {
		return nil, err
	}
	if err := refuseExisting(to); err != nil {
		return nil, err
	}
	p, err := openPages(path)
	if err != nil {
		return nil, explain(path, err)
	}
	defer func() { err = errors.Join(err, p.close()) }()
	s := newSalvager(p)
	s.out.From, s.out.To = path, to
	if err := s.survey(ctx); err != nil {
		return nil, explain(path, err)
	}
	if s.version > schemaVersion() {
		return nil, explain(path, newer(s.version))
	}
	if len(s.calls) == 0 && len(s.named) == 0 && len(s.requests) == 0 {
		return nil, &Error{Path: path, Err: fmt.Errorf("%w: nothing of a ledger is in it", ErrNotLedger), Hint: "name another file; this one was not changed"}
	}
	return s.write(ctx, to)
}

func refuseExisting(path string) error {
	for _, file := range []string{path, path + "-wal"} {
		info, err := os.Lstat(file)
		if err == nil && file != path && info.Size() == 0 {
			continue // left by whoever looked at a ledger of that name
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return &Error{Path: file, Err: cmp.Or(err, fs.ErrExist), Hint: "name a file that is not there yet; this one was not changed"}
		}
	}
	return nil
}

// Replace puts the ledger in the file with into the place of the one in path, which it renames, with its log, and
// keeps; kept is its new name. Nobody may have either open.
func Replace(path, with string) (kept string, err error) {
	kept = path + ".damaged"
	for n := 2; ; n++ {
		if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
			break
		}
		kept = fmt.Sprintf("%s.damaged-%d", path, n)
	}
	// The log first: beside another file it would be taken for that one's.
	for _, end := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(path+end, kept+end); err != nil && !(end != "" && errors.Is(err, fs.ErrNotExist)) {
			return "", explain(path, err)
		}
	}
	return kept, explain(path, os.Rename(with, path))
}

// salvager finds the rows of a ledger wherever they lie.
type salvager struct {
	pages *pages
	out   Salvage
	// version is the highest that the file says that its schema has.
	version int64
	// calls are where rows of calls lie. The others are by the number of the row: a number has several rows if the
	// log or a damaged page has another version of it.
	calls              []cell
	texts              map[int64][]string
	requests, prefixes map[int64][]cell
	dictionaries       map[int64][][]byte
	attempts           map[int64][][]value
	// named are the keys that the ledger's index has.
	named    map[Key]bool
	learned  map[string]packer
	finished map[Key]bool
	lost     map[Key]string
}

func newSalvager(p *pages) *salvager {
	return &salvager{
		pages: p, texts: map[int64][]string{}, requests: map[int64][]cell{}, prefixes: map[int64][]cell{},
		dictionaries: map[int64][][]byte{}, attempts: map[int64][][]value{}, named: map[Key]bool{},
		learned: map[string]packer{}, finished: map[Key]bool{}, lost: map[Key]string{},
	}
}

// survey looks at every page once and sorts rows by their shape: which table a page belongs to may be unknown.
func (s *salvager) survey(ctx context.Context) error {
	for i := range s.pages.all() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.pages.cells(i, s.note); err != nil {
			return err
		}
	}
	return nil
}

// shape spells the columns of a row: n for NULL, i for a number, t for text, b for bytes, k for bytes as long as a key.
func shape(row []value) string {
	b := make([]byte, len(row))
	for i, v := range row {
		switch v := v.(type) {
		case nil:
			b[i] = 'n'
		case int64:
			b[i] = 'i'
		case string:
			b[i] = 't'
		case []byte:
			if b[i] = 'b'; len(v) == len(Key{}) {
				b[i] = 'k'
			}
		}
	}
	return string(b)
}

func (s *salvager) note(c cell) {
	id, row, ok := s.pages.row(c)
	if !ok || len(row) < 2 {
		return
	}
	what := shape(row)
	if c.index {
		if what == "ki" {
			s.named[Key(row[0].([]byte))] = true
		}
		return
	}
	switch {
	case isCall(what):
		s.calls = append(s.calls, c)
	case what == "nt":
		s.texts[id] = appendNew(s.texts[id], row[1].(string))
	case what == "nbb" || what == "nbk":
		s.requests[id] = append(s.requests[id], c)
	case what == "niib" || what == "niik":
		s.prefixes[id] = append(s.prefixes[id], c)
	case what == "ntb" || what == "ntk":
		s.dictionaries[id] = append(s.dictionaries[id], row[2].([]byte))
	case strings.HasPrefix(what, "nktiiit"):
		s.attempts[id] = append(s.attempts[id], row)
	case what == "niit":
		s.version = max(s.version, row[1].(int64))
	}
}

// isCall holds the shape of a row against the columns of a call, of which later versions have more.
func isCall(what string) bool {
	const columns = "nktiii?iiit??iib"
	if len(what) < len(columns) {
		return false
	}
	for i := range columns {
		fits := columns[i] == what[i] || columns[i] == 'b' && what[i] == 'k' ||
			columns[i] == '?' && (what[i] == 'n' || (i == 6) == (what[i] != 'i') && what[i] != 't')
		if !fits {
			return false
		}
	}
	return true
}

func appendNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// write puts all that is whole into a new ledger. If that fails, nothing is left of it.
func (s *salvager) write(ctx context.Context, to string) (*Salvage, error) {
	store, err := OpenSQLite(to)
	if err != nil {
		return nil, err
	}
	err = cmp.Or(s.writeCalls(ctx, store), s.writeAttempts(ctx, store))
	if err = errors.Join(err, store.Close()); err != nil {
		for _, file := range []string{to, to + "-wal", to + "-shm"} {
			_ = os.Remove(file)
		}
		return nil, err
	}
	for key := range s.named {
		if !s.finished[key] && s.lost[key] == "" && !s.tried(key) {
			s.lost[key] = "its place in the file is damaged"
		}
	}
	for key, why := range s.lost {
		if !s.finished[key] {
			s.out.Lost = append(s.out.Lost, Loss{key, why})
		}
	}
	slices.SortFunc(s.out.Lost, func(a, b Loss) int { return strings.Compare(string(a.Key[:]), string(b.Key[:])) })
	s.out.LostCalls, s.out.Lost = len(s.out.Lost), s.out.Lost[:min(len(s.out.Lost), MostFindings)]
	return &s.out, nil
}

// salvagedTogether is how many calls are written in one transaction.
const salvagedTogether = 512

func (s *salvager) writeCalls(ctx context.Context, store Store) error {
	var batch []Call
	flush := func() error {
		fresh, err := store.Deliver(ctx, Delivery{Calls: batch})
		for _, one := range fresh {
			if one {
				s.out.Calls++
			}
		}
		batch = batch[:0]
		return err
	}
	for _, at := range s.calls {
		_, row, ok := s.pages.row(at)
		if !ok {
			continue
		}
		key := Key(row[1].([]byte))
		if s.finished[key] {
			continue
		}
		c, err := s.call(key, row)
		if err != nil {
			s.lost[key] = err.Error()
			continue
		}
		s.finished[key] = true
		if batch = append(batch, c); len(batch) == salvagedTogether {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// Why a call is not whole.
var (
	errNoModel    = errors.New("no model that it names has its key")
	errNoDecoding = errors.New("its decoding settings are gone")
	errNoPrompt   = errors.New("its prompt is gone")
	errNoIDs      = errors.New("the ids of its prompt are gone")
)

// call puts a call together from its row and the rows that it names, and checks it.
func (s *salvager) call(key Key, row []value) (Call, error) {
	c := Call{Key: key, Generation: int(row[9].(int64)), Asked: time.UnixMilli(row[13].(int64)).UTC(), Took: time.Duration(row[14].(int64)) * time.Microsecond}
	number := func(i int) int64 {
		if i < len(row) {
			n, _ := row[i].(int64)
			return n
		}
		return 0
	}
	reply := replyColumns{key: key[:], kind: row[2].(string), finish: row[10].(string), asked: row[13].(int64), took: row[14].(int64), reply: row[15].([]byte)}
	reply.used = llm.Usage{Prompt: number(16), Cached: number(17), Generated: number(18)}
	c.Used = reply.used
	if !slices.Contains([]llm.Finish{llm.FinishEnd, llm.FinishStop, llm.FinishLength, llm.FinishScored, llm.FinishEmbedded, llm.FinishRelated}, llm.Finish(reply.finish)) {
		return c, fmt.Errorf("its reason to finish is %.20q", reply.finish)
	}
	answer, _ := row[6].([]byte)
	if err := s.request(&c, row, answer); err != nil {
		return c, err
	}
	if string(c.Request.Kind) != reply.kind {
		return c, errOtherKey
	}
	return c, s.reply(&c, row, reply)
}

// request finds the model and the request of which the key is made.
func (s *salvager) request(c *Call, row []value, answer []byte) error {
	err := errNoPrompt
	for _, at := range s.requests[row[4].(int64)] {
		_, columns, ok := s.pages.row(at)
		if !ok {
			continue
		}
		var prompt llm.Prompt
		if prompt, err = s.prompt(columns[1].([]byte), columns[2].([]byte)); err != nil {
			continue
		}
		if err = s.matchKey(c, row, prompt, answer); err == nil {
			return nil
		}
	}
	return err
}

func (s *salvager) prompt(hash, packed []byte) (llm.Prompt, error) {
	var p llm.Prompt
	err := errNoPrompt
	for _, text := range s.unpack(packed) {
		if sum := sha256.Sum256(text); string(sum[:len(requestHash{})]) == string(hash) {
			return p, json.Unmarshal(text, &p)
		}
		err = errChecksum
	}
	return p, err
}

// matchKey tries the texts that the call names as its model and its settings: texts of several tables may bear one
// number.
func (s *salvager) matchKey(c *Call, row []value, prompt llm.Prompt, answer []byte) error {
	err := errNoDecoding
	for _, declared := range s.texts[row[5].(int64)] {
		var r llm.Request
		if json.Unmarshal([]byte(declared), &r) != nil {
			continue
		}
		r.Prompt, r.Seed, r.Sample = prompt, uint64(row[7].(int64)), int(row[8].(int64))
		if answer != nil {
			text, failed := shared.unpack(answer)
			if failed != nil {
				return failed
			}
			r.Answer = string(text)
		}
		err = errNoModel
		for _, identity := range s.texts[row[3].(int64)] {
			if key, failed := keyOf([]byte(identity), r, c.Generation); failed != nil || key != c.Key {
				continue
			}
			c.Request = r
			return json.Unmarshal([]byte(identity), &c.Model)
		}
	}
	return err
}

// reply finds what the reply's checksum fits.
func (s *salvager) reply(c *Call, row []value, columns replyColumns) (err error) {
	said := []string{""}
	if number, ok := row[12].(int64); ok {
		said = s.texts[number]
	}
	ids := [][]byte{nil}
	if number, ok := row[11].(int64); ok {
		ids = s.idsOf(number, row[4].(int64), row[3].(int64))
	}
	err = errChecksum
	if len(ids) == 0 {
		err = errNoIDs
	}
	for _, text := range said {
		columns.observed = sql.NullString{String: text, Valid: text != ""}
		for _, one := range ids {
			if c.Reply, err = columns.decode(one); err == nil {
				return nil
			}
		}
	}
	return err
}

// idsOf are the token ids under a number, of a prompt and a model.
func (s *salvager) idsOf(number, request, model int64) (found [][]byte) {
	for _, at := range s.prefixes[number] {
		if _, row, ok := s.pages.row(at); ok && row[1] == request && row[2] == model {
			found = append(found, s.unpack(row[3].([]byte))...)
		}
	}
	return found
}

// unpack returns what a packed text may say: a dictionary may have several versions.
func (s *salvager) unpack(packed []byte) (found [][]byte) {
	id := dictionaryOf(packed)
	if id <= sharedID {
		if text, err := shared.unpack(packed); err == nil {
			found = append(found, text)
		}
		return found
	}
	for _, content := range s.dictionaries[int64(id)] {
		name := fmt.Sprint(id, " ", string(content))
		p, ok := s.learned[name]
		if !ok {
			var err error
			if p, err = newPacker(id, content, 1); err != nil {
				continue
			}
			s.learned[name] = p
		}
		if text, err := p.unpack(packed); err == nil {
			found = append(found, text)
		}
	}
	return found
}

// tried reports whether an attempt has the key, whose index looks like that of the calls.
func (s *salvager) tried(key Key) bool {
	for _, versions := range s.attempts {
		for _, row := range versions {
			if Key(row[1].([]byte)) == key {
				return true
			}
		}
	}
	return false
}

// writeAttempts writes the attempts in their order. Of several versions of one, the first that is text is taken.
func (s *salvager) writeAttempts(ctx context.Context, store Store) error {
	var list []Attempt
	numbers := make([]int64, 0, len(s.attempts))
	for number := range s.attempts {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	for _, number := range numbers {
		for _, row := range s.attempts[number] {
			if a, ok := s.attempt(row); ok {
				list = append(list, a)
				break
			}
		}
	}
	for part := range slices.Chunk(list, salvagedTogether) {
		if _, err := store.Deliver(ctx, Delivery{Attempts: part}); err != nil {
			return err
		}
		s.out.Attempts += len(part)
	}
	return nil
}

func (s *salvager) attempt(row []value) (a Attempt, ok bool) {
	a = Attempt{Key: Key(row[1].([]byte)), Kind: llm.Kind(row[2].(string)), Asked: time.UnixMilli(row[4].(int64)).UTC(),
		Took: time.Duration(row[5].(int64)) * time.Microsecond, Error: row[6].(string)}
	if len(row) > 7 {
		status, _ := row[7].(int64)
		a.Status = int(status)
	}
	if !slices.Contains([]llm.Kind{llm.Generate, llm.Score, llm.Embed, llm.EmbedTokens, llm.Entail}, a.Kind) || !utf8.ValidString(a.Error) || len(a.Error) > MaxErrorBytes {
		return a, false
	}
	for _, identity := range s.texts[row[3].(int64)] {
		// A round trip tells an identity from other texts.
		if json.Unmarshal([]byte(identity), &a.Model) == nil {
			if declared, err := declare(a.Model); err == nil && string(declared) == identity {
				return a, true
			}
		}
		a.Model = llm.Identity{}
	}
	return a, false
}
