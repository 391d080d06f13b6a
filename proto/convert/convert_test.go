package convert_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"bakeoff/proto/convert"
	"bakeoff/proto/inf"
	"bakeoff/proto/routeguide"
	"bakeoff/service"
)

// TestThereAndBack sends each domain value through its message.
func TestThereAndBack(t *testing.T) {
	point := service.Point{Latitude: math.MinInt32, Longitude: math.MaxInt32}
	check := func(got, want any, err error) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	login := service.LoginRequest{ClientID: "a", Secret: "語"}
	gotLogin, err := convert.Login(convert.WireLogin(login))
	check(gotLogin, login, err)
	for _, session := range []service.Session{
		{}, {Token: "t", Expires: time.UnixMilli(math.MaxInt32 * 1000).UTC()}, {Expires: time.UnixMilli(-1).UTC()},
	} {
		check(convert.Session(convert.WireSession(session)), session, nil)
	}
	request := service.DataTypeRequest{Auth: service.Auth{ClientID: "a", Token: "b"}, Group: "c", Name: "d"}
	gotRequest, err := convert.DataTypeRequest(convert.WireDataTypeRequest(request))
	check(gotRequest, request, err)
	answer := service.DataType{Token: "t", CodeID: math.MinInt64, CnName: "語音接通"}
	check(convert.DataType(convert.WireDataType(answer)), answer, nil)
	check(convert.Point(convert.WirePoint(point)), point, nil)
	rectangle := service.Rectangle{Lo: point, Hi: service.Point{Latitude: 1}}
	check(convert.Rectangle(convert.WireRectangle(rectangle)), rectangle, nil)
	feature := service.Feature{Name: "f", Location: point}
	check(convert.Feature(convert.WireFeature(feature)), feature, nil)
	note := service.RouteNote{Location: point, Message: "m"}
	gotNote, err := convert.Note(convert.WireNote(note))
	check(gotNote, note, err)
	summary := service.RouteSummary{PointCount: 1, FeatureCount: 2, Distance: 3, ElapsedTime: 4}
	check(convert.Summary(convert.WireSummary(summary)), summary, nil)
}

// TestNil reads messages that are missing, as the zero values.
func TestNil(t *testing.T) {
	login, err1 := convert.Login(nil)
	request, err2 := convert.DataTypeRequest(nil)
	note, err3 := convert.Note(nil)
	payload, err4 := convert.Payload(nil)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Error(err)
	}
	if payload.Text != "" || len(payload.Data) > 0 || login != (service.LoginRequest{}) || request != (service.DataTypeRequest{}) || note != (service.RouteNote{}) ||
		convert.Session(nil) != (service.Session{}) || convert.DataType(nil) != (service.DataType{}) || convert.Point(nil) != (service.Point{}) ||
		convert.Rectangle(nil) != (service.Rectangle{}) || convert.Rectangle(&routeguide.Rectangle{}) != (service.Rectangle{}) ||
		convert.Feature(nil) != (service.Feature{}) || convert.Summary(nil) != (service.RouteSummary{}) {
		t.Error("a missing message did not read as the zero value")
	}
}

func TestNotUTF8NamesTheField(t *testing.T) {
	const bad = "\xff"
	for field, read := range map[string]func() error{
		"clientId": func() error { _, err := convert.Login(&inf.LoginRq{ClientId: bad}); return err },
		"secret":   func() error { _, err := convert.Login(&inf.LoginRq{Secret: bad}); return err },
		"authRq.clientId": func() error {
			_, err := convert.DataTypeRequest(&inf.DataTypeRq{AuthRq: &inf.AuthRq{ClientId: bad}})
			return err
		},
		"authRq.token": func() error {
			_, err := convert.DataTypeRequest(&inf.DataTypeRq{AuthRq: &inf.AuthRq{Token: bad}})
			return err
		},
		"groupName": func() error { _, err := convert.DataTypeRequest(&inf.DataTypeRq{GroupName: bad}); return err },
		"enName":    func() error { _, err := convert.DataTypeRequest(&inf.DataTypeRq{EnName: bad}); return err },
		"text":      func() error { _, err := convert.Payload(&inf.Payload{Text: bad}); return err },
		"message":   func() error { _, err := convert.Note(&routeguide.RouteNote{Message: bad}); return err },
	} {
		var e *service.Error
		if err := read(); !errors.As(err, &e) || *e != (service.Error{Code: service.InvalidArgument, Msg: field + " is not valid UTF-8"}) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestStatus(t *testing.T) {
	if err := convert.Status(nil); err != nil {
		t.Errorf("nil became %v", err)
	}
	for _, row := range []struct {
		given error
		code  codes.Code
		want  service.Error
	}{
		{service.Errorf(service.InvalidArgument, "m"), codes.InvalidArgument, service.Error{Code: service.InvalidArgument, Msg: "m"}},
		{service.Errorf(service.Unauthenticated, "m"), codes.Unauthenticated, service.Error{Code: service.Unauthenticated, Msg: "m"}},
		{service.Errorf(service.NotFound, "m"), codes.NotFound, service.Error{Code: service.NotFound, Msg: "m"}},
		{service.Errorf(service.Unavailable, "m"), codes.Unavailable, service.Error{Code: service.Unavailable, Msg: "m"}},
		{service.Errorf(service.DeadlineExceeded, "m"), codes.DeadlineExceeded, service.Error{Code: service.DeadlineExceeded, Msg: "m"}},
		{service.Errorf(service.ResourceExhausted, "m"), codes.ResourceExhausted, service.Error{Code: service.ResourceExhausted, Msg: "m"}},
		{service.Errorf(service.Internal, ""), codes.Internal, service.Error{Code: service.Internal}},
		{fmt.Errorf("wrapped: %w", service.Errorf(service.NotFound, "m")), codes.NotFound, service.Error{Code: service.NotFound, Msg: "m"}},
		{context.Canceled, codes.Unavailable, service.Error{Code: service.Unavailable, Msg: "cancelled by the caller"}},
		{errors.New("\xff"), codes.Internal, service.Error{Code: service.Internal, Msg: "\uFFFD"}},
		{&service.Error{Code: -1, Msg: "m"}, codes.Internal, service.Error{Code: service.Internal, Msg: "m"}},
		{&service.Error{Code: service.DeadlineExceeded, Msg: "m", Cause: "store_timeout"}, codes.DeadlineExceeded,
			service.Error{Code: service.DeadlineExceeded, Msg: "m", Cause: "store_timeout"}},
		{&service.Error{Code: service.Internal, Msg: "m", Cause: "no UTF-8 \xff"}, codes.Internal, service.Error{Code: service.Internal, Msg: "m"}},
	} {
		st := status.Convert(convert.Status(row.given))
		got := convert.ServiceError(st)
		if st.Code() != row.code || st.Message() != row.want.Msg || got == nil || *got != row.want {
			t.Errorf("%v: status %v %q, read back %v, want %v", row.given, st.Code(), st.Message(), got, row.want)
		}
	}
}

func TestCodesThereAndBack(t *testing.T) {
	for _, c := range service.Codes() {
		if back, ok := convert.Code(convert.GRPCCode(c)); !ok || back != c {
			t.Errorf("%v -> %v -> %v, %v", c, convert.GRPCCode(c), back, ok)
		}
	}
	for _, c := range []codes.Code{codes.OK, codes.Canceled, codes.Unknown, codes.Unimplemented, 99} {
		if got, ok := convert.Code(c); ok {
			t.Errorf("%v became %v", c, got)
		}
	}
	if c := convert.GRPCCode(99); c != codes.Internal {
		t.Errorf("99 became %v", c)
	}
}

// FuzzServiceError reads statuses as they may come from any server: what is made of them is a code of ours, or nothing.
func FuzzServiceError(f *testing.F) {
	for _, detail := range []proto.Message{&inf.Error{Code: 3, Message: "m", Cause: "c_1"}, &inf.Error{Code: 4, Cause: "C 1"}, &inf.Error{Code: 99}, &routeguide.Point{Latitude: 1}} {
		a, err := anypb.New(detail)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(int32(5), "m", a.TypeUrl, a.Value)
	}
	f.Add(int32(13), "", "type.googleapis.com/inf.Error", []byte{0xff})
	f.Add(int32(-1), "\xff", "", []byte(nil))
	f.Fuzz(func(t *testing.T, code int32, msg, url string, detail []byte) {
		details := []*anypb.Any{nil, {TypeUrl: url, Value: detail}}
		e := convert.ServiceError(status.FromProto(&spb.Status{Code: code, Message: msg, Details: details}))
		if e == nil {
			return
		}
		if !e.Code.Valid() {
			t.Errorf("read the code %v", e.Code)
		}
		if e.Cause != service.CleanCause(e.Cause) {
			t.Errorf("read the cause %q", e.Cause)
		}
		if again := convert.ServiceError(status.Convert(convert.Status(e))); again == nil || *again != *e {
			t.Errorf("%v, sent on, became %v", e, again)
		}
	})
}
