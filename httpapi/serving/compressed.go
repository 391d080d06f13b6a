package serving

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"bakeoff/httpapi"
	"bakeoff/protocol/gzipped"
	"bakeoff/service"
)

// Encoded is what is wrong with the Content-Encoding of a request; nil is nothing. Whole messages may be compressed, whatever the
// server's own option says; streams may not.
func Encoded[T ~string | ~[]byte](op Op, encoding T) *Refusal {
	if len(encoding) == 0 || string(encoding) == gzipped.Encoding && op.takes() == httpapi.TypeJSON {
		return nil
	}
	mend := "send it as it is"
	if op.takes() == httpapi.TypeJSON {
		mend = "send it as it is, or in gzip"
	}
	return &Refusal{Problem: httpapi.ProblemWith(http.StatusUnsupportedMediaType,
		service.Errorf(service.InvalidArgument, "the content encoding is %.80q: %s", encoding, mend))}
}

// ReadZipped is Read for a compressed body.
func (r *Rules) ReadZipped(body io.Reader, length int, dst []byte) ([]byte, error) {
	if length > r.Max {
		return dst, httpapi.TooLarge("request", r.Max)
	}
	dst, err := gzipped.Expand(dst, body, r.Max)
	var bad *gzipped.Error
	switch {
	case errors.Is(err, gzipped.ErrTooLarge):
		err = httpapi.TooLarge("request", r.Max)
	case errors.As(err, &bad):
		err = service.Errorf(service.InvalidArgument, "the body, said to be in gzip: %v", err)
	}
	return dst, err
}

// Compress is the answer compressed, and true, if that is what this server does and the client's Accept-Encoding takes; or else the
// answer as it is. What is compressed stands behind the answer.
func (r *Rules) Compress(accept string, answer []byte) ([]byte, bool) {
	if !r.Compressed || !accepted(accept) {
		return answer, false
	}
	return gzipped.Append(answer[len(answer):], answer), true
}

// accepted says whether gzip is in the list of an Accept-Encoding, and not with a weight of zero.
func accepted(list string) bool {
	for part := range strings.SplitSeq(list, ",") {
		name, weight, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), gzipped.Encoding) {
			weight = strings.ReplaceAll(weight, " ", "")
			return !strings.HasPrefix(weight, "q=0") || strings.Trim(weight[len("q=0"):], ".0") != ""
		}
	}
	return false
}
