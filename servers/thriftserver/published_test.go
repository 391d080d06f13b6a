package thriftserver

import (
	"encoding/binary"
	"io"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"

	"github.com/apache/thrift/lib/go/thrift"
)

// The bytes below are built by hand from the published IDL (before the exception and Login were added) and the
// specification of the binary protocol, so that a change of our IDL or of the generated code can't change both.

// message is the strict header of the binary protocol: version 1, kind, name, call number.
func message(kind thrift.TMessageType, name string, seq int32, body ...string) string {
	b := []byte{0x80, 0x01, 0x00, byte(kind)}
	b = append(b, str(name)...)
	b = binary.BigEndian.AppendUint32(b, uint32(seq))
	for _, s := range body {
		b = append(b, s...)
	}
	return string(append(b, 0))
}

// field is a type (8 i32, 10 i64, 11 string, 12 struct), an id in two bytes, and a value.
func field(kind thrift.TType, id int16, value string) string {
	return string(binary.BigEndian.AppendUint16([]byte{byte(kind)}, uint16(id))) + value
}

func str(s string) string { return string(binary.BigEndian.AppendUint32(nil, uint32(len(s)))) + s }
func i32(n int32) string  { return string(binary.BigEndian.AppendUint32(nil, uint32(n))) }
func i64(n int64) string  { return string(binary.BigEndian.AppendUint64(nil, uint64(n))) }

// structure is fields and a stop.
func structure(fields ...string) string {
	var s string
	for _, f := range fields {
		s += f
	}
	return s + "\x00"
}

func authRq(client, token string) string {
	return structure(field(thrift.STRING, 1, str(client)), field(thrift.STRING, 2, str(token)))
}

func dataTypeRq(auth, group, name string) string {
	return structure(field(thrift.STRUCT, 1, auth), field(thrift.STRING, 2, str(group)), field(thrift.STRING, 3, str(name)))
}

func TestPublishedClients(t *testing.T) {
	addr, stop := start(t, echo, protocol.Options{}, time.Second, time.Second)
	c := connect(t, addr)
	failure := func(code service.Code, text string) string {
		return field(thrift.STRUCT, 1, structure(field(thrift.I32, 1, i32(int32(code))), field(thrift.STRING, 2, str(text))))
	}
	const name = "app_call_connect_success"
	ask := field(thrift.STRUCT, 1, dataTypeRq(authRq("me", "t"), "USER_EVENT", name))
	answer := field(thrift.STRUCT, 0, structure(
		field(thrift.STRUCT, 1, structure(field(thrift.STRING, 1, str("t")))),
		field(thrift.I64, 2, i64(int64(len(name)))),
		field(thrift.STRING, 3, str(name))))
	for _, tc := range []struct{ what, send, want string }{
		{"a call",
			message(thrift.CALL, "DataType", 7, ask),
			message(thrift.REPLY, "DataType", 7, answer)},
		{"a call with the old header, which has no version",
			str("DataType") + "\x01" + i32(8) + structure(ask),
			message(thrift.REPLY, "DataType", 8, answer)},
		{"without the optional fields of AuthRq, and with one that we do not know",
			message(thrift.CALL, "DataType", 9, field(thrift.STRUCT, 1, dataTypeRq(structure(field(thrift.I32, 9, i32(1))), "g", "n"))),
			message(thrift.REPLY, "DataType", 9, field(thrift.STRUCT, 0, structure(
				field(thrift.STRUCT, 1, structure(field(thrift.STRING, 1, str("")))),
				field(thrift.I64, 2, i64(1)), field(thrift.STRING, 3, str("n")))))},
		{"a failure comes in a field of its own, which a published client skips",
			message(thrift.CALL, "DataType", 10, field(thrift.STRUCT, 1, dataTypeRq(authRq("", ""), "g", ""))),
			message(thrift.REPLY, "DataType", 10, failure(service.NotFound, "no name"))},
		{"no argument at all",
			message(thrift.CALL, "DataType", 11),
			message(thrift.REPLY, "DataType", 11, failure(service.InvalidArgument, "DataType: the call has no dataTypeRq"))},
		{"the other service, on the same connection",
			message(thrift.CALL, "GetFeature", 12),
			message(thrift.REPLY, "GetFeature", 12, field(thrift.STRUCT, 0, structure(
				field(thrift.STRING, 1, str("地點")),
				field(thrift.STRUCT, 2, structure(field(thrift.I32, 1, i32(0)), field(thrift.I32, 2, i32(0)))))))},
		{"a method that there is not",
			message(thrift.CALL, "Nothing", 13, ask),
			message(thrift.EXCEPTION, "Nothing", 13,
				field(thrift.STRING, 1, str("unknown method Nothing")), field(thrift.I32, 2, i32(thrift.UNKNOWN_METHOD)))},
		{"a reply where a call is due",
			message(thrift.REPLY, "DataType", 14),
			message(thrift.EXCEPTION, "DataType", 14,
				field(thrift.STRING, 1, str("DataType: not a call")), field(thrift.I32, 2, i32(thrift.INVALID_MESSAGE_TYPE_EXCEPTION)))},
		{"two calls at once",
			message(thrift.CALL, "DataType", 15, ask) + message(thrift.CALL, "DataType", 16, ask),
			message(thrift.REPLY, "DataType", 15, answer) + message(thrift.REPLY, "DataType", 16, answer)},
	} {
		io.WriteString(c, tc.send)
		got := make([]byte, len(tc.want))
		if n, err := io.ReadFull(c, got); err != nil || string(got) != tc.want {
			t.Fatalf("%s: %v\ngot  %q\nwant %q", tc.what, err, got[:n], tc.want)
		}
	}

	// A required field that is missing: the library's own exception, and the end of the connection.
	io.WriteString(c, message(thrift.CALL, "DataType", 17, field(thrift.STRUCT, 1, structure(field(thrift.STRING, 2, str("g"))))))
	rest, err := io.ReadAll(c)
	if err != nil || len(rest) < 4 || rest[3] != byte(thrift.EXCEPTION) {
		t.Errorf("a required field is missing: %q, %v", rest, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
