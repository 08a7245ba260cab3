// Command fetch downloads a URL, trying again with growing pauses when the
// server is busy or the network is unreliable.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"
)

// Policy says how often, and how patiently, to retry.
type Policy struct {
	MaxAttempts int
	BaseDelay   time.Duration
	MaxDelay    time.Duration
	Jitter      float64 // share of the delay that is random, 0 to 1
}

// permanentError marks failures that no amount of patience will cure.
type permanentError struct{ err error }

func (e permanentError) Error() string { return e.err.Error() }
func (e permanentError) Unwrap() error { return e.err }

// Delay returns the pause after the given attempt, counted from zero.
func (p Policy) Delay(attempt int, random func() float64) time.Duration {
	delay := p.BaseDelay << attempt
	if delay <= 0 || delay > p.MaxDelay {
		delay = p.MaxDelay
	}
	spread := float64(delay) * p.Jitter
	return delay - time.Duration(spread*random())
}

// Retry calls fn until it succeeds, fails for good or runs out of attempts.
func Retry[T any](ctx context.Context, p Policy, fn func(context.Context) (T, error)) (T, error) {
	var (
		zero T
		errs []error
	)
	for attempt := 0; attempt < p.MaxAttempts; attempt++ {
		value, err := fn(ctx)
		if err == nil {
			return value, nil
		}
		var permanent permanentError
		if errors.As(err, &permanent) {
			return zero, permanent.err
		}
		errs = append(errs, fmt.Errorf("attempt %d: %w", attempt+1, err))
		if attempt == p.MaxAttempts-1 {
			break
		}

		pause := p.Delay(attempt, rand.Float64)
		fmt.Fprintf(os.Stderr, "… %v, waiting %s\n", err, pause.Round(time.Millisecond))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return zero, ctx.Err()
		}
	}
	return zero, errors.Join(errs...)
}

func fetch(client *http.Client, url string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return "", permanentError{err}
		}
		req.Header.Set("Accept", "text/plain; q=0.9, */*; q=0.1")

		resp, err := client.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()

		switch {
		case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode >= 500:
			return "", fmt.Errorf("server said %s", resp.Status)
		case resp.StatusCode >= 400:
			return "", permanentError{fmt.Errorf("refused: %s", resp.Status)}
		}
		body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		return strings.TrimSpace(string(body)), err
	}
}

func main() {
	attempts := flag.Int("attempts", 5, "how many times to try")
	base := flag.Duration("base", 200*time.Millisecond, "pause after the first failure")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: fetch [-attempts n] [-base d] URL")
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	policy := Policy{MaxAttempts: *attempts, BaseDelay: *base, MaxDelay: 10 * time.Second, Jitter: 0.3}
	client := &http.Client{Timeout: 15 * time.Second}
	text, err := Retry(ctx, policy, fetch(client, flag.Arg(0)))
	if err != nil {
		fmt.Fprintf(os.Stderr, "¡error!\n%v\n", err)
		os.Exit(1)
	}
	fmt.Println(text)
}
