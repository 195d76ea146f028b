package table

import (
	"bytes"
	"path/filepath"
	"strings"
)

// Format is what the bytes of a table are, once decompressed.
type Format string

// The formats that can be read.
const (
	CSV     Format = "csv"
	TSV     Format = "tsv"
	JSONL   Format = "jsonl"
	Parquet Format = "parquet"
)

// Formats are all formats, for help texts.
func Formats() []Format { return []Format{CSV, TSV, JSONL, Parquet} }

var (
	gzipMagic    = []byte{0x1f, 0x8b}
	zstdMagic    = []byte{0x28, 0xb5, 0x2f, 0xfd}
	parquetMagic = []byte("PAR1")
	zipMagic     = []byte("PK\x03\x04")
	utf8BOM      = []byte{0xef, 0xbb, 0xbf}
)

var extensions = map[string]Format{
	".csv": CSV, ".tsv": TSV, ".tab": TSV,
	".jsonl": JSONL, ".ndjson": JSONL, ".jsonlines": JSONL,
	".parquet": Parquet, ".pq": Parquet,
}

// byName is the format that a file name promises, past the endings of compression; empty if none.
func byName(name string) Format {
	name = strings.ToLower(name)
	for {
		ext := filepath.Ext(name)
		switch ext {
		case ".gz", ".gzip", ".zst", ".zstd":
			name = strings.TrimSuffix(name, ext)
			continue
		}
		return extensions[ext]
	}
}

// sniff decides the format from the first bytes, and only where those leave it open from the name.
// What cannot be a table gets an error that says what to do with it.
func sniff(head []byte, file, name string) (Format, *Error) {
	if bytes.HasPrefix(head, parquetMagic) {
		return Parquet, nil
	}
	if problem := foreign(head, file); problem != nil {
		return "", problem
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, utf8BOM), " \t\r\n")
	named := byName(name)
	switch {
	case named == Parquet:
		return "", &Error{Position: Position{File: file}, Problem: "the name says Parquet, the content does not",
			Advice: "is the file complete? it should begin with PAR1"}
	case looksJSONL(text):
		return JSONL, nil
	case bytes.HasPrefix(text, []byte("[")) && named != CSV && named != TSV:
		return "", &Error{Position: Position{File: file, Line: 1}, Problem: "a JSON list where one record a line is wanted",
			Advice: "convert it: jq -c '.[]' in.json > out.jsonl"}
	case named != "":
		return named, nil
	case bytes.HasPrefix(text, []byte("{")):
		return JSONL, nil
	}
	return CSV, nil
}

// foreign recognises what people hand over instead of a table.
func foreign(head []byte, file string) *Error {
	refuse := func(what, advice string) *Error {
		return &Error{Position: Position{File: file}, Problem: what, Advice: advice}
	}
	switch {
	case bytes.HasPrefix(head, zipMagic):
		return refuse("a zip archive, perhaps a spreadsheet", "save the sheet as CSV, or unpack the archive")
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return refuse("text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8")
	case bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		return refuse("an SQLite database", "export the table as CSV")
	}
	return nil
}

// looksJSONL reports whether the first line is, or begins like, a JSON object.
func looksJSONL(text []byte) bool {
	if !bytes.HasPrefix(text, []byte("{")) {
		return false
	}
	rest := bytes.TrimLeft(text[1:], " \t")
	return bytes.HasPrefix(rest, []byte(`"`)) && bytes.Contains(rest, []byte(`":`)) || bytes.HasPrefix(rest, []byte("}"))
}

// delimiter finds what separates the cells of a CSV file in its first line: a comma unless there is
// none and a tab or a semicolon is.
func delimiter(head []byte, f Format) byte {
	if f == TSV {
		return '\t'
	}
	line := bytes.TrimLeft(bytes.TrimPrefix(head, utf8BOM), "\r\n")
	if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	counts := map[byte]int{}
	inside := false
	for _, c := range line {
		if c == '"' {
			inside = !inside
		}
		if !inside {
			counts[c]++
		}
	}
	if counts[','] == 0 {
		for _, d := range []byte{'\t', ';'} {
			if counts[d] > 0 {
				return d
			}
		}
	}
	return ','
}
