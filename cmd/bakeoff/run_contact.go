package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"bakeoff/harness/admin"
	"bakeoff/harness/plan"
	"bakeoff/harness/result"
	harness "bakeoff/harness/run"
	"bakeoff/protocol"
	"bakeoff/service"
)

// contactTime is how long a target, or what reads it, may take to answer before the run.
const contactTime = 5 * time.Second

// contact asks everything that runs already, before anything is measured: an address that is wrong is found in one place, and at
// once. What it opens is closed by hangUp, also after an error.
func (j *job) contact(ctx context.Context) error {
	for _, name := range j.settings.Subjects {
		t := j.targets[name]
		if t == nil {
			continue
		}
		if err := j.contactTarget(ctx, t); err != nil {
			return fmt.Errorf("--target %s=%s: %w", t.label, t.addr, err)
		}
	}
	if addr := j.flags.target.storeAgent; addr != "" {
		c, err := dialAdmin(ctx, addr)
		if err != nil {
			return fmt.Errorf("--store-agent %s: %w", addr, err)
		}
		j.store = c
		if c.Info().Role == admin.RoleServer {
			return fmt.Errorf("--store-agent %s: this is the admin listener of a server (%s), which is not the store", addr, c.Info().Serves)
		}
	}
	return nil
}

// hangUp closes what contact has opened.
func (j *job) hangUp() {
	for _, t := range j.targets {
		if t.client != nil {
			t.client.Close()
		}
	}
	if j.store != nil {
		j.store.Close()
	}
}

func (j *job) contactTarget(ctx context.Context, t *target) error {
	var err error
	if t.network, err = networkOf(ctx, t.addr); err != nil {
		return fmt.Errorf("%w: start it ('bakeoff serve %s --addr host:port --admin host:port'), or mend the address", reason(err), t.subject)
	}
	if t.adminAddr != "" {
		if t.client, err = dialAdmin(ctx, t.adminAddr); err != nil {
			return fmt.Errorf("admin=%s: %w", t.adminAddr, err)
		}
		t.info = t.client.Info()
		if err := j.agree(t); err != nil {
			return fmt.Errorf("admin=%s: %w", t.adminAddr, err)
		}
	}
	return j.greet(ctx, t)
}

// networkOf connects once, and says where the other end is.
func networkOf(ctx context.Context, addr string) (string, error) {
	conn, err := (&net.Dialer{Timeout: contactTime}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	there, ok := conn.RemoteAddr().(*net.TCPAddr)
	here, ok2 := conn.LocalAddr().(*net.TCPAddr)
	switch {
	case ok && there.IP.IsLoopback():
		return result.NetworkLoopback, nil
	case ok && ok2 && there.IP.Equal(here.IP):
		return result.NetworkHost, nil
	}
	return result.NetworkRemote, nil
}

// reason says in words why nothing could be connected to.
func reason(err error) error {
	var unknown *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("nothing listens there (connection refused)")
	case errors.As(err, &unknown):
		return fmt.Errorf("no such host: %s", unknown.Name)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v", contactTime)
	}
	return err
}

func dialAdmin(ctx context.Context, addr string) (*admin.Client, error) {
	limited, cancel := context.WithTimeout(ctx, contactTime)
	defer cancel()
	c, err := admin.Dial(limited, addr)
	if errors.Is(err, admin.ErrForeign) {
		return nil, fmt.Errorf("%w: want what 'bakeoff serve --admin' or 'bakeoff agent' print", err)
	}
	if err != nil {
		return nil, reason(err)
	}
	return c, nil
}

// agree holds what a server says of itself to what is asked of it, and has the client speak as the server does.
func (j *job) agree(t *target) error {
	switch {
	case t.info.Role == admin.RoleAgent:
		return nil // it knows nothing of what the process serves
	case t.info.Role != admin.RoleServer:
		return fmt.Errorf("this is the admin listener of a %s, not of a server", t.info.Role)
	case t.info.Serves != plan.Plain(t.subject):
		return fmt.Errorf("it serves %s: name the target so: %s:%s=%s", t.info.Serves, t.label, t.info.Serves, t.addr)
	case t.info.Auth && !j.flags.auth:
		return errors.New("the server wants tokens: add --auth")
	case !t.info.Auth && j.flags.auth:
		return errors.New("--auth: the server does not check tokens, so that nothing is known of what that costs: start it with --auth")
	}
	if err := t.checkStore(j.flags.store); err != nil {
		return err
	}
	var o protocol.Options
	if err := json.Unmarshal(t.info.Options, &o); err != nil {
		return fmt.Errorf("its options: %w", err)
	}
	if over := plan.IsOverTLS(t.subject); over != (o.TLS != nil) {
		return tlsDiffers(t, over)
	}
	if most := slices.Max(j.settings.Concurrency); o.InFlight < most {
		return fmt.Errorf("the server is made for %d calls in flight, and the run has %d: start it with --in-flight %d (in the composition: IN_FLIGHT=%d)", o.InFlight, most, most, most)
	}
	p := j.subjects[t.label]
	p.Tuning.Knobs = o.Knobs
	j.subjects[t.label] = p
	return nil
}

// greet makes one call, so that a server of another protocol is told apart from one that gives other answers. An error of the
// service is an answer, too: a server of somebody else's may not have this method.
func (j *job) greet(ctx context.Context, t *target) error {
	ctx, cancel := context.WithTimeout(ctx, contactTime)
	defer cancel()
	p := j.subjects[t.label]
	c, err := p.Dial(ctx, t.addr, j.options(plan.Trial{Subject: t.label, Concurrency: 1}))
	if err == nil {
		_, err = c.GetFeature(ctx, service.Point{})
		err = errors.Join(notAnswered(err), c.Close())
	}
	if err != nil {
		return fmt.Errorf("what listens there does not answer %s: %w: is it a server of that protocol, with the same options?", t.subject, err)
	}
	return nil
}

// notAnswered is nil for what a server has answered. Some codes are a client's own, too: what another protocol says can be read as
// the length of a huge answer.
func notAnswered(err error) error {
	var answer *service.Error
	if !errors.As(err, &answer) {
		return err
	}
	switch answer.Code {
	case service.DeadlineExceeded, service.ResourceExhausted, service.Unavailable:
		return err
	}
	return nil
}

// remote tells the run what it does not start.
func (o *session) remote(c *harness.Config) {
	j := o.job
	say := func(format string, args ...any) { o.say.say(format, args...) }
	c.StoreMeter = meterOf(j.store, "--store-agent", j.flags.target.storeAgent, say)
	if len(j.targets) == 0 {
		return
	}
	meters := map[string]harness.Meter{}
	for name, t := range j.targets {
		meters[name] = meterOf(t.client, "--target "+name+": admin", t.adminAddr, say)
	}
	c.Target = func(tr plan.Trial) harness.Target {
		t := j.targets[tr.Subject]
		return harness.Target{Addr: t.addr, Meter: meters[tr.Subject], CPUs: t.info.CPUs, Here: t.network != result.NetworkRemote, Asks: j.subjects[tr.Subject].Backend != nil, Doubts: t.doubts()}
	}
}

// describeTargets puts into the header how each subject was run and read.
func (j *job) describeTargets(subjects []result.Subject) []result.Warning {
	var all []result.Warning
	var words []string
	for i, s := range subjects {
		t := j.targets[s.Name]
		if t == nil {
			continue
		}
		d := t.describe()
		subjects[i].Target = d
		read := "by nothing: its CPU, memory and counts are unknown"
		switch d.Meter {
		case result.MeterAdmin:
			read = "by its admin listener"
		case result.MeterAgent:
			read = "by an agent of " + t.info.Serves
		}
		words = append(words, fmt.Sprintf("%s (%s, read %s)", s.Name, d.Network, read))
	}
	if len(words) > 0 {
		all = append(all, result.Warning{Kind: result.WarnTargets, Text: "servers that ran already, and were not restarted between rounds: " + strings.Join(words, ", ") +
			"; on which CPUs is unknown here, so that they may share them with each other, the store or the driver"})
	}
	if text := j.storesDiffer(); text != "" {
		all = append(all, result.Warning{Kind: result.WarnTargets, Text: text})
	}
	if j.store != nil {
		read := "by its admin listener"
		if i := j.store.Info(); i.Role == admin.RoleAgent {
			read = "by an agent of " + i.Serves
		}
		all = append(all, result.Warning{Kind: result.WarnTargets, Text: "the store ran already, and was read " + read})
	}
	return all
}

// storesDiffer says in words that the targets don't name one store, "" where they do.
func (j *job) storesDiffer() string {
	if len(j.targets) == 0 {
		return ""
	}
	var words []string
	differ := false
	first := j.storeOf(j.settings.Subjects[0])
	for _, name := range j.settings.Subjects {
		differ = differ || j.storeOf(name) != first
		words = append(words, name+": "+j.storeOf(name))
	}
	if !differ {
		return ""
	}
	return "the targets' stores differ, or are not known (" + strings.Join(words, "; ") + "), and rows of different stores are not compared: --store says what all of them use"
}

// lost names the targets that nothing listens at any more when the run has ended. One that died within its last window has no trial
// that failed: its calls did. Only those are asked whose last trial has calls that failed.
func (j *job) lost(ctx context.Context, trials []result.Trial) []string {
	last := map[string]result.Trial{}
	for _, tr := range trials {
		last[tr.Subject] = tr
	}
	var all []string
	for _, name := range j.settings.Subjects {
		t, tr := j.targets[name], last[name]
		if t == nil || tr.Error != "" || tr.Outcomes.FailedTotal() == 0 {
			continue
		}
		if _, err := networkOf(ctx, t.addr); err != nil && ctx.Err() == nil {
			all = append(all, fmt.Sprintf("the target %s=%s was lost in its last trial: %v", t.label, t.addr, reason(err)))
		}
	}
	return all
}

// alsoLost adds to what a run has missed the trials in which a meter failed.
func alsoLost(missed string, trials []result.Trial) string {
	n := 0
	for _, t := range trials {
		if slices.ContainsFunc(t.Warnings, func(w result.Warning) bool { return w.Kind == result.WarnMeterLost }) {
			n++
		}
	}
	if n == 0 {
		return missed
	}
	return strings.TrimPrefix(missed+"; ", "; ") + fmt.Sprintf("trials in which the meters of a server or store that ran already failed: %d", n)
}
