package conformance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"bakeoff/service"
)

var dataVectors = []Vector{
	{probeVector,
		"the server answers a planted call",
		"the server's start: it needs conformance.Probe around its rules", probeAnswers},
	{"hit",
		"the known pair is answered with code 101 and 語音接通",
		"the fields of the answer in the wire's conversion", hit},
	{"miss",
		"an unknown data type is not_found, with the rule's message",
		"the mapping of errors, on both ends", miss},
	{"empty",
		"empty strings arrive as empty strings: asked for, they are invalid_argument; answered, they are empty",
		"defaults and absent fields in the wire's conversion", empty},
	{"unicode",
		"text arrives byte for byte: Chinese, emoji, combining marks, controls, NUL, and what JSON, HTML and URLs escape",
		"escaping and string types on the wire", unicode},
	{"int64",
		"an int64 keeps every digit, from the least to the greatest",
		"numbers that pass through a float64, or lose their sign", int64s},
	{"errors",
		"each error code arrives as itself, with its message and its cause, if it has one",
		"the mapping of errors, on both ends", errorCodes},
	{"error-text",
		"an error's message arrives byte for byte, even if it is empty",
		"headers and trailers that can't carry every byte unescaped", errorTexts},
}

func probeAnswers(ctx context.Context, e *Env) error {
	return works(ctx, e.Client, "the login")
}

// known is the request whose answer everybody knows.
func (e *Env) known() service.DataTypeRequest {
	return service.DataTypeRequest{Auth: e.Auth(), Group: service.KnownGroup, Name: service.KnownName}
}

func (e *Env) knownAnswer() service.DataType {
	return service.DataType{Token: e.Session.Token, CodeID: 101, CnName: "語音接通"}
}

// hit asks twice: the first call may have to fill the store, the second reads what is there.
func hit(ctx context.Context, e *Env) error {
	for _, what := range []string{"first call", "second call"} {
		d, err := e.Client.DataType(ctx, e.known())
		if err != nil {
			return fmt.Errorf("%s: got error %w, want an answer", what, err)
		}
		if err := same(what, d, e.knownAnswer()); err != nil {
			return err
		}
	}
	return nil
}

func miss(ctx context.Context, e *Env) error {
	_, err := e.Client.DataType(ctx, service.DataTypeRequest{Auth: e.Auth(), Group: "USER_EVENT", Name: "無此項"})
	return fails("DataType USER_EVENT|無此項", err, service.NotFound, `no data type "無此項" in group "USER_EVENT"`)
}

func empty(ctx context.Context, e *Env) error {
	for _, r := range []service.DataTypeRequest{
		{Auth: e.Auth()},
		{Auth: e.Auth(), Group: "USER_EVENT"},
		{Auth: e.Auth(), Name: "app_call_connect_success"},
	} {
		_, err := e.Client.DataType(ctx, r)
		what := fmt.Sprintf("DataType with group %q and name %q", r.Group, r.Name)
		if err := fails(what, err, service.InvalidArgument, "group and name must not be empty"); err != nil {
			return err
		}
	}
	d, err := ask(ctx, e.Client, "echo:")
	if err != nil {
		return fmt.Errorf("an answer of zero values: got error %w", err)
	}
	return same("an answer of zero values", d, service.DataType{})
}

func unicode(ctx context.Context, e *Env) error {
	for _, c := range []struct{ what, text string }{
		{"Chinese", "語音接通"},
		{"beyond 16 bits", "𠮷 😀 👩‍👩‍👧‍👦"},
		{"combining", "e\u0301 and \u00e9 differ"},
		{"right to left", "שלום مرحبا"},
		{"byte-order mark", "\ufeffx"},
		{"NUL and controls", "a\x00b\x01\x1f\x7f"},
		{"ends of lines", "a\r\nb\nc\u2028d\u2029e"},
		{"JSON and HTML", `"\/<>&'`},
		{"URLs", "a b+c%20d?e=f&g#h;i/../j"},
		{"spaces at the end", "  a \t "},
		{"replacement", "\ufffd\uffff"},
	} {
		d, err := ask(ctx, e.Client, "echo:"+c.text)
		if err != nil {
			return fmt.Errorf("%s: got error %w, want %s", c.what, err, short(c.text))
		}
		if err := same(c.what, d.CnName, c.text); err != nil {
			return err
		}
		// The length is what the server counted: it tells a text changed on its way there from one changed on its way back.
		if err := same(c.what+": length at the server", d.CodeID, int64(len(c.text))); err != nil {
			return err
		}
	}
	return nil
}

func int64s(ctx context.Context, e *Env) error {
	for _, n := range []int64{
		0, 1, -1, math.MaxInt32 + 1, math.MinInt32 - 1,
		1<<53 + 1, -1<<53 - 1, // the first that a float64 can't hold
		math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1,
	} {
		d, err := ask(ctx, e.Client, "int:"+strconv.FormatInt(n, 10))
		if err != nil {
			return fmt.Errorf("code %d: got error %w", n, err)
		}
		if err := same("code", d.CodeID, n); err != nil {
			return err
		}
	}
	return nil
}

func errorCodes(ctx context.Context, e *Env) error {
	var all []error
	for _, c := range service.Codes() {
		for _, cause := range []string{"planted_" + c.String(), ""} {
			msg := "planted " + c.String()
			_, err := ask(ctx, e.Client, fmt.Sprintf("error:%d:%s:%s", c, cause, msg))
			what := fmt.Sprintf("planted %s with cause %q", c, cause)
			all = append(all, errors.Join(fails(what, err, c, msg), caused(what, err, cause)))
		}
	}
	// What is no cause is not sent, or is dropped, and takes nothing else with it.
	for _, cause := range []string{strings.Repeat("x", service.MaxCause+1), "Not A Cause", "原因"} {
		_, err := ask(ctx, e.Client, fmt.Sprintf("error:%d:%s:m", service.Unavailable, cause))
		what := fmt.Sprintf("planted unavailable with %s in place of a cause", short(cause))
		all = append(all, errors.Join(fails(what, err, service.Unavailable, "m"), caused(what, err, "")))
	}
	return errors.Join(all...)
}

func errorTexts(ctx context.Context, e *Env) error {
	for _, msg := range []string{
		"語音接通 😀", "100% of \"it\": a\r\nb\tc", " spaces ", "a: b: c", "<b>&amp;</b> %41", strings.Repeat("長", 1000),
	} {
		_, err := ask(ctx, e.Client, fmt.Sprintf("error:%d::%s", service.NotFound, msg))
		if err := fails("planted message", err, service.NotFound, msg); err != nil {
			return err
		}
	}
	_, err := ask(ctx, e.Client, fmt.Sprintf("error:%d::", service.NotFound))
	var se *service.Error
	if !errors.As(err, &se) || *se != (service.Error{Code: service.NotFound}) {
		return fmt.Errorf("an error with an empty message: got %v, want code not_found and no message", err)
	}
	return nil
}
