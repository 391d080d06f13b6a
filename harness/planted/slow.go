package planted

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"bakeoff/service"
)

// Slow has one step of a user's session go through a pool of so many workers, each of which takes Time for it and then makes the
// call. Who finds no worker free waits: the step gets slower with the calls that are active, as in the published service.
type Slow struct {
	Step    string
	Workers int
	Time    time.Duration
}

// The steps that can be slow, as a server tells them apart: Login, the look-up of the one published data type, and that of any other.
const (
	Login        = "login"
	Verification = "verification"
	Execution    = "execution"
)

var slowSteps = []string{Login, Verification, Execution}

// The limits of a pool: beyond them is a slip of the pen.
const (
	maxWorkers = 100_000
	maxSlow    = time.Minute
)

var slowForm = regexp.MustCompile(`^([^=]+)=pool\(([^,]*),([^,]*)\)$`)

// ParseSlow reads "execution=pool(4,2ms)".
func ParseSlow(text string) (Slow, error) {
	m := slowForm.FindStringSubmatch(text)
	if m == nil {
		return Slow{}, fmt.Errorf("%q: must be STEP=pool(WORKERS,TIME), such as execution=pool(4,2ms)", text)
	}
	s := Slow{Step: m[1]}
	if !slices.Contains(slowSteps, s.Step) {
		return Slow{}, fmt.Errorf("%q: the step is one of %s", text, strings.Join(slowSteps, ", "))
	}
	var err error
	if s.Workers, err = strconv.Atoi(strings.TrimSpace(m[2])); err != nil || s.Workers < 1 || s.Workers > maxWorkers {
		return Slow{}, fmt.Errorf("%q: the workers must be a whole number from 1 to %d", text, maxWorkers)
	}
	if s.Time, err = time.ParseDuration(strings.TrimSpace(m[3])); err != nil || s.Time <= 0 || s.Time > maxSlow {
		return Slow{}, fmt.Errorf("%q: the time must be above 0 and at most %v, such as 2ms", text, maxSlow)
	}
	return s, nil
}

// String is what ParseSlow reads.
func (s Slow) String() string { return fmt.Sprintf("%s=pool(%d,%v)", s.Step, s.Workers, s.Time) }

// Slowed puts the pools in front of api, one for each step; without any it is api itself.
func Slowed(api service.API, pools []Slow) service.API {
	if len(pools) == 0 {
		return api
	}
	l := &laboured{API: api, pools: map[string]*pool{}}
	for _, s := range pools {
		l.pools[s.Step] = &pool{workers: make(chan struct{}, s.Workers), time: s.Time}
	}
	return l
}

// laboured is safe for concurrent use, as its API is.
type laboured struct {
	service.API
	pools map[string]*pool
}

type pool struct {
	workers chan struct{} // one element for each that is busy
	time    time.Duration
}

// enter takes a worker for its time; leave gives it back. When ctx ends before, the call is made at once, and says so itself.
func (p *pool) enter(ctx context.Context) (leave func()) {
	if p == nil {
		return func() {}
	}
	select {
	case p.workers <- struct{}{}:
	case <-ctx.Done():
		return func() {}
	}
	timer := time.NewTimer(p.time)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return func() { <-p.workers }
}

func (l *laboured) Login(ctx context.Context, r service.LoginRequest) (service.Session, error) {
	defer l.pools[Login].enter(ctx)()
	return l.API.Login(ctx, r)
}

func (l *laboured) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	step := Execution
	if r.Group == service.KnownGroup && r.Name == service.KnownName {
		step = Verification
	}
	defer l.pools[step].enter(ctx)()
	return l.API.DataType(ctx, r)
}
