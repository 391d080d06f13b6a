package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
)

// ask is a call that Probe answers.
func ask(ctx context.Context, c service.DataAPI, name string) (service.DataType, error) {
	return c.DataType(ctx, service.DataTypeRequest{Group: Group, Name: name})
}

// works says what keeps a client from being used after something else has happened on it.
func works(ctx context.Context, c service.DataAPI, after string) error {
	d, err := ask(ctx, c, "echo:still here")
	if err != nil {
		return fmt.Errorf("the next call after %s: got error %w, want an answer", after, err)
	}
	return same("the next call after "+after, d, service.DataType{CnName: "still here", CodeID: 10})
}

// same compares an answer with the wanted one.
func same[T comparable](what string, got, want T) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s: got %s, want %s", what, short(got), short(want))
}

// short shows a value so that unlike ones look different, and a megabyte stays on one line.
func short(v any) string {
	s := fmt.Sprintf("%+q", fmt.Sprint(v))
	if _, ok := v.(string); !ok {
		s = fmt.Sprintf("%+v", v)
	}
	if len(s) > 200 {
		return fmt.Sprintf("%s ... (%d bytes)", s[:200], len(s))
	}
	return s
}

// fails wants an error of the service with a code and, unless it is empty, a message.
func fails(what string, err error, code service.Code, msg string) error {
	var se *service.Error
	switch {
	case err == nil:
		return fmt.Errorf("%s: got an answer, want error %s", what, code)
	case !errors.As(err, &se):
		return fmt.Errorf("%s: got %T (%s), want *service.Error %s: the error's code was lost on its way", what, err, short(err.Error()), code)
	case se.Code != code:
		return fmt.Errorf("%s: got code %s (%s), want %s", what, se.Code, short(se.Msg), code)
	case msg != "" && se.Msg != msg:
		return fmt.Errorf("%s: got message %s, want %s", what, short(se.Msg), short(msg))
	}
	return nil
}

// caused wants the error of a service to have a cause, or none, and its outcome class to be that.
func caused(what string, err error, cause string) error {
	var se *service.Error
	if !errors.As(err, &se) {
		return nil // fails has said so
	}
	class := cause
	if class == "" {
		class = se.Code.String()
	}
	if se.Cause != cause || se.Class() != class {
		return fmt.Errorf("%s: got cause %s and outcome class %s, want %s and %s", what, short(se.Cause), short(se.Class()), short(cause), short(class))
	}
	return nil
}

// tries is how often an upper bound of time is tried: other load on the machine can delay a call, and never hastens it.
const tries = 10

// within runs call up to three times until it ends in time. The least time that is wanted holds for each try, and
// so does everything else that call checks.
func within(least, most time.Duration, what string, call func() error) error {
	best := time.Duration(1<<63 - 1)
	for range tries {
		start := time.Now()
		err := call()
		took := time.Since(start)
		if err != nil {
			return err
		}
		if took < least {
			return fmt.Errorf("%s: returned after %v, before its time of %v", what, took.Round(10*time.Microsecond), least)
		}
		if best = min(best, took); best <= most {
			return nil
		}
	}
	return fmt.Errorf("%s: returned after %v at best of %d tries, want at most %v", what, best.Round(10*time.Microsecond), tries, most)
}

// late wants the error of a call whose time is over.
func late(what string, err error) error {
	var fault *protocol.Fault
	if errors.As(err, &fault) && fault.Kind == protocol.Timeout {
		return nil
	}
	return fails(what, err, service.DeadlineExceeded, "")
}
