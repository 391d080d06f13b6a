package grpcgateway

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// marshaler is the library's own, which writes fields that are not set too and skips those that it does not know, with a
// limit on each message. What the limit is asked of is JSON.
type marshaler struct {
	*runtime.JSONPb
	max int
}

func newMarshaler(max int) marshaler {
	return marshaler{&runtime.JSONPb{
		MarshalOptions:   protojson.MarshalOptions{EmitUnpopulated: true},
		UnmarshalOptions: protojson.UnmarshalOptions{DiscardUnknown: true},
	}, max}
}

// Marshal refuses an answer that is over the limit.
func (m marshaler) Marshal(v any) ([]byte, error) {
	b, err := m.JSONPb.Marshal(v)
	if err == nil && len(b) > m.max+envelope {
		return nil, status.Errorf(codes.ResourceExhausted, "the answer is larger than %d bytes", m.max)
	}
	return b, err
}

// envelope is what a streamed message has around it: {"result":}.
const envelope = 16

// NewDecoder reads the messages of a request's body.
func (m marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	b, ok := r.(*body)
	if !ok {
		return m.JSONPb.NewDecoder(r)
	}
	return &decoder{json: json.NewDecoder(b), body: b, options: m.UnmarshalOptions, max: m.max}
}

type decoder struct {
	json    *json.Decoder
	body    *body
	options protojson.UnmarshalOptions
	max     int
}

// lookahead is how much more than a message json.Decoder may read to know that it is whole: it doubles its buffer.
const lookahead = 64 << 10

// Decode reads the next message. Of a message that can't be had, the generated code would tell the caller by
// invalid_argument, or, where it streams both ways, by a stream that ends as if all were well. So the body keeps why, and
// ends the call.
func (d *decoder) Decode(v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return status.Errorf(codes.Internal, "a request's body is a %T", v)
	}
	d.body.left = 2*d.max + lookahead
	var raw json.RawMessage
	err := d.json.Decode(&raw)
	switch {
	case err == io.EOF:
		return err
	case d.body.left < 0 || len(raw) > d.max:
		err = status.Errorf(codes.ResourceExhausted, "a message of the request is larger than %d bytes", d.max)
	case err == nil:
		if err = d.options.Unmarshal(raw, m); err == nil {
			return nil
		}
		fallthrough
	default:
		err = status.Errorf(codes.InvalidArgument, "the request's body: %v", err)
	}
	d.body.refuse(err)
	return err
}

// body is a request's body that is bounded, and ends the request's call when it is refused.
type body struct {
	io.ReadCloser
	left int // how much the message that is being read may still take
	end  context.CancelCauseFunc
}

func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= n
	return n, err
}

func (b *body) refuse(why error) { b.end(why) }

// bodies has the requests' bodies bounded.
func bodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		ctx, end := context.WithCancelCause(r.Context())
		defer end(nil)
		r = r.WithContext(ctx)
		r.Body = &body{ReadCloser: r.Body, end: end}
		next.ServeHTTP(w, r)
	})
}

// answerError is the library's own answer of an error, unless the body was refused, which is then the error.
func answerError(ctx context.Context, mux *runtime.ServeMux, m runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
	if why := refused(r.Context()); why != nil {
		err = why
	}
	runtime.DefaultHTTPErrorHandler(ctx, mux, m, w, r, err)
}

func streamError(ctx context.Context, err error) *status.Status {
	if why := refused(ctx); why != nil {
		err = why
	}
	return runtime.DefaultStreamErrorHandler(ctx, err)
}

// refused is why the body of the request with that context was refused; nil: it was not.
func refused(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil {
		if _, is := status.FromError(cause); is {
			return cause
		}
	}
	return nil
}
