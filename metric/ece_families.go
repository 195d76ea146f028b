package metric

import (
	"fmt"
	"strconv"
	"strings"
)

// The members of the binned families: a norm, a way to cut bins, and its parameters.

func binnedFamilies() []Family {
	const left, right = "10.left-closed", "10.right-closed"
	return []Family{
		equalWidthFamily(ece, left, right, "15.left-closed"), equalMassFamily(ece, "10"), fixedSizeFamily(ece),
		equalWidthFamily(rmsce, left), equalMassFamily(rmsce, "10"), fixedSizeFamily(rmsce, "100", "100.skip-last"),
		equalWidthFamily(ace, left), equalMassFamily(ace, "10"),
		mceFamily("mce.equal-width", "{bins}.{edges}", equalWidthFamily, left, left+".min-20"),
		mceFamily("mce.equal-mass", "{bins}[.netcal]", equalMassFamily, "10"),
		equalWidthFamily(over, left), equalWidthFamily(under, left),
		single(NetOverconfidence()),
	}
}

func equalWidthStatistic(by norm, bins int, e Edges) (Statistic, error) {
	if err := checkBins(bins); err != nil {
		return Statistic{}, err
	}
	rule, known := e.rule()
	if !known {
		return Statistic{}, fmt.Errorf("the edge rule is %q; there are %s", e, edgeNames())
	}
	id, how := fmt.Sprintf("%s.equal-width.%d.%s", by.prefix, bins, e), fmt.Sprintf("Bin k of %d is %s.", bins, rule.describe)
	return binned(id, how, by, func(p *Prepared) partition { return equalWidth(p, bins, rule) }), nil
}

func equalWidthFamily(by norm, usual ...string) Family {
	return Family{
		Prefix: by.prefix + ".equal-width", Parameters: "{bins}.{" + edgeNames() + "}", Usual: usual,
		New: func(parameters string) (Statistic, error) {
			bins, edges, _ := strings.Cut(parameters, ".")
			m, err := number(bins, "bins")
			if err != nil {
				return Statistic{}, err
			}
			return equalWidthStatistic(by, m, Edges(edges))
		},
	}
}

func equalMassFamily(by norm, usual ...string) Family {
	return Family{
		Prefix: by.prefix + ".equal-mass", Parameters: "{bins}[.netcal]", Usual: usual,
		New: func(parameters string) (Statistic, error) {
			bins, rest, _ := strings.Cut(parameters, ".")
			m, err := number(bins, "bins")
			if err != nil {
				return Statistic{}, err
			}
			id, cut := fmt.Sprintf("%s.equal-mass.%d", by.prefix, m), equalMass
			how := fmt.Sprintf("%d bins of equal numbers of items; equal confidences share a bin.", m)
			switch Edges(rest) {
			case "":
			case Netcal:
				id, cut = id+"."+rest, quantileEdges
				how = fmt.Sprintf("%d bins between quantiles of the confidence, as netcal has them; none where two quantiles coincide.", m)
			default:
				return Statistic{}, fmt.Errorf("%q is no variant of bins of equal mass; there is %s", rest, Netcal)
			}
			return binned(id, how, by, func(p *Prepared) partition { return cut(p, m) }), checkBins(m)
		},
	}
}

func fixedSizeFamily(by norm, usual ...string) Family {
	return Family{
		Prefix: by.prefix + ".fixed-size", Parameters: "{items}[.skip-last]", Usual: usual,
		New: func(parameters string) (Statistic, error) {
			items, rest, _ := strings.Cut(parameters, ".")
			size, err := number(items, "items in a bin")
			if err != nil {
				return Statistic{}, err
			}
			by, id := by, fmt.Sprintf("%s.fixed-size.%d", by.prefix, size)
			how := fmt.Sprintf("Bins of %d items in order of confidence, those left over in the last; equal confidences share a bin.", size)
			switch rest {
			case "":
			case "skip-last":
				by, id = skipLast(by), id+".skip-last"
				how += " The bin of highest confidence is not looked at, as in published code."
			default:
				return Statistic{}, fmt.Errorf("%q is no variant of bins of fixed size; there is skip-last", rest)
			}
			return binned(id, how, by, func(p *Prepared) partition { return fixedSize(p, size) }), checkBins(size)
		},
	}
}

// mceFamily reads a trailing ".min-K" before the parameters of the bins.
func mceFamily(prefix, parameters string, bins func(norm, ...string) Family, usual ...string) Family {
	return Family{
		Prefix: prefix, Parameters: parameters + "[.min-{items}]", Usual: usual,
		New: func(parameters string) (Statistic, error) {
			rest, items, limited := strings.Cut(parameters, ".min-")
			if !limited {
				return bins(mce(1)).New(rest)
			}
			atLeast, err := number(items, "items at least in a bin")
			if err != nil {
				return Statistic{}, err
			}
			s, err := bins(mce(atLeast)).New(rest)
			s.ID += ".min-" + items
			return s, err
		},
	}
}

func number(digits, of string) (int, error) {
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || strconv.Itoa(n) != digits {
		return 0, fmt.Errorf("the number of %s is %q; write a whole number from 1", of, digits)
	}
	return n, nil
}

func checkBins(m int) error {
	if m < 1 || m > maxBins {
		return fmt.Errorf("%d is not in 1..%d", m, maxBins)
	}
	return nil
}

func must(s Statistic, err error) Statistic {
	if err != nil {
		panic("metric: " + err.Error())
	}
	return s
}
