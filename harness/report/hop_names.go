package report

import (
	"slices"
	"strings"
)

// gatewayNames are the parts of the names of the gateway's subjects, with what each says.
var gatewayNames = []struct{ part, says string }{
	{"front", "front- is an HTTP front that makes each call again to a backend, over the protocol that follows"},
	{"php", "php- is a front in PHP, php alone one that answers by itself"},
	{"2", "-2 has two connections to the backend for all calls"},
	{"idle2", "-idle2 opens as many to the backend as it needs, and keeps two of them while they are idle"},
	{"dial", "-dial has PHP dial the backend for each call"},
	{"close", "-close is called by clients that dial for each call"},
}

// gatewayLegend explains the names of the rows of a gateway; "" where there are none to explain.
func gatewayLegend(t Tables) string {
	if t.Experiment != "gateway" {
		return ""
	}
	var says []string
	for _, n := range gatewayNames {
		if slices.ContainsFunc(t.Rows, func(r Row) bool { return slices.Contains(strings.Split(r.Subject, "-"), n.part) }) {
			says = append(says, n.says)
		}
	}
	if len(says) == 0 {
		return ""
	}
	return "In the names of subjects " + strings.Join(says, "; ") + "."
}
