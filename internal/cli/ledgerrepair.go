package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/study"
)

func (a *app) newLedgerCheckCommand(format *string) *cobra.Command {
	return &cobra.Command{
		Use:   "check PATH",
		Short: "Say whether a ledger is whole",
		Long: `Say whether a ledger is whole: the structure of the file and of its log, and of
every call whether its key is that of what was asked and its checksums fit.

PATH is the folder of a run, or a ledger file. Nothing is changed. The exit code
is 1 if something is wrong; "credence ledger repair" then saves what is whole.`,
		Example: "  credence ledger check runs/quickstart",
		Args:    exactlyOne("the folder of a run, or a ledger file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := ledger.Check(cmd.Context(), ledgerOf(args[0]))
			if err != nil {
				return noLedger(err, ledgerOf(args[0]))
			}
			if err := a.printFormatted(*format, ledgerCheckup{c}); err != nil || c.Found == 0 {
				return err
			}
			return fmt.Errorf("ledger %s: %w: %s", c.Path, ledger.ErrDamaged, plural(c.Found, "finding"))
		},
	}
}

// ledgerCheckup is what "credence ledger check" prints.
type ledgerCheckup struct{ *ledger.Checkup }

func (c ledgerCheckup) table(width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s whole", termsafe.String(c.Path), plural(c.Calls, "call"))
	if c.Found == 0 {
		b.WriteString(", nothing is wrong")
	}
	b.WriteString("\n")
	if c.Older > 0 {
		item(&b, width, fmt.Sprintf("%s of an earlier version: the checksum covers reply, tokens and log-probabilities; why they ended, when they were asked and what a server said of itself has none", plural(c.Older, "call")))
	}
	for _, what := range c.Findings {
		item(&b, width, termsafe.String(what))
	}
	if n := c.Found - len(c.Findings); n > 0 {
		item(&b, width, fmt.Sprintf("and %d more", n))
	}
	if c.Found > 0 {
		fmt.Fprintf(&b, "Nothing was changed. To save what is whole into a new file:\n  credence ledger repair %s\n", termsafe.String(c.Path))
	}
	return b.String()
}

// item writes a point of a list.
func item(b *strings.Builder, width int, text string) {
	for i, line := range report.Wrap(text, width-2, "  ") {
		if i == 0 {
			line = "- " + line
		}
		b.WriteString(line + "\n")
	}
}

func (c ledgerCheckup) json() any {
	return struct {
		Path     string   `json:"path"`
		Sound    bool     `json:"sound"`
		Calls    int      `json:"calls"`
		Older    int      `json:"calls_of_an_earlier_version"`
		Found    int      `json:"found"`
		Findings []string `json:"findings"`
	}{c.Path, c.Found == 0, c.Calls, c.Older, c.Found, append([]string{}, c.Findings...)}
}

func (a *app) newLedgerRepairCommand(format *string) *cobra.Command {
	var out string
	var replace bool
	cmd := &cobra.Command{
		Use:   "repair PATH",
		Short: "Save what is whole of a damaged ledger",
		Long: `Save every call that is whole from a damaged ledger into a new one, and say what
is lost. What comes out is right: the key of each call is that of what was
asked, and its checksums fit. A study that runs on the new ledger makes the lost
calls anew.

PATH is the folder of a run, or a ledger file; it is only read. With --replace
it is renamed to ledger.db.damaged when the new ledger is done, which then takes
its place. No run may be using it meanwhile.`,
		Example: "  credence ledger repair runs/mine --replace\n  credence ledger repair ledger.db --out saved.db",
		Args:    exactlyOne("the folder of a run, or a ledger file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ledgerOf(args[0])
			if out == "" {
				out = path + ".repaired"
			}
			release, err := holdRun(path, replace)
			if err != nil {
				return err
			}
			defer release()
			s, err := ledger.Repair(cmd.Context(), path, out)
			if err != nil {
				return noLedger(err, path)
			}
			done := ledgerSalvage{Salvage: s}
			if replace {
				if done.kept, err = ledger.Replace(path, out); err != nil {
					return err
				}
				s.To = path
			}
			return a.printFormatted(*format, done)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the new `file`; PATH with .repaired at its end if not given")
	cmd.Flags().BoolVar(&replace, "replace", false, "put the new ledger in the place of the damaged one, which is renamed and kept")
	return cmd
}

// holdRun keeps runs from the folder of a ledger that is to be replaced.
func holdRun(path string, replace bool) (release func(), err error) {
	if !replace {
		return func() {}, nil
	}
	return study.Hold(filepath.Dir(path))
}

// noLedger says what to do about a ledger that is not there.
func noLedger(err error, path string) error {
	if errors.Is(err, os.ErrNotExist) {
		return usageHint(usagef("there is no ledger %s", path), "name the folder of a run, such as runs/quickstart, or a ledger file")
	}
	return err
}

// ledgerSalvage is what "credence ledger repair" prints.
type ledgerSalvage struct {
	*ledger.Salvage
	// kept is what the damaged ledger is called now; empty if it was not renamed.
	kept string
}

func (s ledgerSalvage) table(width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s and %s saved from %s\n", termsafe.String(s.To), plural(s.Calls, "call"), plural(s.Attempts, "failed attempt"), termsafe.String(s.From))
	if s.kept != "" {
		fmt.Fprintf(&b, "The damaged ledger is kept as %s\n", termsafe.String(s.kept))
	}
	if s.LostCalls == 0 {
		b.WriteString("No lost call was found. Calls of which nothing is left cannot be counted.\n")
		return b.String()
	}
	fmt.Fprintf(&b, "At least %s lost; a run makes them anew:\n", plural(s.LostCalls, "call"))
	for _, l := range s.Lost {
		item(&b, width, l.Key.String()[:12]+": "+termsafe.String(l.Why))
	}
	if n := s.LostCalls - len(s.Lost); n > 0 {
		item(&b, width, fmt.Sprintf("and %d more", n))
	}
	return b.String()
}

func (s ledgerSalvage) json() any {
	type loss struct {
		Key string `json:"key"`
		Why string `json:"why"`
	}
	lost := []loss{}
	for _, l := range s.Lost {
		lost = append(lost, loss{l.Key.String(), l.Why})
	}
	return struct {
		From      string `json:"from"`
		To        string `json:"to"`
		Kept      string `json:"kept_as,omitempty"`
		Calls     int    `json:"calls"`
		Attempts  int    `json:"failed_attempts"`
		LostCalls int    `json:"lost_calls"`
		Lost      []loss `json:"lost"`
	}{s.From, s.To, s.kept, s.Calls, s.Attempts, s.LostCalls, lost}
}
