package llamacpp

import "time"

// pace chooses between one thread and all of them by how fast batches come back.
//
// The library's threads wait for each other by spinning, several hundred times in a batch. On a machine
// that is busy with something else each wait may last as long as the other program's turn, and two
// threads become many times slower than one. In exact mode values do not depend on the number of threads,
// so it may follow the machine.
type pace struct {
	most int // threads, at least 1
	// one and all are seconds for one unit of work with one thread and with all; 0 is not known.
	one, all float64
	// best is the least that all was lately.
	best float64
	// alone says that one thread is the choice; left counts batches until the other is tried again.
	alone bool
	left  int
	tried bool
}

const (
	paceTrial   = 3   // the batch, counted from the first, that one thread is tried on
	paceAgain   = 48  // batches until all threads are tried again
	paceSlower  = 1.7 // times slower than its best makes all threads suspect
	paceWeight  = 0.3 // of a new measurement in the running mean
	paceForgets = 1.002
)

func newPace(most int) *pace { return &pace{most: most, left: paceTrial} }

// threads is the choice for the next batch.
func (p *pace) threads() int {
	if p.most == 1 {
		return 1
	}
	p.left--
	p.tried = p.left <= 0
	if p.alone != p.tried { // the choice, or the other one for a trial
		return 1
	}
	return p.most
}

// took books the time of the batch that threads was asked for, with its number of rows.
func (p *pace) took(threads, rows int, d time.Duration) {
	if p.most == 1 {
		return
	}
	each := d.Seconds() / float64(fixedCost+rows)
	mean := &p.all
	if threads == 1 {
		mean = &p.one
	}
	if *mean == 0 || p.tried {
		*mean = each
	} else {
		*mean += paceWeight * (each - *mean)
	}
	if threads > 1 {
		if p.best *= paceForgets; p.best == 0 || *mean < p.best {
			p.best = *mean
		}
	}
	p.decide()
}

func (p *pace) decide() {
	switch {
	case p.tried:
		p.alone = p.one > 0 && p.all > 0 && p.one < p.all
		p.left = paceAgain
		if !p.alone {
			p.left = 1 << 30 // until they get slower
		}
	case !p.alone && p.left > paceAgain && p.all > paceSlower*p.best:
		p.left = 1
	}
}
