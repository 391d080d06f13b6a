package conformance

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bakeoff/service"
)

var authVectors = []Vector{
	{"login",
		"the demo pair earns a token that expires in whole milliseconds UTC, and opens DataType",
		"how the session's time travels", login},
	{"login-refused",
		"an unknown client and a wrong secret are unauthenticated, with one message for both",
		"the mapping of errors, or answers that are kept between calls", loginRefused},
	{"token-carried",
		"client id and token of each request arrive at the server, and its token comes back",
		"fields, headers or cookies that carry the auth, or are kept between calls", tokenCarried},
	{"token-refused",
		"no token, a made-up, a changed, and another client's one, and one with no client id, are unauthenticated",
		"whether the request's own token is what is sent", tokenRefused},
	{"token-expired",
		"an expired token is unauthenticated, and the message says so",
		"whether the server's message arrives", tokenExpired},
}

func login(ctx context.Context, e *Env) error {
	left := time.Until(e.Session.Expires)
	switch {
	case e.Session.Token == "":
		return fmt.Errorf("login: got an empty token")
	case left <= 0 || left > 24*time.Hour:
		return fmt.Errorf("login: got a session that expires at %v, which is %v from now; want 15 minutes or another likely time", e.Session.Expires, left)
	case e.Session.Expires != e.Session.Expires.UTC().Truncate(time.Millisecond):
		return fmt.Errorf("login: got a session that expires at %v, want whole milliseconds, UTC", e.Session.Expires)
	}
	_, err := e.Client.DataType(ctx, e.known())
	if err != nil {
		return fmt.Errorf("DataType with the token just earned: got error %w", err)
	}
	return nil
}

func loginRefused(ctx context.Context, e *Env) error {
	for what, r := range map[string]service.LoginRequest{
		"wrong secret":   {ClientID: service.DemoClientID, Secret: "wrong"},
		"longer secret":  {ClientID: service.DemoClientID, Secret: service.DemoSecret + "x"},
		"no secret":      {ClientID: service.DemoClientID},
		"unknown client": {ClientID: "nobody", Secret: service.DemoSecret},
		"no client":      {Secret: service.DemoSecret},
		"nothing":        {},
	} {
		_, err := e.Client.Login(ctx, r)
		if err := fails("login with "+what, err, service.Unauthenticated, "unknown client id or wrong secret"); err != nil {
			return err
		}
	}
	return nil
}

func tokenCarried(ctx context.Context, e *Env) error {
	for _, a := range []service.Auth{{ClientID: "one", Token: "token-1"}, {}, {ClientID: "two", Token: strings.Repeat("t", 200)}, {ClientID: "three"}} {
		d, err := e.Client.DataType(ctx, service.DataTypeRequest{Auth: a, Group: Group, Name: "auth:"})
		if err != nil {
			return fmt.Errorf("auth %+v: got error %w", a, err)
		}
		if err := same("client id and token at the server", d.CnName, a.ClientID+" "+a.Token); err != nil {
			return err
		}
		if err := same("token in the answer", d.Token, a.Token); err != nil {
			return err
		}
	}
	return nil
}

const badToken = "the token is not valid for this client id"

func tokenRefused(ctx context.Context, e *Env) error {
	own := e.Session.Token
	changed := own[:len(own)-1] + string("AQ"[btoi(own[len(own)-1] == 'A')])
	for _, c := range []struct {
		what string
		auth service.Auth
		msg  string
	}{
		{"no token", service.Auth{ClientID: service.DemoClientID}, "the request has no token: log in first"},
		{"no auth", service.Auth{}, "the request has no token: log in first"},
		{"a made-up token", service.Auth{ClientID: service.DemoClientID, Token: "open sesame"}, badToken},
		{"a changed token", service.Auth{ClientID: service.DemoClientID, Token: changed}, badToken},
		{"the token of another client", service.Auth{ClientID: "another", Token: own}, badToken},
		{"a token and no client id", service.Auth{Token: own},
			"the request has a token and no client id: send the one that the token was given to"},
	} {
		r := e.known()
		r.Auth = c.auth
		_, err := e.Client.DataType(ctx, r)
		if err := fails("DataType with "+c.what, err, service.Unauthenticated, c.msg); err != nil {
			return err
		}
	}
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func tokenExpired(ctx context.Context, e *Env) error {
	r := e.known()
	d, err := e.Client.DataType(ctx, service.DataTypeRequest{Auth: r.Auth, Group: Group, Name: "expired:"})
	if err != nil {
		return fmt.Errorf("ask the probe for an expired token: %w", err)
	}
	r.Auth.Token = d.CnName
	_, err = e.Client.DataType(ctx, r)
	return fails("DataType with an expired token", err, service.Unauthenticated, "the token has expired: log in again")
}
