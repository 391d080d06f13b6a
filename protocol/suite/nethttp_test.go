package suite

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// TestOverHTTPRefuses: what is of grpc-go's own HTTP/2 is refused at both ends where that is not spoken, by name.
func TestOverHTTPRefuses(t *testing.T) {
	for _, name := range []string{"window", "shared-write-buffer", "read-buffer", "write-buffer"} {
		o := grpcHTTP.Options(1, 1)
		o.Knobs = map[string]string{name: "on"}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, errDial := grpcHTTP.Dial(t.Context(), l.Addr().String(), o)
		for what, err := range map[string]error{"Check": grpcHTTP.Check(o), "Dial": errDial, "Serve": grpcHTTP.Serve(t.Context(), l, nil, o)} {
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("option %q: this protocol has stream-workers", name)) {
				t.Errorf("%s with %s: got error %v", what, name, err)
			}
		}
	}
}
