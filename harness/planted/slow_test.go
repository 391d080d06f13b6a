package planted

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bakeoff/service"
)

func TestParseSlow(t *testing.T) {
	for _, text := range []string{"execution=pool(4,2ms)", "login=pool(1,1m0s)", "verification=pool(100,36.2s)"} {
		if s, err := ParseSlow(text); err != nil || s.String() != text {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
	for text, want := range map[string]string{
		"":                        "must be STEP=pool(WORKERS,TIME)",
		"execution=2ms":           "must be STEP=pool(WORKERS,TIME)",
		"execution=pool(4,2ms,1)": "must be STEP=pool(WORKERS,TIME)",
		"logout=pool(4,2ms)":      "the step is one of login, verification, execution",
		"login=pool(0,2ms)":       "the workers must be a whole number from 1",
		"login=pool(x,2ms)":       "the workers must be a whole number from 1",
		"login=pool(4,2)":         "the time must be above 0",
		"login=pool(4,-2ms)":      "the time must be above 0",
	} {
		if _, err := ParseSlow(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

var (
	verification = service.DataTypeRequest{Group: service.KnownGroup, Name: service.KnownName}
	execution    = service.DataTypeRequest{Group: service.KnownGroup, Name: "app_call_ring"}
)

// Eight calls at a time over two workers of 10 ms take 40 ms, four of them 20 ms, and the other steps nothing.
func TestAPoolIsSlowerTheMoreCallsAreActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := Slowed(quiet{}, []Slow{{Execution, 2, 10 * time.Millisecond}})
		for active, want := range map[int]time.Duration{1: 10 * time.Millisecond, 4: 20 * time.Millisecond, 8: 40 * time.Millisecond} {
			began := time.Now()
			var all sync.WaitGroup
			for range active {
				all.Go(func() { _, _ = api.DataType(t.Context(), execution) })
			}
			all.Wait()
			if took := time.Since(began); took != want {
				t.Errorf("%d at a time: %v, want %v", active, took, want)
			}
		}
		began := time.Now()
		_, _ = api.DataType(t.Context(), verification)
		_, _ = api.Login(t.Context(), service.LoginRequest{})
		if took := time.Since(began); took != 0 {
			t.Errorf("steps without a pool took %v", took)
		}
	})
}

// A caller that gives up holds no worker, whether it waits for one or has one.
func TestAPoolLetsGoOfWhoGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := Slowed(quiet{}, []Slow{{Verification, 1, time.Second}, {Login, 1, time.Second}})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		began := time.Now()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { _, _ = api.DataType(ctx, verification) })
			all.Go(func() { _, _ = api.Login(ctx, service.LoginRequest{}) })
		}
		all.Wait()
		if took := time.Since(began); took != 10*time.Millisecond {
			t.Errorf("they took %v", took)
		}
		_, _ = api.DataType(t.Context(), verification)
		if took := time.Since(began); took != 1010*time.Millisecond {
			t.Errorf("the next one ended after %v", took)
		}
	})
}

func TestWithoutPoolsTheAPIIsItself(t *testing.T) {
	if api := service.API(quiet{}); Slowed(api, nil) != api {
		t.Error("something is around it")
	}
}

// quiet answers at once, for any number of callers.
type quiet struct{ service.API }

func (quiet) Login(ctx context.Context, _ service.LoginRequest) (service.Session, error) {
	return service.Session{}, ctx.Err()
}

func (quiet) DataType(ctx context.Context, _ service.DataTypeRequest) (service.DataType, error) {
	return service.DataType{}, ctx.Err()
}
