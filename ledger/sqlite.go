package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite", without cgo
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// applicationID marks an SQLite file as a ledger, in its header: "crdn".
	applicationID = 0x6372646e
	// busyTimeout is how long a write waits for that of another process, which takes milliseconds.
	busyTimeout = 30 * time.Second
	// checkpointPages is how long the write-ahead log grows (32 MiB) before its pages move into the
	// file. Keys are random, so a page is written again and again until then.
	checkpointPages = 8192
)

// sqlite is a Store in one SQLite file in WAL mode. All writes of the process go through one
// goroutine, which commits what has gathered meanwhile in one transaction (see committer).
type sqlite struct {
	path   string
	reader *sql.DB
	// writer and commit are nil in a store that is only read.
	writer *sql.DB
	commit *committer
	close  sync.Once
	// version is that of the schema.
	version int64
	lookups lookupStatements
	// learned are the dictionaries that reading needed so far.
	learned unpackers
}

// OpenSQLite opens or creates the store in the file path, see [Open].
func OpenSQLite(path string) (Store, error) { return openSQLite(path, 0) }

// openSQLite limits the file to maxPages pages unless that is 0.
func openSQLite(path string, maxPages int) (*sqlite, error) {
	if err := probe(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := cmp.Or(touch(path), probeLog(path)); err != nil {
		return nil, err
	}
	// SQLite does not wait for others by itself while a file becomes a database with a log.
	pause := newPause()
	for start := time.Now(); ; pause.wait(context.Background()) {
		s := &sqlite{path: path}
		err := s.open(maxPages)
		if err == nil {
			return s, nil
		}
		_ = s.Close()
		if err = explain(path, err); !errors.Is(err, ErrBusy) || time.Since(start) > busyTimeout {
			return nil, err
		}
	}
}

func (s *sqlite) open(maxPages int) error {
	pragmas := []string{"busy_timeout(" + fmt.Sprint(busyTimeout.Milliseconds()) + ")"}
	if info, err := os.Stat(s.path); err == nil && info.Size() == 0 {
		// Before the log is there, so that it stands in the file's own header.
		pragmas = append(pragmas, fmt.Sprintf("application_id(%d)", applicationID))
	}
	pragmas = append(pragmas,
		"journal_mode(WAL)",
		"synchronous(FULL)",
		fmt.Sprintf("wal_autocheckpoint(%d)", checkpointPages),
		"cache_size(-16384)",
	)
	if maxPages > 0 {
		pragmas = append(pragmas, fmt.Sprintf("max_page_count(%d)", maxPages))
	}
	var err error
	if s.writer, err = sql.Open("sqlite", dsn(s.path, "_txlock=immediate", pragmas...)); err != nil {
		return err
	}
	s.writer.SetMaxOpenConns(1)
	if err := migrate(s.writer); err != nil {
		return err
	}
	s.version = schemaVersion()
	if err := s.openReader("mode=ro"); err != nil {
		return err
	}
	s.commit, err = newCommitter(s.writer, func(b []byte) ([]byte, error) { return s.unpack(context.Background(), b) })
	return err
}

// OpenSQLiteReadOnly opens the store in the file path to look at, see [OpenReadOnly].
func OpenSQLiteReadOnly(path string) (Store, error) {
	if err := cmp.Or(probe(path), probeLog(path)); err != nil {
		return nil, err
	}
	return openReadOnly(path)
}

func openReadOnly(path string) (*sqlite, error) {
	s := &sqlite{path: path}
	err := s.openReader("mode=ro")
	if err == nil {
		s.version, err = checkVersion(s.reader)
	}
	if _, walErr := os.Stat(path + "-wal"); err != nil && errors.Is(walErr, fs.ErrNotExist) {
		// In a folder that cannot be written SQLite cannot share memory with a writer. Without a
		// log there is none.
		_ = s.reader.Close()
		if err = s.openReader("immutable=1"); err == nil {
			s.version, err = checkVersion(s.reader)
		}
	}
	if err != nil {
		_ = s.Close()
		return nil, explain(path, err)
	}
	return s, nil
}

func (s *sqlite) openReader(mode string) error {
	var err error
	s.reader, err = sql.Open("sqlite", dsn(s.path, mode, "busy_timeout("+fmt.Sprint(busyTimeout.Milliseconds())+")", "query_only(1)"))
	if err != nil {
		return err
	}
	s.reader.SetMaxOpenConns(4)
	s.reader.SetMaxIdleConns(4)
	return nil
}

// Close waits for the writes under way, then moves the log into the file. A second Close does nothing.
func (s *sqlite) Close() error {
	var err error
	s.close.Do(func() { err = s.closeAll() })
	return err
}

func (s *sqlite) closeAll() error {
	var errs []error
	if s.commit != nil {
		errs = append(errs, s.commit.close())
	}
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return explain(s.path, errors.Join(errs...))
}

// dsn names path as a URI, so that no character of it is taken for a parameter.
func dsn(path, params string, pragmas ...string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	slashed := filepath.ToSlash(abs)
	if slashed[0] != '/' { // a Windows drive
		slashed = "/" + slashed
	}
	s := "file:" + (&url.URL{Path: slashed}).EscapedPath() + "?" + params
	for _, p := range pragmas {
		s += "&_pragma=" + url.QueryEscape(p)
	}
	return s
}

// probe looks at the first bytes of a file, without SQLite, which might change it. An empty file is
// as good as none: that is what is left of a ledger whose creation was cut off.
func probe(path string) error {
	if err := probePlain(path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return explain(path, err)
	}
	defer f.Close()
	return probeHead(path, f)
}

// probePlain wants a plain file.
func probePlain(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return explain(path, err)
	}
	if info.IsDir() {
		return &Error{Path: path, Err: fmt.Errorf("%w: it is a folder", ErrNotLedger), Hint: "name the ledger.db in it"}
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return &Error{Path: path, Err: fmt.Errorf("%w: it is no plain file", ErrNotLedger), Hint: "name another file"}
	}
	return nil
}

func probeHead(path string, f *os.File) error {
	var head [100]byte
	n, err := io.ReadFull(f, head[:])
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return nil
	case string(head[:min(n, 16)]) != "SQLite format 3\x00":
		return &Error{Path: path, Err: fmt.Errorf("%w: it is no SQLite file", ErrNotLedger), Hint: "name another file; this one was not changed"}
	case n < len(head):
		return explain(path, fmt.Errorf("%w: it ends after %d bytes", ErrDamaged, n))
	case binary.BigEndian.Uint32(head[68:]) != applicationID:
		return &Error{Path: path, Err: fmt.Errorf("%w: it is the SQLite file of another program", ErrNotLedger), Hint: "name another file; this one was not changed"}
	}
	return nil
}

// touch makes sure that the file is there and can be written, with the plain error of the system if not.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return explain(path, err)
	}
	return f.Close()
}

// versionTable is goose's record of the schema's version.
const versionTable = "meta"

func provider(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, files,
		goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true))
}

// schemaVersion is the newest version that this program knows.
func schemaVersion() int64 { return schemaVersionOf(migrations) }

func schemaVersionOf(files fs.FS) int64 {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		panic(err)
	}
	newest := int64(0)
	for _, n := range names {
		v, err := goose.NumericComponent(n)
		if err != nil {
			panic(err)
		}
		newest = max(newest, v)
	}
	return newest
}

// migrate brings the schema to the newest version. Two processes that create one ledger at the same
// time get into each other's way; whoever comes second finds the work done when it looks again.
func migrate(db *sql.DB) error {
	ctx := context.Background()
	var err error
	for range 5 {
		var version int64
		if version, err = storedVersion(ctx, db); err != nil || version == schemaVersion() {
			return err
		}
		if version > schemaVersion() {
			return newer(version)
		}
		var p *goose.Provider
		if p, err = provider(db); err != nil {
			return err
		}
		if _, err = p.Up(ctx); err == nil {
			return nil
		}
	}
	return err
}

// The first versions with marks of finished items, and with what calls took.
const (
	versionOfDone = 2
	versionOfUsed = 3
)

// checkVersion is migrate for a store that is only read: it takes any version that it knows.
func checkVersion(db *sql.DB) (int64, error) {
	version, err := storedVersion(context.Background(), db)
	switch {
	case err != nil:
		return 0, err
	case version > schemaVersion():
		return 0, newer(version)
	case version < 1:
		return 0, fmt.Errorf("it holds no tables: its creation was cut off")
	}
	return version, nil
}

// storedVersion is 0 for a file without tables.
func storedVersion(ctx context.Context, db *sql.DB) (int64, error) {
	var tables, versions int
	err := db.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(name = ?), 0) FROM sqlite_schema", versionTable).Scan(&tables, &versions)
	switch {
	case err != nil || tables == 0:
		return 0, err
	case versions == 0:
		return 0, fmt.Errorf("%w: there are tables, and no version of them", ErrDamaged)
	}
	var version sql.NullInt64
	err = db.QueryRowContext(ctx, "SELECT max(version_id) FROM "+versionTable+" WHERE is_applied").Scan(&version)
	return version.Int64, err
}

func newer(version int64) error {
	return fmt.Errorf("%w: schema version %d, known up to %d", ErrNewer, version, schemaVersion())
}
