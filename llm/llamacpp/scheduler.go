package llamacpp

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// errClosed answers requests of an engine that was closed.
var errClosed = errors.New("llamacpp: the engine is closed")

// scheduler decides what is decoded next. One goroutine runs it and alone touches the decoder: it gives
// waiting jobs a slot, fills batches across jobs, and hands logits to workers, which compute what a
// request wants of them and choose the next token while the next batch may already run.
type scheduler struct {
	dec   decoder
	lim   limits
	slots []slot
	clock uint64
	// queue is in the order in which beginnings are shared best; late came after it was ordered.
	queue, late []*job
	// sampling counts generating jobs that wait for their next token.
	sampling int

	mu      sync.Mutex // guards what follows
	coming  []*job
	results []result
	closing bool
	wake    chan struct{}

	tasks   chan task
	buffers chan []float32
	workers sync.WaitGroup

	work counters
}

// task is a row of logits for a worker, result what became of it.
type task struct {
	job    *job
	k      int
	logits []float32
}

type result struct {
	job  *job
	next int32
	more bool
	err  error
}

// rowBuffers bounds the logits that wait for workers; the decoding goroutine waits beyond.
const rowBuffers = 48

func newScheduler(dec decoder, lim limits) *scheduler {
	s := &scheduler{
		dec: dec, lim: lim, slots: make([]slot, lim.slots), wake: make(chan struct{}, 1),
		tasks: make(chan task, rowBuffers), buffers: make(chan []float32, rowBuffers),
	}
	for range rowBuffers {
		s.buffers <- nil
	}
	for range runtime.GOMAXPROCS(0) {
		s.workers.Go(s.serve)
	}
	return s
}

// submit hands over a job. Its done is closed when it ended, also if the scheduler is closing.
func (s *scheduler) submit(jobs ...*job) {
	s.mu.Lock()
	closing := s.closing
	if !closing {
		s.coming = append(s.coming, jobs...)
	}
	s.mu.Unlock()
	if closing {
		for _, j := range jobs {
			j.end(errClosed)
		}
		return
	}
	s.nudge()
}

// close asks run to end. It does not wait.
func (s *scheduler) close() {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.nudge()
}

func (s *scheduler) nudge() {
	select {
	case s.wake <- struct{}{}:
	default: // one is waiting already
	}
}

// run works until close.
func (s *scheduler) run() {
	for {
		results, closing := s.receive()
		for _, r := range results {
			s.settle(r)
		}
		if closing {
			s.shutDown()
			return
		}
		s.dropCancelled()
		s.admit()
		b := planBatch(s.slots, s.lim)
		if b.useful == 0 || s.shouldWait(b) {
			<-s.wake
			continue
		}
		s.decode(b)
	}
}

// receive takes what others left.
func (s *scheduler) receive() ([]result, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(s.late, s.coming...)
	results := s.results
	s.coming, s.results = nil, nil
	return results, s.closing
}

// shouldWait reports whether tokens that workers are choosing now should join the batch. A batch of single
// tokens gains more from company than from an early start, and texts that go on together stay together;
// a large batch of given tokens is better decoded meanwhile.
func (s *scheduler) shouldWait(b batch) bool {
	return s.sampling > 0 && (b.each == 1 || b.useful < s.lim.rows/4)
}

// settle books what a worker found.
func (s *scheduler) settle(r result) {
	j := r.job
	j.sampling--
	if j.generate {
		s.sampling--
	}
	switch {
	case j.ended:
	case r.err != nil:
		s.end(j, r.err)
	case r.more:
		j.tokens = append(j.tokens, r.next)
	case j.generate, j.left == 0 && j.sampling == 0:
		s.end(j, nil)
	}
}

// end finishes a job and keeps its text for others to begin with.
func (s *scheduler) end(j *job, err error) {
	s.release(j)
	j.end(err)
}

func (j *job) end(err error) {
	if !j.ended {
		j.ended, j.err = true, err
		close(j.done)
	}
}

func (s *scheduler) release(j *job) {
	if j.slot >= 0 {
		s.touch(j.slot)
		s.slots[j.slot].job = nil
		s.slots[j.slot].passed = 0
		j.slot = -1
	}
}

func (s *scheduler) touch(slot int) {
	s.clock++
	s.slots[slot].used = s.clock
}

func (s *scheduler) dropCancelled() {
	for i := range s.slots {
		if j := s.slots[i].job; j != nil && j.ctx.Err() != nil {
			s.end(j, j.ctx.Err())
		}
	}
	gone := func(j *job) bool {
		if j.ctx.Err() == nil {
			return false
		}
		j.end(j.ctx.Err())
		return true
	}
	s.queue = slices.DeleteFunc(s.queue, gone)
	s.late = slices.DeleteFunc(s.late, gone)
}

// admit gives slots to waiting jobs. Jobs are ordered by their tokens, so that equal beginnings follow
// each other, but in generations: what came later waits until all that was there before is admitted,
// and fills only slots which that leaves free.
func (s *scheduler) admit() {
	if len(s.queue) == 0 {
		s.queue, s.late = s.late, nil
		slices.SortStableFunc(s.queue, func(a, b *job) int { return slices.Compare(a.tokens, b.tokens) })
	}
	s.queue = s.admitFrom(s.queue)
	s.late = s.admitFrom(s.late)
}

// admitFrom returns the jobs that found no slot or wait for a beginning.
func (s *scheduler) admitFrom(jobs []*job) []*job {
	left := jobs[:0]
	full := false
	for _, j := range jobs {
		if full {
			left = append(left, j)
			continue
		}
		from := findShared(s.slots, j)
		to := room(s.slots, from)
		if to < 0 {
			full = true
		}
		if full || from.coming >= from.n+worthWaiting {
			left = append(left, j)
			continue
		}
		if err := s.place(j, from, to); err != nil {
			j.end(err)
		}
	}
	clear(jobs[len(left):])
	return left
}

// place makes slot to hold the beginning of a job's text and gives it the job.
func (s *scheduler) place(j *job, from shared, to int) error {
	t := &s.slots[to]
	keep := 0
	switch {
	case from.slot == to:
		keep = from.n
	case from.slot >= 0 && s.worthCopying(from.n):
		if err := s.trim(to, 0); err != nil {
			return err
		}
		if err := s.dec.copySlot(from.slot, to); err != nil {
			return fmt.Errorf("llamacpp: copying a shared beginning: %w", err)
		}
		t.tokens = append(t.tokens, s.slots[from.slot].tokens...)
		s.touch(from.slot)
		keep = from.n
	}
	if err := s.trim(to, keep); err != nil {
		return err
	}
	s.work.shared.Add(int64(keep))
	t.job, j.slot = j, to
	s.touch(to)
	return nil
}

// worthCopying weighs n tokens against copying all cells of a slot, as the decoder must: one token
// takes as long as some 256 cells.
func (s *scheduler) worthCopying(n int) bool { return n > 0 && n*256 >= s.lim.cells }

func (s *scheduler) trim(slot, n int) error {
	if len(s.slots[slot].tokens) == n {
		return nil
	}
	if err := s.dec.trim(slot, n); err != nil {
		return fmt.Errorf("llamacpp: trimming a text: %w", err)
	}
	s.slots[slot].tokens = s.slots[slot].tokens[:n]
	return nil
}

// decode runs one batch and hands out its logits.
func (s *scheduler) decode(b batch) {
	rows := make([]row, 0, b.rows())
	for i := range s.slots {
		sl := &s.slots[i]
		switch inRun := i >= b.from && i < b.to; {
		case inRun && sl.pending() > 0:
			rows = appendRows(rows, i, sl, b.each)
			sl.passed = 0
		case inRun: // filling; planBatch leaves each at 1 here
			rows = append(rows, row{slot: i, pos: len(sl.tokens)})
		case sl.pending() > 0:
			sl.passed++
		}
	}
	if err := s.dec.decode(rows); err != nil {
		s.fail(b, err)
		return
	}
	s.work.batches.Add(1)
	s.work.decoded.Add(int64(b.useful))
	s.work.filling.Add(int64(len(rows) - b.useful))
	s.collect(b, rows)
}

func appendRows(rows []row, i int, sl *slot, n int) []row {
	for k := range n {
		pos := len(sl.tokens) + k
		rows = append(rows, row{slot: i, pos: pos, token: sl.job.tokens[pos], want: pos >= sl.job.first})
	}
	return rows
}

// collect books the decoded rows and hands wanted logits to workers.
func (s *scheduler) collect(b batch, rows []row) {
	for i, r := range rows {
		sl := &s.slots[r.slot]
		if sl.pending() == 0 { // filling
			if err := s.dec.trim(r.slot, len(sl.tokens)); err != nil {
				s.fail(b, err)
				return
			}
			continue
		}
		sl.tokens = append(sl.tokens, r.token)
		if r.want {
			if err := s.hand(sl.job, r.pos-sl.job.first, i); err != nil {
				s.fail(b, err)
				return
			}
		}
	}
	for i := b.from; i < b.to; i++ {
		// A scoring job needs no cells once its last row is decoded; its workers may still compute.
		if j := s.slots[i].job; j != nil && !j.generate && j.left == 0 {
			s.release(j)
		}
	}
}

// hand copies the logits of row i for a worker: they are the decoder's memory and gone with the next batch.
func (s *scheduler) hand(j *job, k, i int) error {
	logits, err := s.dec.logits(i)
	if err != nil {
		return err
	}
	buf := <-s.buffers
	buf = append(buf[:0], logits...)
	j.sampling++
	j.left--
	if j.generate {
		s.sampling++
	}
	s.tasks <- task{j, k, buf}
	return nil
}

// fail ends the jobs of a batch that could not be decoded and empties their slots.
func (s *scheduler) fail(b batch, err error) {
	for i := b.from; i < b.to; i++ {
		if j := s.slots[i].job; j != nil {
			s.end(j, fmt.Errorf("llamacpp: decoding: %w", err))
		}
		_ = s.dec.trim(i, 0) // the decoder is in trouble already; the first error is the one to tell
		s.slots[i].tokens = s.slots[i].tokens[:0]
	}
}

// serve is a worker: it computes what requests want of logits.
func (s *scheduler) serve() {
	var memory scratch
	for t := range s.tasks {
		next, more, err := t.job.out.take(t.k, t.logits, &memory)
		s.buffers <- t.logits
		s.mu.Lock()
		s.results = append(s.results, result{t.job, next, more, err})
		s.mu.Unlock()
		s.nudge()
	}
}

// shutDown ends all jobs and frees the decoder once no worker needs anything.
func (s *scheduler) shutDown() {
	for i := range s.slots {
		if j := s.slots[i].job; j != nil {
			s.end(j, errClosed)
		}
	}
	close(s.tasks)
	s.workers.Wait()
	results, _ := s.receive()
	for _, r := range results {
		s.settle(r)
	}
	for _, j := range slices.Concat(s.queue, s.late) {
		j.end(errClosed)
	}
	s.dec.close()
}
