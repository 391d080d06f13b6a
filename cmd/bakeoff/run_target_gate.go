package main

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"bakeoff/harness/result"
	"bakeoff/protocol"
	"bakeoff/protocol/conformance"
)

// differences holds a target to the vectors: through a server like it that it starts for that, where it can; else through itself,
// and then to those alone that need nothing planted, unless it has what all of them ask for.
func (t *target) differences(ctx context.Context, p protocol.Protocol) ([]string, error) {
	var found []conformance.Difference
	var err error
	switch {
	case t.info.Examines:
		host, _, splitErr := net.SplitHostPort(t.addr)
		if splitErr != nil {
			return nil, splitErr
		}
		err = t.client.Examine(ctx, func(ctx context.Context, port int) error {
			var err error
			found, err = conformance.Run(ctx, p, net.JoinHostPort(host, strconv.Itoa(port)))
			return err
		})
	case conformance.Probed(ctx, p, t.addr):
		found, err = conformance.Run(ctx, p, t.addr)
	default:
		t.checked = fmt.Sprintf("%d of %d vectors", len(conformance.Plain), len(conformance.Vectors))
		found, err = conformance.RunPlain(ctx, p, t.addr)
	}
	var all []string
	for _, d := range found {
		all = append(all, d.String())
	}
	return all, err
}

// vectorsOf says how many vectors a subject was held to.
func (j *job) vectorsOf(name string) string {
	if t := j.targets[name]; t != nil && t.checked != "" {
		return t.checked + ": the others need a 'bakeoff serve' with --admin, named by admin=host:port"
	}
	if p := j.subjects[name]; p.Calls != nil {
		return partOf(p)
	}
	return fmt.Sprintf("%d vectors", len(conformance.Vectors))
}

// doubts are those about a target's answers.
func (t *target) doubts() []result.Warning {
	if t.checked == "" {
		return nil
	}
	return []result.Warning{{Kind: result.WarnPartlyChecked, Text: "its answers were held to " + t.checked +
		" only, those that need nothing planted: errors, limits, deadlines and the shapes of streams were not tried"}}
}
