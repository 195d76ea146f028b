package judge

import "github.com/credence-lab/credence/record"

// Reasons of panels.
const (
	// NoMembers: a panel has no member.
	NoMembers record.Missing = "panel without members"
	// MemberMissing: a member gave no score, so that a mean would be that of another panel.
	MemberMissing record.Missing = "panel member missing"
	// NoMajority: no verdict has more than half of the members.
	NoMajority record.Missing = "no majority"
)

// PanelMean is the mean of the scores of all members. Range [0,1], as theirs, higher for correct. Absent with
// [NoMembers], or with [MemberMissing] where one of them gave none. Source: Verga et al. 2024.
func PanelMean(members []record.Number) record.Number {
	if len(members) == 0 {
		return record.Absent(NoMembers)
	}
	sum := 0.0
	for _, m := range members {
		x, known := m.Get()
		if !known {
			return record.Absent(MemberMissing)
		}
		sum += x
	}
	return record.Known(sum / float64(len(members)))
}

// PanelMajority is the verdict of more than half of all members. A member that did not judge counts as one of
// them, so that its verdict could not have changed the outcome. Not judged with [NoMembers] or [NoMajority]. Source: Verga et al. 2024.
func PanelMajority(members []record.Verdict) (record.Verdict, record.Missing) {
	if len(members) == 0 {
		return record.NotJudged, NoMembers
	}
	count := map[record.Verdict]int{}
	for _, v := range members {
		count[v]++
	}
	for _, v := range []record.Verdict{record.Correct, record.Incorrect} {
		if 2*count[v] > len(members) {
			return v, record.Present
		}
	}
	return record.NotJudged, NoMajority
}
