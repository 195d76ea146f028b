package ledger

// OpenSQLiteLimited is OpenSQLite on a disk that is full when the file has maxPages pages.
func OpenSQLiteLimited(path string, maxPages int) (Store, error) { return openSQLite(path, maxPages) }

// ManyUnknown is how many new calls in a row end the looking into the store.
const ManyUnknown = manyUnknown

// SchemaVersion is the newest schema that this program knows.
func SchemaVersion() int64 { return schemaVersion() }
