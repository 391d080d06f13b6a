package service_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"bakeoff/service"
	"bakeoff/store/memory"
)

func login(t *testing.T, s *service.Service, id, secret string) service.Session {
	t.Helper()
	session, err := s.Login(t.Context(), service.LoginRequest{ClientID: id, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func TestLogin(t *testing.T) {
	s, _, _ := fresh(t, service.Config{Clients: map[string]string{"ann": "a-secret", "bob": "b-secret"}, TokenTTL: time.Minute})
	session := login(t, s, "ann", "a-secret")
	// 5.678901234 s + 60 s, cut to whole milliseconds.
	if want := time.Date(2026, 1, 2, 3, 5, 5, 678_000_000, time.UTC); session.Expires != want {
		t.Errorf("session expires at %v, want %v", session.Expires, want)
	}
	for _, r := range []service.LoginRequest{
		{ClientID: "ann", Secret: "b-secret"}, {ClientID: "ann"}, {ClientID: "ann", Secret: "a-secret "},
		{ClientID: "Ann", Secret: "a-secret"}, {Secret: "a-secret"}, {},
		{ClientID: service.DemoClientID, Secret: service.DemoSecret}, // only where no clients are named
	} {
		_, err := s.Login(t.Context(), r)
		wantError(t, "login of "+r.ClientID+" with "+r.Secret, err, service.Unauthenticated, service.MsgBadLogin)
	}
}

func TestDemoPairIsTheDefault(t *testing.T) {
	s, _, _ := fresh(t, service.Config{})
	if session := login(t, s, service.DemoClientID, service.DemoSecret); session.Token == "" {
		t.Error("the demo pair earned no token")
	}
}

func TestConfigIsChecked(t *testing.T) {
	for what, c := range map[string]service.Config{
		"negative token life":   {TokenTTL: -1},
		"negative lock life":    {LockTTL: -1},
		"negative wait":         {LockWait: -1},
		"negative notes":        {NotesKept: -1},
		"too many notes":        {NotesKept: 11},
		"client with no name":   {Clients: map[string]string{"": "x"}},
		"client with no secret": {Clients: map[string]string{"x": ""}},
	} {
		if s, err := service.New(t.Context(), memory.New(nil), c); err == nil {
			t.Errorf("%s: got a service %v, want an error", what, s)
		}
	}
}

func TestToken(t *testing.T) {
	const ttl = 10 * time.Minute
	key := []byte("a key that two servers share")
	s, store, clk := fresh(t, service.Config{Auth: true, Key: key, TokenTTL: ttl})
	foreign, _, _ := fresh(t, service.Config{Auth: true, TokenTTL: ttl}) // signs with another key
	twin := newService(t, store, service.Config{Auth: true, Key: key, TokenTTL: ttl, Clock: clk.Now})
	ann := login(t, s, service.DemoClientID, service.DemoSecret)

	call := func(s *service.Service, a service.Auth) (service.DataType, error) {
		r := known
		r.Auth = a
		return s.DataType(t.Context(), r)
	}
	good := service.Auth{ClientID: service.DemoClientID, Token: ann.Token}
	for name, s := range map[string]*service.Service{"the server that issued it": s, "another with the same key": twin} {
		d, err := call(s, good)
		if err != nil || d != (service.DataType{Token: ann.Token, CodeID: 101, CnName: "語音接通"}) {
			t.Errorf("%s: got %+v, %v", name, d, err)
		}
	}
	_, err := call(foreign, good)
	wantError(t, "a server with another key", err, service.Unauthenticated, service.MsgBadToken)

	raw, err := base64.RawURLEncoding.DecodeString(ann.Token)
	if err != nil {
		t.Fatal(err)
	}
	// Every bit counts, those of the expiry and those of the MAC.
	for i := range len(raw) * 8 {
		raw[i/8] ^= 1 << (i % 8)
		_, err := call(s, service.Auth{ClientID: good.ClientID, Token: base64.RawURLEncoding.EncodeToString(raw)})
		wantError(t, "a token with one bit changed", err, service.Unauthenticated, service.MsgBadToken)
		raw[i/8] ^= 1 << (i % 8)
	}
	for _, token := range []string{"x", ann.Token + "x", ann.Token[1:], strings.Repeat("!", len(ann.Token)), "\n" + ann.Token[1:], strings.Repeat("\n", len(ann.Token))} {
		_, err := call(s, service.Auth{ClientID: good.ClientID, Token: token})
		wantError(t, "token "+token, err, service.Unauthenticated, service.MsgBadToken)
	}
	_, err = call(s, service.Auth{Token: ann.Token})
	wantError(t, "a token and no client id", err, service.Unauthenticated, service.MsgNoClientID)
	for _, id := range []string{"bob", good.ClientID + " "} {
		_, err := call(s, service.Auth{ClientID: id, Token: ann.Token})
		wantError(t, "the token of another client", err, service.Unauthenticated, service.MsgBadToken)
	}
	_, err = call(s, service.Auth{ClientID: good.ClientID})
	wantError(t, "no token", err, service.Unauthenticated, service.MsgNoToken)
	_, err = call(s, service.Auth{ClientID: good.ClientID, Token: s.Expired(good.ClientID).Token})
	wantError(t, "a token that was made expired", err, service.Unauthenticated, service.MsgExpiredToken)
}

// TestTokenLife walks a session of 10 minutes through its life, at the edges of what differs.
func TestTokenLife(t *testing.T) {
	const ttl = 10 * time.Minute
	for _, c := range []struct {
		what    string
		age     time.Duration // since the login, whose expiry was cut by 0.901234 ms
		renewed bool
		refused bool
	}{
		{"new", 0, false, false},
		{"first half, last ms", ttl/2 - time.Millisecond, false, false},
		{"second half", ttl / 2, true, false},
		{"last ms", ttl - 2*time.Millisecond, true, false},
		{"over", ttl, false, true},
		{"long over", 100 * ttl, false, true},
	} {
		s, _, clk := fresh(t, service.Config{Auth: true, TokenTTL: ttl})
		session := login(t, s, service.DemoClientID, service.DemoSecret)
		clk.Advance(c.age)
		r := known
		r.Auth = service.Auth{ClientID: service.DemoClientID, Token: session.Token}
		d, err := s.DataType(t.Context(), r)
		if c.refused {
			wantError(t, c.what, err, service.Unauthenticated, service.MsgExpiredToken)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if renewed := d.Token != session.Token; renewed != c.renewed {
			t.Errorf("%s: token renewed: got %v, want %v", c.what, renewed, c.renewed)
		}
		if !c.renewed {
			continue
		}
		// The renewed token lives for a whole life from now, when the old one is over.
		clk.Advance(ttl - 2*time.Millisecond)
		r.Auth.Token = d.Token
		if _, err := s.DataType(t.Context(), r); err != nil {
			t.Errorf("%s: the renewed token, in its last ms: %v", c.what, err)
		}
	}
}

func TestAuthOffEchoesTheToken(t *testing.T) {
	s, _, _ := fresh(t, service.Config{})
	for _, token := range []string{"", "anything", strings.Repeat("x", 1000)} {
		r := known
		r.Auth.Token = token
		if d, err := s.DataType(t.Context(), r); err != nil || d.Token != token {
			t.Errorf("token %q: got %q, %v, want it back", token, d.Token, err)
		}
	}
}

// FuzzToken: no text but the real one opens anything, and none makes the check panic.
func FuzzToken(f *testing.F) {
	s, _, _ := fresh(f, service.Config{Auth: true, Key: []byte("key")})
	good, err := s.Login(f.Context(), service.LoginRequest{ClientID: service.DemoClientID, Secret: service.DemoSecret})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(service.DemoClientID, good.Token)
	f.Add("", "")
	f.Add(service.DemoClientID, strings.Repeat("A", len(good.Token)))
	f.Add("bob", good.Token[:len(good.Token)-2]+"==")
	f.Fuzz(func(t *testing.T, id, token string) {
		r := known
		r.Auth = service.Auth{ClientID: id, Token: token}
		d, err := s.DataType(t.Context(), r)
		real := id == service.DemoClientID && token == good.Token
		if real != (err == nil) {
			t.Errorf("id %q with token %q: got %+v, %v", id, token, d, err)
		}
	})
}
