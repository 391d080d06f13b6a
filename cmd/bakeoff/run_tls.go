package main

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"bakeoff/harness/plan"
	"bakeoff/internal/certs"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
)

// runTLSFlags have subjects measured over TLS. Which ones, their names say: "grpc+tls"; --tls names all of them so.
type runTLSFlags struct {
	all                             bool
	cert, key, ca                   string
	clientCA, clientCert, clientKey string
	serverName, authority           string

	// files are those of all subjects over TLS, nil where there are none. They are filled in when the run begins if it makes them.
	files *protocol.TLS
	make  bool
	dir   string // of those that were made
}

func (f *runTLSFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&f.all, "tls", false, "measure all subjects over TLS; one alone is named so: --subjects grpc,grpc"+plan.OverTLS+"\n"+
		"(certificates are made for the run, unless --tls-cert, --tls-key and --tls-ca give some)")
	flags.StringVar(&f.cert, "tls-cert", "", "`file` with the servers' certificate")
	flags.StringVar(&f.key, "tls-key", "", "`file` with the key of --tls-cert")
	flags.StringVar(&f.clientCA, "client-ca", "", "have servers ask clients for a certificate that the CA in this `file` has signed")
	f.registerClient(flags)
	flags.StringVar(&f.authority, "authority", "", "`name` by which requests call their server: :authority in gRPC, Host in HTTP (default: the address that is\n"+
		"dialled); Thrift has none")
}

// registerClient has the flags of clients alone.
func (f *runTLSFlags) registerClient(flags *pflag.FlagSet) {
	flags.StringVar(&f.ca, "tls-ca", "", "`file` with the CA that clients trust (default: the system's)")
	flags.StringVar(&f.clientCert, "client-cert", "", "`file` with the certificate that clients show when they are asked")
	flags.StringVar(&f.clientKey, "client-key", "", "`file` with the key of --client-cert")
	flags.StringVar(&f.serverName, "tls-server-name", "", "`name` that the servers' certificate must be for (default: the host that is dialled)")
}

// applyOne has a client speak to one server that runs already.
func (f *runTLSFlags) applyOne(over bool) error {
	if !over {
		if flag, _ := f.given(); flag != "" {
			return fmt.Errorf("--%s: is about a subject over TLS, such as grpc%s=host:port", flag, plan.OverTLS)
		}
		return nil
	}
	return f.asClient()
}

// apply puts the flags into the job, and checks them.
func (f *runTLSFlags) apply(e plan.Experiment, j *job) error {
	if bad := strings.IndexFunc(f.authority, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }); bad >= 0 {
		return fmt.Errorf("--authority %q: a name has no spaces and no line ends: write it as in bench.example or bench.example:443", f.authority)
	}
	if f.authority != "" && !validAuthority(f.authority) {
		return fmt.Errorf("--authority %q: must be a host, with a port from 0 to 65535 or without: write it as in bench.example, bench.example:443 or [::1]:443", f.authority)
	}
	if j.targets != nil {
		return f.applyTargets(e, j.targets)
	}
	s := &j.settings
	s.Subjects = e.Expand(s.Subjects)
	if f.all {
		if e.Subjects != nil {
			return fmt.Errorf("--tls: the experiment %s measures each subject plain and over TLS: leave it away", e.Name)
		}
		s.Subjects = slices.Clone(s.Subjects)
		for i, name := range s.Subjects {
			s.Subjects[i] = plan.WithTLS(name)
		}
		if j.flags.baseline != "" {
			j.flags.baseline = plan.WithTLS(j.flags.baseline)
		}
	}
	if !slices.ContainsFunc(s.Subjects, plan.IsOverTLS) {
		return f.idle()
	}
	f.files = &protocol.TLS{Cert: f.cert, Key: f.key, ClientCA: f.clientCA, CA: f.ca,
		ClientCert: f.clientCert, ClientKey: f.clientKey, ServerName: f.serverName}
	if f.make = f.cert == "" && f.key == ""; f.make {
		if flag, file := f.given("tls-ca", "client-ca", "client-cert", "client-key"); flag != "" {
			return fmt.Errorf("--%s %s: goes with certificates of the servers' own: give --tls-cert and --tls-key, too", flag, file)
		}
		_, err := certs.Make(time.Now(), madeDays, f.hosts()...)
		return err
	}
	_, err := protocol.Options{TLS: f.files}.ServerTLS()
	return errors.Join(err, f.checkClient())
}

// authorityShape is that of a name that requests can call their server by: its host, an IPv6 address in brackets, and its port.
var authorityShape = regexp.MustCompile(`^(?:\[([0-9A-Fa-f:.]+)\]|[0-9A-Za-z._~-]+)(?::([0-9]{1,5}))?$`)

func validAuthority(s string) bool {
	parts := authorityShape.FindStringSubmatch(s)
	if parts == nil {
		return false
	}
	var hostErr, portErr error
	if parts[1] != "" {
		_, hostErr = netip.ParseAddr(parts[1])
	}
	if parts[2] != "" {
		_, portErr = strconv.ParseUint(parts[2], 10, 16)
	}
	return hostErr == nil && portErr == nil
}

// applyTargets has clients of servers that run already speak TLS. The servers' side of it is none of this run's.
func (f *runTLSFlags) applyTargets(e plan.Experiment, targets map[string]*target) error {
	if e.Subjects != nil {
		return fmt.Errorf("--target: the experiment %s starts each server plain and over TLS, and targets run already: name both as targets of another one: "+
			"--target grpc=host:port --target grpc%s=host:port", e.Name, plan.OverTLS)
	}
	// Variants that nobody measures unless they are asked for are left out with the other subjects.
	if i := slices.IndexFunc(e.Defaults.Subjects, func(name string) bool { return variantOf(e.Variants, name) != nil }); i >= 0 {
		v := variantOf(e.Variants, e.Defaults.Subjects[i])
		return fmt.Errorf("--target: the experiment %s starts servers with options that make its variants (%s), and those of targets are set already: "+
			"name targets of another experiment, one with a label: --target %s=host:port --target %s:%s=host:port", e.Name, v.Name, v.Of, v.Name, v.Of)
	}
	over := false
	for _, t := range targets {
		if f.all {
			t.subject = plan.WithTLS(t.subject)
		}
		over = over || plan.IsOverTLS(t.subject)
	}
	if !over {
		return f.idle()
	}
	if flag, _ := f.given("tls-cert", "tls-key", "client-ca"); flag != "" {
		return fmt.Errorf("--%s: is told to the servers that a run starts, and --target names some that run already: leave it away", flag)
	}
	return f.asClient()
}

// asClient takes the files of a client alone, and checks them.
func (f *runTLSFlags) asClient() error {
	f.files = &protocol.TLS{CA: f.ca, ClientCert: f.clientCert, ClientKey: f.clientKey, ServerName: f.serverName}
	return f.checkClient()
}

func (f runTLSFlags) checkClient() error {
	_, err := protocol.Options{TLS: f.files}.ClientTLS("localhost:0")
	return err
}

// tlsDiffers is the error of a target that says of itself that it is protected otherwise than it is named.
func tlsDiffers(t *target, over bool) error {
	if over {
		return fmt.Errorf("the server does not speak TLS: serve with --tls-cert and --tls-key, or name the target %s:%s=%s, without --tls", t.label, plan.Plain(t.subject), t.addr)
	}
	return fmt.Errorf("the server speaks TLS: add --tls, or name the target %s:%s=%s (and its CA by --tls-ca)", t.label, plan.WithTLS(t.subject), t.addr)
}

// idle refuses what is of no use without TLS.
func (f runTLSFlags) idle() error {
	if flag, _ := f.given(); flag != "" {
		return fmt.Errorf("--%s: is about TLS, over which nothing is measured: give --tls, or a subject such as grpc%s", flag, plan.OverTLS)
	}
	return nil
}

// given is the first of the flags about TLS that has a value, of all or of those that are named; "" is none.
func (f runTLSFlags) given(names ...string) (flag, value string) {
	for _, v := range []struct{ flag, value string }{
		{"tls-cert", f.cert}, {"tls-key", f.key}, {"tls-ca", f.ca}, {"client-ca", f.clientCA},
		{"client-cert", f.clientCert}, {"client-key", f.clientKey}, {"tls-server-name", f.serverName},
	} {
		if v.value != "" && (len(names) == 0 || slices.Contains(names, v.flag)) {
			return v.flag, v.value
		}
	}
	return "", ""
}

// subject finds a subject by its name, plain or over TLS.
func (f runTLSFlags) subject(name string) (protocol.Protocol, error) {
	p, err := suite.Find(plan.Plain(name))
	if err != nil {
		return p, err
	}
	if plan.IsOverTLS(name) {
		p.TLS = f.files
		p.Doc += ", over TLS"
	}
	if p.Authority = f.authority; f.authority != "" {
		if err := p.Check(p.Options(1, 0)); err != nil {
			return p, fmt.Errorf("--authority: %s: %w: name subjects that can, as in --subjects grpc,http", p.Name, err)
		}
	}
	return p, nil
}

// madeDays is how long certificates are valid that are made for one run: the longest run is a day a trial.
const madeDays = certs.MaxDays

// hosts are further names of the servers' certificate.
func (f runTLSFlags) hosts() []string {
	if f.serverName == "" {
		return nil
	}
	return []string{f.serverName}
}

// certificates makes those of the run, if it needs some and was given none, until forget.
func (f *runTLSFlags) certificates() error {
	if !f.make {
		return nil
	}
	set, err := certs.Make(time.Now(), madeDays, f.hosts()...)
	if err != nil {
		return err
	}
	if f.dir, err = os.MkdirTemp("", "bakeoff-tls-"); err != nil { // of its owner alone
		return fmt.Errorf("certificates for the run: %w", err)
	}
	files, err := set.Write(f.dir, false)
	if err != nil {
		f.forget()
		return fmt.Errorf("certificates for the run: %w", err)
	}
	f.files.Cert, f.files.Key, f.files.CA = files.Server, files.ServerKey, files.CA
	return nil
}

// forget removes the certificates that were made: as soon as nothing is measured any more, since what comes after may end by a
// signal, as when nobody reads the report.
func (f *runTLSFlags) forget() {
	if f.dir != "" {
		_ = os.RemoveAll(f.dir)
	}
}
