package wire_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/thrift/gen/inf"
	"bakeoff/thrift/gen/routeguide"
	"bakeoff/thrift/stack"
	"bakeoff/thrift/wire"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"
)

// TestAbsent gives each decoder what a wire may lack.
func TestAbsent(t *testing.T) {
	if _, err := wire.DecodeDataTypeRequest(nil); service.AsError(err).Code != service.InvalidArgument {
		t.Errorf("DecodeDataTypeRequest(nil): %v", err)
	}
	if _, err := wire.DecodeLoginRequest(nil); service.AsError(err).Code != service.InvalidArgument {
		t.Errorf("DecodeLoginRequest(nil): %v", err)
	}
	if _, err := wire.DecodePayload(nil); service.AsError(err).Code != service.InvalidArgument {
		t.Errorf("DecodePayload(nil): %v", err)
	}
	r, err := wire.DecodeDataTypeRequest(&inf.DataTypeRq{GroupName: "g"})
	if err != nil || r != (service.DataTypeRequest{Group: "g"}) {
		t.Errorf("a request without its auth: %v, %v", r, err)
	}
	if d := wire.DecodeDataType(&inf.DataTypeRp{CodeId: 1}); d != (service.DataType{CodeID: 1}) {
		t.Errorf("an answer without its auth: %v", d)
	}
	if got := wire.DecodeRectangle(nil); got != (service.Rectangle{}) {
		t.Errorf("DecodeRectangle(nil) = %v", got)
	}
	if got := wire.DecodeRectangle(&routeguide.Rectangle{}); got != (service.Rectangle{}) {
		t.Errorf("a rectangle without corners = %v", got)
	}
	if got := wire.DecodeFeature(nil); got != (service.Feature{}) {
		t.Errorf("DecodeFeature(nil) = %v", got)
	}
	if got := wire.DecodeFeature(&routeguide.Feature{Name: "n"}); got != (service.Feature{Name: "n"}) {
		t.Errorf("a feature without its place = %v", got)
	}
	if got := wire.DecodeNote(nil); got != (service.RouteNote{}) {
		t.Errorf("DecodeNote(nil) = %v", got)
	}
	if got := wire.DecodeNote(&routeguide.RouteNote{Message: "m"}); got != (service.RouteNote{Message: "m"}) {
		t.Errorf("a note without its place = %v", got)
	}
	if got := wire.DecodeSummary(nil); got != (service.RouteSummary{}) {
		t.Errorf("DecodeSummary(nil) = %v", got)
	}
}

func TestErrors(t *testing.T) {
	for _, code := range service.Codes() {
		for _, cause := range []string{"store_timeout", ""} {
			sent := &service.Error{Code: code, Msg: "why", Cause: cause}
			m := wire.EncodeError(sent)
			if got := wire.DecodeError(m); !cmp.Equal(got, error(sent)) || m.IsSetCause() != (cause != "") {
				t.Errorf("%#v travelled as %v and came back as %#v", sent, m, got)
			}
		}
		foul, want := "Not a cause", &service.Error{Code: code, Msg: "why"}
		if m := wire.EncodeError(&service.Error{Code: code, Msg: "why", Cause: foul}); m.IsSetCause() {
			t.Errorf("the cause %q was sent", foul)
		}
		if got := wire.DecodeError(&inf.ServiceError{Code: int32(code), Message: "why", Cause: &foul}); !cmp.Equal(got, error(want)) {
			t.Errorf("the cause %q came as %#v", foul, got)
		}
	}
	for _, code := range []int32{0, -1, 8, math.MaxInt32, math.MinInt32} {
		got, ok := wire.DecodeError(&inf.ServiceError{Code: code, Message: "why"}).(*wire.UnknownCodeError)
		if !ok || got.Code != code || got.Msg != "why" {
			t.Errorf("code %d came back as %#v", code, got)
		}
	}
}

func TestSessionKeepsWholeMilliseconds(t *testing.T) {
	sent := service.Session{Token: "t", Expires: time.Date(2030, 1, 2, 3, 4, 5, 6_999_999, time.FixedZone("", 3600))}
	want := service.Session{Token: "t", Expires: time.Date(2030, 1, 2, 2, 4, 5, 6_000_000, time.UTC)}
	if got := wire.DecodeSession(wire.EncodeSession(sent)); got != want {
		t.Errorf("%v came back as %v", sent, got)
	}
}

// FuzzBounds holds every upper bound against the true size in both protocols, and every value against what
// comes back of it.
func FuzzBounds(f *testing.F) {
	f.Add("", "", int32(0), int64(0), uint16(0))
	f.Add("語音接通", strings.Repeat("x", 300), int32(math.MinInt32), int64(math.MinInt64), uint16(20))
	f.Add("\xff\x00", "b", int32(math.MaxInt32), int64(math.MaxInt64), uint16(1))
	var stacks []*stack.Stack
	for _, p := range []string{"binary", "compact"} {
		s, err := stack.New(protocol.Options{Knobs: map[string]string{"protocol": p}})
		if err != nil {
			f.Fatal(err)
		}
		stacks = append(stacks, s)
	}
	f.Fuzz(func(t *testing.T, a, b string, n int32, m int64, count uint16) {
		under := func(method string, bound int, body thrift.TStruct) {
			for _, s := range stacks {
				if size, err := s.Size(method, body); err != nil || size > bound {
					t.Errorf("%s of %d bytes in %s, the bound is %d; %v", method, size, s.Name, bound, err)
				}
			}
		}
		ask := service.DataTypeRequest{Auth: service.Auth{ClientID: a, Token: b}, Group: b, Name: a}
		under("DataType", wire.SizeDataTypeRequest(ask), &inf.DataDataTypeArgs{DataTypeRq: wire.EncodeDataTypeRequest(ask)})
		if got, err := wire.DecodeDataTypeRequest(wire.EncodeDataTypeRequest(ask)); err != nil || got != ask {
			t.Errorf("%v came back as %v, %v", ask, got, err)
		}
		answer := service.DataType{Token: a, CodeID: m, CnName: b}
		under("DataType", wire.SizeDataType(answer), &inf.DataDataTypeResult{Success: wire.EncodeDataType(answer)})
		if got := wire.DecodeDataType(wire.EncodeDataType(answer)); got != answer {
			t.Errorf("%v came back as %v", answer, got)
		}
		payload := service.Payload{Text: a, Data: []byte(b)}
		under("Echo", wire.SizePayload(payload), &inf.DataEchoArgs{Payload: wire.EncodePayload(payload)})
		under("Echo", wire.SizePayload(payload), &inf.DataEchoResult{Success: wire.EncodePayload(payload)})
		if got, err := wire.DecodePayload(wire.EncodePayload(payload)); err != nil || !cmp.Equal(got, payload) {
			t.Errorf("%v came back as %v, %v", payload, got, err)
		}
		login := service.LoginRequest{ClientID: a, Secret: b}
		under("Login", wire.SizeLoginRequest(login), &inf.DataLoginArgs{LoginRq: wire.EncodeLoginRequest(login)})
		session := service.Session{Token: a, Expires: time.UnixMilli(m)}
		under("Login", wire.SizeSession(session), &inf.DataLoginResult{Success: wire.EncodeSession(session)})

		place := service.Point{Latitude: n, Longitude: ^n}
		feature, note := service.Feature{Name: a, Location: place}, service.RouteNote{Location: place, Message: b}
		under("GetFeature", wire.SizeFeature(feature), &routeguide.RouteGuideGetFeatureResult{Success: wire.EncodeFeature(feature)})
		if got := wire.DecodeFeature(wire.EncodeFeature(feature)); got != feature {
			t.Errorf("%v came back as %v", feature, got)
		}
		elements := int(count % 64)
		points, features, notes := make([]service.Point, elements), make([]service.Feature, elements), make([]service.RouteNote, elements)
		for i := range elements {
			points[i], features[i], notes[i] = place, feature, note
		}
		under("RecordRoute", wire.SizePoints(points), &routeguide.RouteGuideRecordRouteArgs{Points: wire.EncodePoints(points)})
		under("ListFeatures", wire.SizeFeatures(features),
			&routeguide.RouteGuideListFeaturesResult{Success: wire.EncodeFeatures(features)})
		under("RouteChat", wire.SizeNotes(notes), &routeguide.RouteGuideRouteChatArgs{Notes: wire.EncodeNotes(notes)})
		back, _ := service.Collect(wire.DecodeAll(wire.EncodeNotes(notes), wire.DecodeNote))
		if len(back) != elements || elements > 0 && !cmp.Equal(back, notes) {
			t.Errorf("%v came back as %v", notes, back)
		}
	})
}
