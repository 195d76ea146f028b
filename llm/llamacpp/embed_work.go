package llamacpp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
)

// embedJob is one text on its way. Whoever takes it from the queue sets vector or err and closes done.
type embedJob struct {
	ctx    context.Context
	ids    []int32
	vector []float32
	err    error
	done   chan struct{}
}

func (j *embedJob) end(vector []float32, err error) {
	j.vector, j.err = vector, err
	close(j.done)
}

// encoder computes texts, as a worker sees it. It is used by one goroutine.
type encoder interface {
	// encode computes all texts in one batch and calls each with the vector of every token of every text;
	// the vector is valid during the call.
	encode(texts [][]int32, each func(text, token int, vector []float32)) error
}

// embedQueue holds texts that wait for a worker, in order.
type embedQueue struct {
	mu     sync.Mutex
	filled *sync.Cond
	jobs   []*embedJob
	closed bool
}

func newEmbedQueue() *embedQueue {
	q := &embedQueue{}
	q.filled = sync.NewCond(&q.mu)
	return q
}

// put appends jobs. After close they end with an error.
func (q *embedQueue) put(jobs ...*embedJob) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		for _, j := range jobs {
			j.end(nil, errClosed)
		}
		return
	}
	q.jobs = append(q.jobs, jobs...)
	q.filled.Broadcast()
}

// close ends all jobs that wait with an error, and the workers when they are done with theirs.
func (q *embedQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, j := range q.jobs {
		j.end(nil, errClosed)
	}
	q.jobs = nil
	q.filled.Broadcast()
}

// take waits for the next jobs within the limits, at least one; none after close. Jobs that nobody waits
// for any more are dropped.
func (q *embedQueue) take(limits batchLimits) []*embedJob {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if jobs := q.next(limits); len(jobs) > 0 || q.closed {
			return jobs
		}
		q.filled.Wait()
	}
}

func (q *embedQueue) next(limits batchLimits) []*embedJob {
	var jobs []*embedJob
	rows := 0
	for len(q.jobs) > 0 && len(jobs) < limits.texts {
		j := q.jobs[0]
		if err := j.ctx.Err(); err != nil {
			j.end(nil, err)
			q.jobs = q.jobs[1:]
			continue
		}
		if len(jobs) > 0 && rows+len(j.ids) > limits.rows {
			break
		}
		rows += len(j.ids)
		jobs, q.jobs = append(jobs, j), q.jobs[1:]
	}
	return jobs
}

// work embeds texts until the queue is closed.
func (q *embedQueue) work(k encoder, limits batchLimits, p pooling) {
	for jobs := q.take(limits); len(jobs) > 0; jobs = q.take(limits) {
		embed(k, jobs, p)
	}
}

// embed computes jobs in one batch. One that has no vector does not fail the others.
func embed(k encoder, jobs []*embedJob, p pooling) {
	texts, sums := make([][]int32, len(jobs)), make([][]float64, len(jobs))
	for i, j := range jobs {
		texts[i] = j.ids
	}
	err := k.encode(texts, func(text, token int, vector []float32) { sums[text] = p.add(sums[text], token, vector) })
	for i, j := range jobs {
		if err != nil {
			j.end(nil, err)
			continue
		}
		j.end(unit(sums[i]))
	}
}

// add takes the vector of a token into the sum. What the mean lacks, the number of tokens, falls out when
// the sum is brought to length 1.
func (p pooling) add(sum []float64, token int, vector []float32) []float64 {
	if sum == nil {
		sum = make([]float64, len(vector))
	}
	if p == poolFirst && token > 0 {
		return sum
	}
	for i, x := range vector {
		sum[i] += float64(x)
	}
	return sum
}

var errNoDirection = errors.New("the model gives no direction for this text")

// unit brings a vector to length 1.
func unit(sum []float64) ([]float32, error) {
	squares := 0.
	for _, x := range sum {
		squares += x * x
	}
	length := math.Sqrt(squares)
	if !(length > 0) || math.IsInf(length, 0) { // NaN is not above 0
		return nil, fmt.Errorf("%w: its vector has the length %v", errNoDirection, length)
	}
	out := make([]float32, len(sum))
	for i, x := range sum {
		out[i] = float32(x / length)
	}
	return out, nil
}
