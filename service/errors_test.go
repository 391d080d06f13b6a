package service_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bakeoff/service"
)

func TestCodes(t *testing.T) {
	names := []string{"invalid_argument", "unauthenticated", "not_found", "unavailable", "deadline_exceeded", "resource_exhausted", "internal"}
	for i, c := range service.Codes() {
		if int(c) != i+1 || c.String() != names[i] || !c.Valid() {
			t.Errorf("code %d: got number %d, name %s, valid %v; want %d, %s, true", i, int(c), c, c.Valid(), i+1, names[i])
		}
	}
	for c, name := range map[service.Code]string{0: "code_0", -1: "code_-1", 8: "code_8", 1 << 30: "code_1073741824"} {
		if c.Valid() || c.String() != name {
			t.Errorf("no code: got %s, valid %v; want %s, false", c, c.Valid(), name)
		}
	}
}

func TestAsError(t *testing.T) {
	own := service.Errorf(service.NotFound, "no %s", "x")
	for _, c := range []struct {
		err  error
		want service.Error
	}{
		{own, *own},
		{fmt.Errorf("around: %w", own), *own},
		{context.DeadlineExceeded, service.Error{Code: service.DeadlineExceeded, Msg: "deadline exceeded"}},
		{fmt.Errorf("around: %w", context.DeadlineExceeded), service.Error{Code: service.DeadlineExceeded, Msg: "deadline exceeded"}},
		{context.Canceled, service.Error{Code: service.Unavailable, Msg: "cancelled by the caller"}},
		{errors.New("surprise"), service.Error{Code: service.Internal, Msg: "surprise"}},
	} {
		if got := service.AsError(c.err); *got != c.want {
			t.Errorf("%v: got %+v, want %+v", c.err, *got, c.want)
		}
	}
	if got := service.AsError(nil); got != nil {
		t.Errorf("nil: got %v, want nil", got)
	}
}

func TestErrorClassAndIs(t *testing.T) {
	late := service.Errorf(service.DeadlineExceeded, "late")
	if !errors.Is(fmt.Errorf("around: %w", late), context.DeadlineExceeded) {
		t.Error("deadline_exceeded is not context.DeadlineExceeded")
	}
	if errors.Is(service.Errorf(service.Internal, "x"), context.DeadlineExceeded) || errors.Is(late, context.Canceled) {
		t.Error("an error is a context's error that it is not")
	}
	if got := late.Class(); got != "deadline_exceeded" {
		t.Errorf("class without a cause: got %s", got)
	}
	if got := (&service.Error{Code: service.Unavailable, Cause: "store_pool"}).Class(); got != "store_pool" {
		t.Errorf("class with a cause: got %s", got)
	}
}

func TestCleanCause(t *testing.T) {
	most := strings.Repeat("x", service.MaxCause)
	for _, row := range []struct{ given, want string }{
		{"store_hot_key", "store_hot_key"}, {"a0_z9", "a0_z9"}, {"7", "7"}, {most, most}, {"", ""},
		{most + "x", ""}, {"Store", ""}, {"a b", ""}, {"a-b", ""}, {"a\n", ""}, {"\x1b[31m", ""}, {"鎖", ""}, {"\xff", ""}, {"`", ""}, {"{", ""}, {"/", ""}, {":", ""},
	} {
		if got := service.CleanCause(row.given); got != row.want {
			t.Errorf("%q: got %q, want %q", row.given, got, row.want)
		}
	}
}

func TestSequences(t *testing.T) {
	own := errors.New("own")
	if got, err := service.Collect(service.All([]int{1, 2, 3})); err != nil || !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("all: got %v, %v", got, err)
	}
	if got, err := service.Collect(service.Fail[int](own)); err != own || len(got) != 0 {
		t.Errorf("fail: got %v, %v", got, err)
	}
	if got, err := service.Collect(then([]int{1, 2}, own)); err != own || !slices.Equal(got, []int{1, 2}) {
		t.Errorf("collect: got %v, %v, want what came before the error", got, err)
	}
	read := 0
	for range service.All([]int{1, 2, 3}) {
		if read++; read == 2 {
			break
		}
	}
	if read != 2 {
		t.Errorf("a reader that stopped after 2 got %d", read)
	}
}
