package bayes

// A Quantity is what is estimated of a judge.
type Quantity string

// Quantities of a judge. The joint ones are those of "A Tale of Two Error Categories", Appendix B.1, equation 2: the
// masses of the four outcomes over all items, which sum to 1. The paper calls them TPR, TNR, FPR and
// FNR. The usual rates of these names are conditional on the label, and have no prefix here.
const (
	JointTP Quantity = "joint.tp"
	JointTN Quantity = "joint.tn"
	JointFP Quantity = "joint.fp"
	JointFN Quantity = "joint.fn"

	// TPR is the sensitivity p₁, how probably the judge accepts a correct item; TNR the specificity p₀,
	// how probably it rejects an incorrect one; FPR is 1 − TNR, FNR is 1 − TPR.
	TPR Quantity = "tpr"
	TNR Quantity = "tnr"
	FPR Quantity = "fpr"
	FNR Quantity = "fnr"

	// Precision is how probably an accepted item is correct; NPV how probably a rejected one is incorrect.
	Precision Quantity = "precision"
	NPV       Quantity = "npv"
	// F1 is 2 TP/(2 TP + FP + FN) and Accuracy TP + TN, each draw by itself, alike by both definitions.
	F1       Quantity = "f1"
	Accuracy Quantity = "accuracy"
)

// Quantities lists them all, in the order in which they are shown.
var Quantities = []Quantity{F1, Accuracy, JointTP, JointTN, JointFP, JointFN, TPR, TNR, FPR, FNR, Precision, NPV}

// at is the quantity of a judge with sensitivity s and specificity c where the mean correctness of the
// items is t.
func (q Quantity) at(t float64, s, c unit) float64 {
	tp, fn, tn, fp := t*s.p, t*s.rest, (1-t)*c.p, (1-t)*c.rest
	switch q {
	case JointTP:
		return tp
	case JointTN:
		return tn
	case JointFP:
		return fp
	case JointFN:
		return fn
	case TPR:
		return s.p
	case TNR:
		return c.p
	case FPR:
		return c.rest
	case FNR:
		return s.rest
	case Precision:
		return tp / (tp + fp)
	case NPV:
		return tn / (tn + fn)
	case F1:
		return 2 * tp / (2*tp + fp + fn)
	case Accuracy:
		return tp + tn
	}
	panic("bayes: unknown quantity " + string(q))
}

// mirrors are the quantities that are 1 minus another.
var mirrors = map[Quantity]Quantity{FPR: TNR, FNR: TPR}
