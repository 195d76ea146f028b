package cli

import "github.com/spf13/cobra"

// commands lists the subcommands in the order in which a newcomer meets them.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.newQuickstartCommand(),
		a.newRunCommand(),
		a.newPlanCommand(),
		a.newTablesCommand(),
		a.newAnnotateCommand(),
		a.newCardCommand(),
		a.newEvalCommand(),
		a.newMetricsCommand(),
		a.newValidateCommand(),
		a.newLedgerCommand(),
		a.newDoctorCommand(),
		a.newModelsCommand(),
		a.newCalibrateDiversityCommand(),
		a.newPullCommand(),
		a.newVersionCommand(),
	}
}
