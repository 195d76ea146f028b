package report

// scoresView is what a page of scores alone shows.
type scoresView struct {
	Tables []tableView
	Groups []scoresGroup
}

type scoresGroup struct {
	Name   string
	Panels []panelView
	Curves curvesView
}
