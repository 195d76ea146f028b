// Package cli is the credence command: one file per subcommand, exit codes in exit.go.
//
// Results go to standard output; progress, warnings and errors go to standard error.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/credence-lab/credence/internal/nearest"
	"github.com/credence-lab/credence/study"
)

// app is what every subcommand shares: its streams and what the global flags said.
type app struct {
	in       io.Reader
	out, err io.Writer
	verbose  bool
	quiet    bool
	json     bool
	stream   *events
	// log takes messages for people. It is the app's own, so that two apps in one process do not mix.
	log *slog.Logger
	// open replaces the embedded engine in tests; nil otherwise.
	open study.Opener
}

// Option changes how the command runs.
type Option func(*app)

// WithOpener makes the command open models by o instead of the embedded engine.
func WithOpener(o study.Opener) Option { return func(a *app) { a.open = o } }

// Main runs the command as a process does: an interrupt ends the work in order, a second one at once.
func Main(ctx context.Context, args []string, in io.Reader, out, err io.Writer, options ...Option) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return Run(ctx, args, in, out, err, options...)
}

// Run runs the command with the given arguments and streams and returns its exit code.
func Run(ctx context.Context, args []string, in io.Reader, out, err io.Writer, options ...Option) int {
	a := &app{in: in, out: out, err: err}
	a.setLogger()
	for _, change := range options {
		change(a)
	}
	root := a.newRootCommand()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(err)
	return a.conclude(root.ExecuteContext(ctx))
}

func (a *app) newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "credence",
		Short: "Measure how sure a language model is of its answers, and how far to trust that",
		Long: `credence measures how sure a language model is of its answers, in words and in
probabilities, and how much the verdict depends on how it was measured.

Start with "credence quickstart": it fetches a small model once and runs a study
of built-in questions on this machine.`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		Args:                       noSubcommand,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SuggestionsMinimumDistance: 2,
		PersistentPreRunE:          func(*cobra.Command, []string) error { a.setLogger(); return nil },
	}
	root.PersistentFlags().BoolVarP(&a.verbose, "verbose", "v", false, "say more on standard error")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress on standard error")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(usageTemplate(root))
	root.AddCommand(a.commands()...)
	root.SetHelpCommand(helpCommand(root))
	for _, cmd := range root.Commands() {
		cmd.Args = wrongUsage(cmd.Args)
	}
	return root
}

// flagError says what a mistyped flag was probably meant to be.
func flagError(cmd *cobra.Command, err error) error {
	help := fmt.Sprintf("run %q for its flags", cmd.CommandPath()+" --help")
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near, ok := nearest.Of(unknown.GetSpecifiedName(), names); ok {
			return usageHint(err, "did you mean --%s? %s", near, help)
		}
	}
	return usageHint(err, "%s", help)
}

// noSubcommand turns a mistyped subcommand into an error with cobra's suggestions.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "run \"" + cmd.CommandPath() + " --help\" for the commands"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean \"" + cmd.CommandPath() + " " + near[0] + "\"?"
	}
	return usageHint(usagef("unknown command %q", args[0]), "%s", hint)
}

// level is that of the messages to show.
func (a *app) level() slog.Level {
	switch {
	case a.quiet:
		return slog.LevelWarn
	case a.verbose:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

func (a *app) setLogger() {
	if e := a.events(); e != nil {
		a.log = slog.New(e)
		return
	}
	a.log = slog.New(&messages{w: a.err, level: a.level()})
}
