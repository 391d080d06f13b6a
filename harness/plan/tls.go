package plan

import (
	"strings"
	"time"
)

// OverTLS ends the name of a subject that is measured over TLS: it is a subject of its own, with a row of its own.
const OverTLS = "+tls"

// IsOverTLS says whether the name is one of a subject over TLS.
func IsOverTLS(name string) bool { return strings.HasSuffix(name, OverTLS) }

// WithTLS is the name of the subject over TLS.
func WithTLS(name string) string { return Plain(name) + OverTLS }

// Plain is the name of the subject without TLS.
func Plain(name string) string { return strings.TrimSuffix(name, OverTLS) }

// bothWays has each subject plain and, behind it, over TLS, however it is named.
func bothWays(names []string) []string {
	both := make([]string, 0, 2*len(names))
	seen := map[string]bool{}
	for _, name := range names {
		if name = Plain(name); !seen[name] || name == "" {
			both = append(both, name, WithTLS(name))
		}
		seen[name] = true
	}
	return both
}

// tls is about what protection costs: the same subjects with and without it, in the same rounds. Connections are dialled
// before the window, so that it is the cost of a call and not of a handshake.
var tls = Experiment{
	Name: "tls",
	Doc:  "each subject plain and over TLS, side by side: what does protection cost a call?",
	Defaults: Settings{
		Subjects:    []string{"grpc", "thrift", "http"},
		Workloads:   []string{"datatype"},
		Concurrency: []int{50},
		Rounds:      10,
		Duration:    2 * time.Second,
		Warmup:      500 * time.Millisecond,
	},
	Quick: Settings{
		Subjects:    []string{"grpc", "thrift", "http"},
		Workloads:   []string{"datatype"},
		Concurrency: []int{50},
		Rounds:      8,
		Duration:    time.Second,
		Warmup:      300 * time.Millisecond,
	},
	Subjects: bothWays,
	Trials:   Blocks,
}
