// Package scheduler runs functions at set times, one after another, in the
// order in which they fall due.
package scheduler

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"
)

// ErrClosed is returned when a task is added to a stopped scheduler.
var ErrClosed = errors.New("scheduler: closed")

const maxIdle = 24 * time.Hour

// Task is what the scheduler runs. Every is zero for tasks that run once.
type Task struct {
	Name  string
	Due   time.Time
	Every time.Duration
	Run   func(ctx context.Context) error

	index    int
	failures int
}

type taskQueue []*Task

func (q taskQueue) Len() int           { return len(q) }
func (q taskQueue) Less(i, j int) bool { return q[i].Due.Before(q[j].Due) }

func (q taskQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *taskQueue) Push(x any) {
	task := x.(*Task)
	task.index = len(*q)
	*q = append(*q, task)
}

func (q *taskQueue) Pop() any {
	last := len(*q) - 1
	task := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	task.index = -1
	return task
}

// Scheduler is safe for use by many goroutines at once.
type Scheduler struct {
	mu     sync.Mutex
	queue  taskQueue
	wake   chan struct{}
	closed bool
	logger *log.Logger
}

// New returns an idle scheduler; call Serve to set it going.
func New(logger *log.Logger) *Scheduler {
	if logger == nil {
		logger = log.Default()
	}
	return &Scheduler{wake: make(chan struct{}, 1), logger: logger}
}

// Add queues a task and wakes the loop in case the task is due first.
func (s *Scheduler) Add(task *Task) error {
	if task.Run == nil {
		return fmt.Errorf("scheduler: task %q has nothing to run", task.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	heap.Push(&s.queue, task)
	select {
	case s.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
	return nil
}

// Serve blocks, running tasks as they fall due, until ctx is done.
func (s *Scheduler) Serve(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			s.mu.Lock()
			s.closed = true
			s.mu.Unlock()
			return ctx.Err()
		case <-s.wake:
		case <-timer.C:
		}
		timer.Reset(s.runDue(ctx, time.Now()))
	}
}

// runDue runs all tasks that are due and reports how long to sleep.
func (s *Scheduler) runDue(ctx context.Context, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) > 0 && !s.queue[0].Due.After(now) {
		task := heap.Pop(&s.queue).(*Task)
		s.mu.Unlock()
		err := task.Run(ctx)
		s.mu.Lock()

		if err != nil {
			task.failures++
			s.logger.Printf("✗ %s failed (%d×): %v", task.Name, task.failures, err)
		}
		if task.Every > 0 {
			task.Due = now.Add(task.Every)
			heap.Push(&s.queue, task)
		}
	}
	if len(s.queue) == 0 {
		return maxIdle
	}
	return time.Until(s.queue[0].Due)
}
