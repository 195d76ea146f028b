package await_test

import (
	"context"
	"errors"
	"testing"

	"github.com/credence-lab/credence/internal/await"
)

func TestResultIsThatOfTheWork(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	got, err := await.Result(t.Context(), func() (int, error) { return 7, broken })
	if got != 7 || !errors.Is(err, broken) {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestInterruptionDoesNotWaitForTheWork(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	got, err := await.Result(ctx, func() (int, error) {
		stop()
		<-release
		return 7, nil
	})
	if got != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestNothingBeginsAfterAnInterruption(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := await.Result(ctx, func() (int, error) {
		t.Error("the work has begun")
		return 0, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
