// Command credence measures how sure a language model is of its answers, and how far that
// measurement can be trusted. Run "credence quickstart" first; "credence help" lists the rest.
package main

import (
	"context"
	"os"

	"github.com/credence-lab/credence/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
