package grpcgatewayclient

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"bakeoff/httpapi"
	"bakeoff/proto/convert"
	"bakeoff/protocol"
	"bakeoff/service"
)

// reading skips what it does not know, as the gateway does.
var reading = protojson.UnmarshalOptions{DiscardUnknown: true}

// decode reads a message.
func decode(b []byte, m proto.Message) error {
	if err := reading.Unmarshal(b, m); err != nil {
		return malformed(err)
	}
	return nil
}

func malformed(err error) error { return &protocol.Fault{Kind: protocol.Malformed, Err: err} }

func largeAnswer() error {
	return service.Errorf(service.ResourceExhausted, "the answer is larger than the limit")
}

// chunk is one message of a stream, or the error that ends it.
type chunk struct {
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// envelope is what a chunk has around its message at most.
const envelope = 16

// errorOf is the error that an answer of that status has in its body: a google.rpc.Status, in a chunk where the answer was
// to be a stream.
func errorOf(code int, body []byte) error {
	var c chunk
	if json.Unmarshal(body, &c) == nil && len(c.Error) > 0 {
		body = c.Error
	}
	return statusError(code, body)
}

func statusError(code int, body []byte) error {
	st := new(rpc.Status)
	if err := reading.Unmarshal(body, st); err != nil {
		// It may have a detail of a type that is not known here.
		var plain struct {
			Code    int32  `json:"code"`
			Message string `json:"message"`
		}
		if json.Unmarshal(body, &plain) != nil {
			return malformed(fmt.Errorf("the answer is HTTP %d %s with %.200q, which is no status of gRPC", code, http.StatusText(code), body))
		}
		st.Code, st.Message = plain.Code, plain.Message
	}
	if own := convert.ServiceError(status.FromProto(st)); own != nil {
		return own
	}
	if c, ok := convert.Code(codes.Code(st.GetCode())); ok {
		return &service.Error{Code: c, Msg: st.GetMessage()} // the gateway's own, or gRPC's behind it
	}
	return malformed(fmt.Errorf("the answer is HTTP %d with gRPC's code %v: %s", code, codes.Code(st.GetCode()), st.GetMessage()))
}

// stream reads the messages of an answer.
type stream struct{ lines *httpapi.Lines }

// open looks at the head of an answer that is a stream. The error is the call's.
func (c *client) open(resp *http.Response) (stream, error) {
	if resp.StatusCode != http.StatusOK {
		b, err := c.read(resp)
		if err == nil {
			err = errorOf(resp.StatusCode, b)
		}
		return stream{}, err
	}
	return stream{httpapi.NewLines(resp.Body, c.max+envelope)}, nil
}

// next reads a message into m; io.EOF is the end.
func (s stream) next(m proto.Message) error {
	line, err := s.lines.Next()
	switch err {
	case nil:
	case io.EOF:
		return io.EOF
	case httpapi.ErrLineTooLong:
		return largeAnswer()
	default:
		return err
	}
	var c chunk
	switch err := json.Unmarshal(line, &c); {
	case err != nil:
		return malformed(err)
	case len(c.Error) > 0:
		return statusError(http.StatusOK, c.Error)
	case len(c.Result) == 0:
		return malformed(fmt.Errorf("a line of the answer has neither result nor error: %.200q", line))
	}
	return decode(c.Result, m)
}
