package main

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"bakeoff/harness/admin"
	"bakeoff/harness/plan"
	"bakeoff/harness/result"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
	"bakeoff/store/aerospike"
)

// targetFlags name what runs already: subjects in the place of those that a run starts, and what reads the store.
type targetFlags struct {
	specs      []string
	storeAgent string
}

func (f *targetFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.specs, "target", nil, "a server that runs already: `[LABEL:]SUBJECT=host:port[,admin=host:port]`, in the place of --subjects; may be repeated.\n"+
		"admin is the --admin listener of 'bakeoff serve', or a 'bakeoff agent' of a server of your own; without it the\n"+
		"server's CPU and memory are unknown. LABEL names the row")
	flags.StringVar(&f.storeAgent, "store-agent", "", "`host:port` of what reads a store that runs already: a 'bakeoff agent', or the --admin listener of 'bakeoff serve store'")
}

// storeOfTargets is the store of targets that don't tell it.
const storeOfTargets = "unknown"

// target is a subject that runs already. What stands below the line is known once it has been asked, see contact.
type target struct {
	label, subject  string
	addr, adminAddr string

	network string
	checked string        // what part of the conformance kit it was held to; "" is all of it
	client  *admin.Client // nil: nothing reads it
	info    admin.Info
}

// label is a name that can stand in a table, a file and a shell.
var label = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// parseTarget reads one --target.
func parseTarget(spec string) (*target, error) {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("--target %q: %w: want [LABEL:]SUBJECT=host:port[,admin=host:port], such as grpc=127.0.0.1:20000,admin=127.0.0.1:20001", spec, fmt.Errorf(format, args...))
	}
	first, more, _ := strings.Cut(spec, ",")
	name, addr, ok := strings.Cut(first, "=")
	if !ok {
		return nil, wrong("%q has no =", first)
	}
	t := &target{label: name, subject: name, addr: addr}
	if l, subject, ok := strings.Cut(name, ":"); ok {
		t.label, t.subject = l, subject
		if !label.MatchString(l) {
			return nil, wrong("%q is no label, which is letters, digits and . _ -", l)
		}
	}
	if _, err := suite.Find(plan.Plain(t.subject)); err != nil {
		return nil, fmt.Errorf("--target %q: %w", spec, err)
	}
	if err := checkDial(t.addr); err != nil {
		return nil, wrong("%w", err)
	}
	if more == "" {
		return t, nil
	}
	for part := range strings.SplitSeq(more, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch {
		case key != "admin":
			return nil, wrong("%q is not known here", part)
		case t.adminAddr != "":
			return nil, wrong("admin stands there twice")
		}
		if err := checkDial(value); err != nil {
			return nil, wrong("admin: %w", err)
		}
		t.adminAddr = value
	}
	if t.adminAddr == t.addr {
		return nil, wrong("admin is the address of the calls")
	}
	return t, nil
}

// checkDial says what is wrong with the words of an address to connect to.
func checkDial(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	var wrong *net.AddrError
	if errors.As(err, &wrong) {
		return fmt.Errorf("address %q: %s", addr, wrong.Err)
	}
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(port); host == "" || err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("address %q: needs a host, and a port from 1 to 65535", addr)
	}
	return nil
}

// apply checks the flags and puts the targets into the job as its subjects.
func (f targetFlags) apply(j *job, given func(flag string) bool) error {
	if given("store-agent") {
		if err := checkDial(f.storeAgent); err != nil {
			return fmt.Errorf("--store-agent: %w", err)
		}
	}
	if !given("target") {
		if s := j.flags.store; f.storeAgent != "" && (s == storeEmbedded || s == storeMemory) {
			return fmt.Errorf("--store-agent: --store %s needs none: the run reads it by itself", s)
		}
		return nil
	}
	switch {
	case given("subjects"):
		return errors.New("--subjects: with --target the subjects are the targets: leave one of both away")
	case !given("store"):
		j.flags.store = storeOfTargets
	case j.flags.store == storeEmbedded:
		return errors.New("--store embedded: the targets have their own store, and this run starts none: leave it away, or say what all of them use")
	case j.flags.store == storeMemory && f.storeAgent != "":
		return errors.New("--store-agent: --store memory says that the targets have no store but their own memory, so that there is none to read: leave one of both away")
	}
	j.targets = map[string]*target{}
	j.settings.Subjects = nil
	for _, spec := range f.specs {
		t, err := parseTarget(spec)
		if err != nil {
			return err
		}
		if j.targets[t.label] != nil {
			return fmt.Errorf("--target %q: there is a %s already: give one a label, as in mine:%s=host:port", spec, t.label, t.subject)
		}
		j.targets[t.label] = t
		j.settings.Subjects = append(j.settings.Subjects, t.label)
	}
	return nil
}

// subject finds a subject of the run: a target's by its label.
func (j *job) subject(name string) (protocol.Protocol, error) {
	if t := j.targets[name]; t != nil {
		return j.flags.tls.subject(t.subject)
	}
	return j.flags.subject(name)
}

// storeOf is the store of a subject as it is known before a trial: what all targets were said to use, or what one tells.
func (j *job) storeOf(subject string) string {
	if t := j.targets[subject]; t != nil && j.flags.store == storeOfTargets && t.info.Store != "" {
		return t.info.Store
	}
	return j.flags.store
}

// checkStore refuses a --store that is not what the target tells of its own: the result would state something false. A name and an
// address of one host are not told apart, so that a store is to be named as the server does.
func (t *target) checkStore(said string) error {
	if said == storeOfTargets || t.info.Store == "" || said == t.info.Store || strings.HasSuffix(t.info.Store, " at "+aerospike.HostPort(said)) {
		return nil
	}
	return fmt.Errorf("--store %s: the server tells of another store, %s: leave --store away, or name what the server does", said, t.info.Store)
}

// describe is what the result file says of a target.
func (t *target) describe() *result.Target {
	d := &result.Target{Network: t.network, Checked: t.checked}
	if t.client == nil {
		return d
	}
	if t.info.Role == admin.RoleAgent {
		d.Meter = result.MeterAgent
		return d
	}
	d.Meter = result.MeterAdmin
	d.Version, d.Go, d.CPUs, d.GOMAXPROCS, d.Options = t.info.Version, t.info.Go, t.info.CPUs, t.info.GOMAXPROCS, t.info.Options
	return d
}
