package connectopts_test

import (
	"testing"

	"bakeoff/proto/connectopts"
	"bakeoff/protocol"
)

func TestParse(t *testing.T) {
	for _, row := range []struct {
		knobs map[string]string
		want  connectopts.Settings
		says  string
	}{
		{nil, connectopts.Settings{Wire: "connect"}, ""},
		{map[string]string{"wire": "grpc", "codec": "json", "compression": "gzip"}, connectopts.Settings{Wire: "grpc", JSON: true, Compression: true}, ""},
		{map[string]string{"wire": "grpc-web", "codec": "proto", "compression": "off"}, connectopts.Settings{Wire: "grpc-web"}, ""},
		{map[string]string{"wire": "GRPC"}, connectopts.Settings{}, `option wire: "GRPC" is none of connect, grpc, grpc-web`},
		{map[string]string{"codec": ""}, connectopts.Settings{}, `option codec: "" is none of proto, json`},
		{map[string]string{"compression": "br"}, connectopts.Settings{}, `option compression: "br" is neither off nor gzip`},
		{map[string]string{"window": "1"}, connectopts.Settings{}, `option "window": this protocol has wire, codec, compression`},
	} {
		got, err := connectopts.Parse(protocol.Options{Knobs: row.knobs})
		said := ""
		if err != nil {
			said = err.Error()
		}
		if got != row.want || said != row.says {
			t.Errorf("%v: got %+v, %q; want %+v, %q", row.knobs, got, said, row.want, row.says)
		}
	}
}
