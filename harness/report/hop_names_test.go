package report

import (
	"strings"
	"testing"
)

// TestGatewayLegend has every part of a gateway's names explained where a row has it, and in no other report.
func TestGatewayLegend(t *testing.T) {
	for _, row := range []struct {
		experiment string
		subjects   []string
		want       string
	}{
		{"gateway", []string{"http", "front-http-idle2-close", "front-grpc-2"}, "In the names of subjects front- is an HTTP front that makes each call again to a backend, over the protocol that follows; " +
			"-2 has two connections to the backend for all calls; -idle2 opens as many to the backend as it needs, and keeps two of them while they are idle; " +
			"-close is called by clients that dial for each call."},
		{"gateway", []string{"php", "php-grpc-dial"}, "In the names of subjects php- is a front in PHP, php alone one that answers by itself; -dial has PHP dial the backend for each call."},
		{"gateway", []string{"http"}, ""},
		{"datatype", []string{"front-grpc-2"}, ""},
	} {
		tables := Tables{Experiment: row.experiment}
		for _, s := range row.subjects {
			tables.Rows = append(tables.Rows, madeUp(s, 50, "datatype", "throughput", 1, 2, 3))
		}
		if got := gatewayLegend(tables); got != row.want {
			t.Errorf("%v:\n%s\nwant\n%s", row.subjects, got, row.want)
		}
		text := strings.Join(strings.Fields(render(t, Text, tables)), " ")
		if said := strings.Contains(text, "In the names of subjects"); said != (row.want != "") || !strings.Contains(text, row.want) {
			t.Errorf("%v: the names are explained in the terminal: %t, want %q", row.subjects, said, row.want)
		}
	}
}
