package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/credence-lab/credence/internal/cli"
)

// leakless are tests that leave no goroutine behind.
type leakless struct{ tests *testing.M }

func (l leakless) Run() int {
	code := l.tests.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func TestMain(m *testing.M) {
	testscript.Main(leakless{m}, map[string]func(){
		"credence": func() {
			var options []cli.Option
			if os.Getenv("CREDENCE_TEST_SCRIPTED") != "" {
				options = append(options, cli.WithOpener(scripted{}))
			}
			os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, options...))
		},
	})
}

// TestScripts runs every file of testdata/script: the command as a user types it, with what it
// prints and how it exits. No script reaches a network or a real model.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: servers(t),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// spoil FILE FROM COUNT turns the bits of bytes of a file.
			"spoil": func(ts *testscript.TestScript, _ bool, args []string) {
				content := []byte(ts.ReadFile(args[0]))
				from, err1 := strconv.Atoi(args[1])
				n, err2 := strconv.Atoi(args[2])
				ts.Check(errors.Join(err1, err2))
				for i := from; i < from+n; i++ {
					content[i] ^= 0xff
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), content, 0o600))
			},
			// subst FILE puts the values of variables into a file.
			"subst": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(os.Expand(ts.ReadFile(args[0]), ts.Getenv)), 0o600))
			},
		},
		UpdateScripts: os.Getenv("UPDATE") != "",
	})
}
