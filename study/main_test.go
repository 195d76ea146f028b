package study_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"
)

// children are what the test binary does when a test starts it again as another process.
var children = map[string]func(args []string) error{}

func TestMain(m *testing.M) {
	if name := os.Getenv("STUDY_TEST_CHILD"); name != "" {
		if err := children[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// child starts this test binary again as another process; nothing of it outlives the test.
func child(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "STUDY_TEST_CHILD="+name)
	return cmd
}
