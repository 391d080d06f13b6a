package grpcopts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bakeoff/proto/grpcopts"
	"bakeoff/protocol"
)

func ptr[T any](v T) *T { return &v }

func TestParse(t *testing.T) {
	for name, row := range map[string]struct {
		knobs map[string]string
		want  grpcopts.Settings
	}{
		"nothing given": {nil, grpcopts.Settings{Codec: "proto"}},
		"all given": {map[string]string{
			"stream-workers": "7", "window": "1048576", "shared-write-buffer": "off", "read-buffer": "0", "write-buffer": "4096",
			"codec": "vtproto", "compression": "gzip", "reflection": "on",
		}, grpcopts.Settings{
			StreamWorkers: 7, Window: ptr(int32(1 << 20)), SharedWriteBuffer: ptr(false), ReadBuffer: ptr(0), WriteBuffer: ptr(4096),
			Codec: "vtproto", Compression: true, Reflection: true,
		}},
		"auto is the calls in flight": {map[string]string{"stream-workers": "auto"}, grpcopts.Settings{StreamWorkers: 50, Codec: "proto"}},
		"ends of ranges": {map[string]string{"stream-workers": "65536", "window": "65535", "read-buffer": "1073741824"},
			grpcopts.Settings{StreamWorkers: 1 << 16, Window: ptr(int32(65535)), ReadBuffer: ptr(1 << 30), Codec: "proto"}},
		"largest window": {map[string]string{"window": "2147483647"}, grpcopts.Settings{Window: ptr(int32(1<<31 - 1)), Codec: "proto"}},
	} {
		got, err := grpcopts.Parse(protocol.Options{InFlight: 50, Knobs: row.knobs})
		if err != nil || !cmp.Equal(got, row.want) {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(row.want, got))
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, row := range []struct{ name, value, want string }{
		{"window", "x", `option window: "x" is not a number of bytes`},
		{"window", "65534", `option window: 65534 bytes are not within 65535 and 2147483647`},
		{"window", "2147483648", `option window: 2147483648 bytes are not within 65535 and 2147483647`},
		{"window", "99999999999999999999", `option window: "99999999999999999999" is not a number of bytes`},
		{"read-buffer", "-1", `option read-buffer: -1 bytes are not within 0 and 1073741824`},
		{"write-buffer", "4k", `option write-buffer: "4k" is not a number of bytes`},
		{"stream-workers", "-1", `option stream-workers: "-1" is neither auto nor a number from 0 to 65536`},
		{"stream-workers", "65537", `option stream-workers: "65537" is neither auto nor a number from 0 to 65536`},
		{"shared-write-buffer", "yes", `option shared-write-buffer: "yes" is neither on nor off`},
		{"codec", "json", `option codec: "json" is neither proto nor vtproto`},
		{"codec", "", `option codec: "" is neither proto nor vtproto`},
		{"reflection", "true", `option reflection: "true" is neither on nor off`},
		{"windows", "1",
			`option "windows": this protocol has stream-workers, window, shared-write-buffer, read-buffer, write-buffer, codec, compression, reflection`},
		{"compression", "zstd", `option compression: "zstd" is neither off nor gzip`},
	} {
		_, err := grpcopts.Parse(protocol.Options{Knobs: map[string]string{row.name: row.value}})
		if err == nil || err.Error() != row.want {
			t.Errorf("%s=%s: %v\nwant %s", row.name, row.value, err, row.want)
		}
	}
}

// FuzzParse gives every knob the same value: whatever is taken is within the ranges that gRPC heeds.
func FuzzParse(f *testing.F) {
	for _, v := range []string{"", "auto", "0", "-1", "65535", "on", "off", "proto", "vtproto", "1e9", "0x10", "99999999999999999999"} {
		f.Add(0, v)
		f.Add(1, v)
	}
	f.Fuzz(func(t *testing.T, knob int, v string) {
		k := grpcopts.Knobs[(knob%len(grpcopts.Knobs)+len(grpcopts.Knobs))%len(grpcopts.Knobs)]
		s, err := grpcopts.Parse(protocol.Options{InFlight: 1 << 30, Knobs: map[string]string{k.Name: v}})
		if err != nil {
			return
		}
		if s.StreamWorkers > 1<<16 || s.Window != nil && *s.Window < 65535 || s.ReadBuffer != nil && *s.ReadBuffer < 0 ||
			s.WriteBuffer != nil && *s.WriteBuffer < 0 || s.Codec != grpcopts.Proto && s.Codec != grpcopts.VTProto {
			t.Errorf("%s=%q gives %+v", k.Name, v, s)
		}
	})
}
