package php_test

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strings"
	"testing"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"bakeoff/proto/convert"
	"bakeoff/proto/inf"
	"bakeoff/service"
)

// decoder is a PHP that decodes what it is sent, one message a line.
type decoder struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func newDecoder(t testing.TB) *decoder {
	t.Helper()
	needPHP(t)
	cmd := exec.Command("php", "-d", "display_errors=stderr", "testdata/decode.php", ".")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("php: %v", err)
		}
	})
	return &decoder{in, bufio.NewReaderSize(out, 1<<20)}
}

// decode gives what PHP made of the bytes, or its error.
func (d *decoder) decode(t testing.TB, what string, b []byte, found any) (failed string) {
	t.Helper()
	if _, err := fmt.Fprintf(d.in, "%s %s\n", what, base64.StdEncoding.EncodeToString(b)); err != nil {
		t.Fatal(err)
	}
	line, err := d.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("php has ended: %v", err)
	}
	var answer struct {
		Found json.RawMessage
		Error string
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		t.Fatalf("php wrote %q: %v", line, err)
	}
	if answer.Error == "" {
		if err := json.Unmarshal(answer.Found, found); err != nil {
			t.Fatalf("php wrote %q: %v", line, err)
		}
	}
	return answer.Error
}

type dataTypeRp struct {
	AuthRp struct{ Token string }
	CodeID int64
	CnName string
}

type loginRp struct {
	Token         string
	ExpiresUnixMs int64
}

// tolerated is the one difference: the groups of proto2, which none of our messages has, are refused by PHP and skipped by Go.
func tolerated(failed string) bool { return strings.HasSuffix(failed, "has the wire type 3") }

// FuzzWire holds what PHP decodes by hand to what Go's protobuf decodes.
func FuzzWire(f *testing.F) {
	for _, m := range []proto.Message{
		&inf.DataTypeRp{AuthRp: &inf.AuthRp{Token: "t"}, CodeId: 101, CnName: "語音接通"},
		&inf.DataTypeRp{CodeId: math.MinInt64}, &inf.DataTypeRp{CodeId: math.MaxInt64}, &inf.DataTypeRp{CodeId: -1}, &inf.DataTypeRp{},
		&inf.LoginRp{Token: "t", ExpiresUnixMs: 1 << 40},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(append(b, b...)) // fields that stand there twice
		f.Add(b[:len(b)/2])
	}
	for _, e := range []error{
		&service.Error{Code: service.NotFound, Msg: "no 語音", Cause: "store_hot_key"}, &service.Error{Code: service.Internal},
	} {
		b, err := proto.Marshal(status.Convert(convert.Status(e)).Proto())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, s := range []string{"\xa8\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\xa8\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "\xb2\x06\x02\xff\xfe",
		"\x0912345678", "\x0d1234", "\x0b\x0c", "\x00\x00", "\xaa\x06\x01x", "\x08\x01", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "\xf8\xff\xff\xff\x7f\x01"} {
		f.Add([]byte(s))
	}
	d := newDecoder(f)
	f.Fuzz(func(t *testing.T, b []byte) { compare(t, d, b) })
}

func compare(t *testing.T, d *decoder, b []byte) {
	t.Helper()
	var gotD dataTypeRp
	var wantD inf.DataTypeRp
	failed, err := d.decode(t, "DataTypeRp", b, &gotD), proto.Unmarshal(b, &wantD)
	if (failed != "") != (err != nil) && !tolerated(failed) {
		t.Errorf("DataTypeRp %x: php says %q, go %v", b, failed, err)
	} else if err == nil && failed == "" && gotD != (dataTypeRp{struct{ Token string }{wantD.GetAuthRp().GetToken()}, wantD.GetCodeId(), wantD.GetCnName()}) {
		t.Errorf("DataTypeRp %x: php has %+v, go %v", b, gotD, &wantD)
	}
	var gotL loginRp
	var wantL inf.LoginRp
	failed, err = d.decode(t, "LoginRp", b, &gotL), proto.Unmarshal(b, &wantL)
	if (failed != "") != (err != nil) && !tolerated(failed) {
		t.Errorf("LoginRp %x: php says %q, go %v", b, failed, err)
	} else if err == nil && failed == "" && gotL != (loginRp{wantL.GetToken(), wantL.GetExpiresUnixMs()}) {
		t.Errorf("LoginRp %x: php has %+v, go %v", b, gotL, &wantL)
	}
	var gotS struct{ Kind, Message, Cause string }
	if failed := d.decode(t, "status", b, &gotS); failed != "" {
		t.Errorf("status %x: php says %q", b, failed)
	}
	var st spb.Status
	if proto.Unmarshal(b, &st) == nil {
		if want := convert.ServiceError(status.FromProto(&st)); want != nil && len(st.GetDetails()) == 1 {
			msg, err := base64.StdEncoding.DecodeString(gotS.Message)
			if err != nil || gotS.Kind != want.Code.String() || string(msg) != want.Msg || gotS.Cause != want.Cause {
				t.Errorf("status %x: php has %+v (%s), go %v", b, gotS, msg, want)
			}
		}
	}
	var gotF string
	failed = d.decode(t, "frame", b, &gotF)
	whole := len(b) >= 5 && b[0] == 0 && uint64(binary.BigEndian.Uint32(b[1:])) == uint64(len(b)-5)
	if whole != (failed == "") || whole && gotF != base64.StdEncoding.EncodeToString(b[5:]) {
		t.Errorf("frame %x: php says %q, has %q", b, failed, gotF)
	}
}
