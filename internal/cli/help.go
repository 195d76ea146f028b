package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Commands are listed in the order of [app.commands], which is that of a newcomer's first hour.
func init() { cobra.EnableCommandSorting = false }

// usageTemplate is cobra's, with flags that keep to the 80 columns of a terminal that nobody widened,
// and with the exit codes.
func usageTemplate(root *cobra.Command) string {
	return strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages |", ".FlagUsagesWrapped 80 |") + exitCodesHelp
}

// helpCommand is cobra's, except that help on what does not exist is wrong usage.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help on a command",
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			for _, c := range root.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if len(rest) > 0 || err != nil {
				if cmd == nil || err != nil {
					cmd, rest = root, args
				}
				return noSubcommand(cmd, rest)
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}
