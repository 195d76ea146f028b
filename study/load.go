package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/credence-lab/credence/internal/nearest"
	"github.com/credence-lab/credence/internal/strictyaml"
)

// InputError is something wrong with what the user gave: where, what, and what to do.
type InputError struct {
	// Path of the file; Line and Column from 1, or 0 where no place can be named.
	Path         string
	Line, Column int
	// What is wrong, and Hint what to do about it (may be empty).
	What, Hint string
	Err        error
}

func (e *InputError) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Column > 0 {
		fmt.Fprintf(&b, ":%d", e.Column)
	}
	b.WriteString(": " + e.What)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// BadInput makes the command exit with 2.
func (e *InputError) BadInput() bool { return true }

// Load reads and checks a study file. Files named in it, of data and of weights, are taken relative to
// its folder.
// Every error is an [*InputError] with the line.
func Load(path string) (*File, error) { return LoadFrom(path, "") }

// LoadFrom is [Load] with data files taken relative to another folder, such as one of published
// benchmarks; empty is the study's own.
func LoadFrom(path, data string) (*File, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Parse(path, text)
	if err != nil {
		return nil, err
	}
	if data != "" {
		for i := range f.Datasets {
			d := &f.Datasets[i]
			if d.File == "" || filepath.IsAbs(d.File) {
				continue
			}
			if d.File, err = filepath.Abs(filepath.Join(data, d.File)); err != nil {
				return nil, &InputError{Path: data, What: "cannot be named: " + cause(err), Err: err}
			}
		}
	}
	f.rebase(func(file string) string {
		if filepath.IsAbs(file) {
			return file
		}
		return filepath.Join(filepath.Dir(path), file)
	})
	return f, nil
}

// rebase changes every path of a file that the study names. Weights are a path if they end in .gguf
// or hold a separator, else a name of the catalogue.
func (f *File) rebase(change func(string) string) {
	for i := range f.Datasets {
		if d := &f.Datasets[i]; d.File != "" {
			d.File = change(d.File)
		}
	}
	f.rebaseConsistency(change)
	f.rebaseImports(change)
	if f.Protocol.Rulings != "" {
		f.Protocol.Rulings = change(f.Protocol.Rulings)
	}
	for i := range f.Models {
		if m := &f.Models[i]; m.KeyFile != "" {
			m.KeyFile = change(m.KeyFile)
		}
		if m := &f.Models[i]; isPath(m.Weights) {
			m.Weights = change(m.Weights)
		}
	}
	if isPath(f.Embeddings.Weights) {
		f.Embeddings.Weights = change(f.Embeddings.Weights)
	}
	for _, s := range []*Server{&f.Embeddings.Server, &f.Entailment.Server} {
		if s.KeyFile != "" {
			s.KeyFile = change(s.KeyFile)
		}
	}
}

// isPath reports whether weights are a file and no name.
func isPath(weights string) bool {
	return strings.HasSuffix(weights, ".gguf") || strings.ContainsAny(weights, `/\`)
}

// Parse reads a study file from data; path is for messages. Defaults are filled in.
func Parse(path string, data []byte) (*File, error) {
	data = []byte(strings.TrimPrefix(string(data), "\ufeff"))
	if err := checkSize(path, data); err != nil {
		return nil, err
	}
	var f File
	if err := strictyaml.Unmarshal(data, &f); err != nil {
		return nil, positioned(path, err)
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, positioned(path, err)
	}
	if err := checkTree(path, tree); err != nil {
		return nil, err
	}
	f.at = positions{path, tree}
	f.fill()
	return &f, f.check()
}

// positioned turns an error of the YAML library into ours, with a suggestion for an unknown key.
func positioned(path string, err error) error {
	e := &InputError{Path: path, What: err.Error(), Err: err}
	var y yaml.Error
	if errors.As(err, &y) {
		e.What = y.GetMessage()
		if tok := y.GetToken(); tok != nil && tok.Position != nil {
			e.Line, e.Column = tok.Position.Line, tok.Position.Column
		}
	}
	var kind *yaml.TypeError
	if errors.As(err, &kind) {
		e.What = fmt.Sprintf("%s where %s is wanted", kindWord(kind.SrcType), kindWord(kind.DstType))
	}
	var overflow *yaml.OverflowError
	if errors.As(err, &overflow) {
		e.What = fmt.Sprintf("%s where %s is wanted: it does not fit", overflow.SrcNum, kindWord(overflow.DstType))
	}
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) {
		key := unknown.GetToken().Value
		e.What = fmt.Sprintf("unknown key %q", key)
		if near, ok := nearest.Of(key, keys(reflect.TypeFor[File]())); ok {
			e.Hint = fmt.Sprintf("did you mean %q?", near)
		} else {
			e.Hint = "the keys are described in docs/format.md"
		}
	}
	return e
}

// kindWord names a type as someone who writes YAML would.
func kindWord(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return kindWord(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number, not negative,"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a group of keys"
	}
	return t.String()
}

// keys lists every key of a study file, at any depth.
func keys(t reflect.Type) []string {
	var list []string
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer:
		return keys(t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			if options == "inline" {
				list = append(list, keys(field.Type)...)
			}
			if name != "" && name != "-" {
				list = append(list, name)
				list = append(list, keys(field.Type)...)
			}
		}
	}
	return list
}

// positions finds where a key stands in the file.
type positions struct {
	path string
	tree *ast.File
}

// has reports whether the file itself gives a key a value, be it 0 or an empty list.
func (p positions) has(node string) bool {
	at, err := yaml.PathString(node)
	if err != nil {
		return false
	}
	found, err := at.FilterFile(p.tree)
	return err == nil && found != nil && found.Type() != ast.NullType
}

// errorf returns an InputError at the node of a YAML path such as "$.models[0].name".
func (p positions) errorf(node, hint, format string, args ...any) error {
	e := &InputError{Path: p.path, What: fmt.Sprintf(format, args...), Hint: hint}
	if p.tree == nil {
		return e
	}
	// A key that is not there is pointed to by the nearest parent that is.
	for node != "$" && node != "" {
		if at, err := yaml.PathString(node); err == nil {
			if found, err := at.FilterFile(p.tree); err == nil && found != nil && found.GetToken() != nil {
				e.Line, e.Column = found.GetToken().Position.Line, found.GetToken().Position.Column
				return e
			}
		}
		cut := strings.LastIndexAny(node, ".[")
		if cut < 0 {
			break
		}
		node = node[:cut]
	}
	return e
}

func baseName(path string) string {
	base := filepath.Base(path)
	if path == "" {
		return ""
	}
	if name, _, ok := strings.Cut(base, "."); ok && name != "" {
		return name
	}
	return base
}

// cause strips the operation and path that os errors repeat.
func cause(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
