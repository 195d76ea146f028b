package study

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a study file. A real one has a few thousand bytes; the YAML library takes the square of
// what it is given, in time and in memory.
const (
	maxFileBytes = 1 << 20
	maxTokens    = 20_000
	maxNesting   = 100
)

// readFile reads a study file, whatever its size is said to be: a device has none.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &InputError{Path: path, What: "cannot be read: " + cause(err), Hint: "give the path of a study file", Err: err}
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, &InputError{Path: path, What: "cannot be read: " + cause(err), Err: err}
	}
	if len(data) > maxFileBytes {
		return nil, &InputError{Path: path, What: fmt.Sprintf("has more than %d bytes", maxFileBytes), Hint: "is it a study file?"}
	}
	return data, nil
}

// checkSize refuses YAML that would keep its parser busy for minutes. The lexer's time is linear.
func checkSize(path string, data []byte) error {
	tokens := lexer.Tokenize(string(data))
	if len(tokens) > maxTokens {
		return &InputError{Path: path, What: fmt.Sprintf("has %d words and signs, more than %d", len(tokens), maxTokens), Hint: "is it a study file?"}
	}
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if depth > maxNesting {
			return &InputError{Path: path, Line: t.Position.Line, Column: t.Position.Column,
				What: fmt.Sprintf("brackets nested deeper than %d", maxNesting), Hint: "is it a study file?"}
		}
	}
	return nil
}

// checkTree refuses what the YAML library passes over in silence: documents after the first, and
// fractions where a whole number is wanted, which it cuts off.
func checkTree(path string, tree *ast.File) error {
	at := func(node ast.Node, what, hint string) error {
		place := node.GetToken().Position
		return &InputError{Path: path, Line: place.Line, Column: place.Column, What: what, Hint: hint}
	}
	var bodies []ast.Node
	for _, d := range tree.Docs {
		if d.Body != nil {
			bodies = append(bodies, d.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return nil
	case 1:
	default:
		return at(bodies[1], "a second document", "write one study a file")
	}
	whole := wholeNumbers(reflect.TypeFor[File]())
	for _, node := range ast.Filter(ast.MappingValueType, bodies[0]) {
		pair := node.(*ast.MappingValueNode)
		key := pair.Key.String()
		if slices.Contains(whole, key) && !isWhole(pair.Value) {
			return at(pair.Value, fmt.Sprintf("%s %s is no whole number that fits", key, pair.Value), "write its digits")
		}
	}
	return nil
}

// isWhole reports whether a node is a whole number as it stands. The library also takes texts that look
// like numbers, and rounds or cuts those that do not fit.
func isWhole(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.FloatNode:
		return false
	case *ast.StringNode:
		_, signed := strconv.ParseInt(n.Value, 10, 64)
		_, unsigned := strconv.ParseUint(n.Value, 10, 64)
		return signed == nil || unsigned == nil
	}
	return true
}

// wholeNumbers lists the keys, at any depth, whose values are whole numbers.
func wholeNumbers(t reflect.Type) []string {
	var list []string
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer:
		return wholeNumbers(t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			of := field.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			switch of.Kind() {
			case reflect.Int, reflect.Uint64:
				list = append(list, name)
			default:
				if name != "" && name != "-" {
					list = append(list, wholeNumbers(of)...)
				}
			}
		}
	}
	return list
}
