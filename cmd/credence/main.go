package main

import (
	_ "github.com/goccy/go-yaml"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/hybridgroup/yzma/pkg/llama"
	_ "github.com/hybridgroup/yzma/pkg/template"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/mattn/go-isatty"
	_ "github.com/parquet-go/parquet-go"
	_ "github.com/pressly/goose/v3"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/text/unicode/norm"
	_ "gonum.org/v1/gonum/stat"
	_ "modernc.org/sqlite"
	_ "pgregory.net/rapid"
)

func main() {}
