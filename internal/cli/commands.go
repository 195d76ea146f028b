package cli

import "github.com/spf13/cobra"

// commands lists the subcommands in the order in which a newcomer meets them.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.newQuickstartCommand(),
		a.newRunCommand(),
		a.newPlanCommand(),
		a.newTablesCommand(),
		a.newCardCommand(),
		a.newEvalCommand(),
		a.newMetricsCommand(),
		a.newLedgerCommand(),
		a.newDoctorCommand(),
		a.newModelsCommand(),
		a.newPullCommand(),
		a.newVersionCommand(),
	}
}
