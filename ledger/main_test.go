package ledger_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// children are what the test binary does when a test starts it again as another process.
var children = map[string]func(args []string) error{}

func TestMain(m *testing.M) {
	if name := os.Getenv("LEDGER_TEST_CHILD"); name != "" {
		if err := children[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
