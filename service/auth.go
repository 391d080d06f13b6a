package service

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash"
	"sync"
	"time"
)

// The messages of what auth refuses. They are the same over every protocol, and do not tell whether it was the
// id or the secret that was wrong.
const (
	MsgBadLogin     = "unknown client id or wrong secret"
	MsgNoToken      = "the request has no token: log in first"
	MsgNoClientID   = "the request has a token and no client id: send the one that the token was given to"
	MsgBadToken     = "the token is not valid for this client id"
	MsgExpiredToken = "the token has expired: log in again"
)

// secrets are the digests of what each client must show.
type secrets map[string][sha256.Size]byte

func newSecrets(clients map[string]string) (secrets, error) {
	s := make(secrets, len(clients))
	for id, secret := range clients {
		if id == "" || secret == "" {
			return nil, fmt.Errorf("service: client %q has an empty id or secret", id)
		}
		s[id] = sha256.Sum256([]byte(secret))
	}
	return s, nil
}

// match compares digests, so that the time it takes tells nothing of the length or the beginning of a secret,
// and makes the same comparison for an id that nobody has.
func (s secrets) match(id, secret string) bool {
	want, known := s[id]
	got := sha256.Sum256([]byte(secret))
	equal := subtle.ConstantTimeCompare(want[:], got[:]) == 1
	return equal && known
}

// Login implements DataAPI. It works with auth off too: a workload may log in whatever the server demands later.
func (s *Service) Login(ctx context.Context, r LoginRequest) (Session, error) {
	if !s.secrets.match(r.ClientID, r.Secret) {
		return Session{}, Errorf(Unauthenticated, MsgBadLogin)
	}
	return s.tokens.issue(r.ClientID, s.now()), nil
}

// Expired makes a token for the client id that was valid once: what a conformance check needs to show that an
// expired one is refused. It opens nothing.
func (s *Service) Expired(clientID string) Session {
	return s.tokens.issue(clientID, s.now().Add(-s.tokens.ttl-time.Millisecond))
}

// tokens issues and checks session tokens: the expiry in Unix milliseconds (8 bytes) and the first 16 bytes of
// an HMAC-SHA256 over expiry and client id, in base64url. A token is therefore good for one client id only, and
// a server needs no memory of those it has issued. Safe for concurrent use.
type tokens struct {
	ttl  time.Duration
	pool sync.Pool // of *signer: a keyed hash takes more time and memory to make than to use
}

const (
	expiryBytes = 8
	macBytes    = 16
	tokenBytes  = expiryBytes + macBytes
	tokenChars  = tokenBytes / 3 * 4
)

// signer is a keyed hash and the room that one token needs.
type signer struct {
	mac hash.Hash
	in  []byte // expiry and client id
	sum []byte
	raw [tokenBytes]byte
	txt [tokenChars]byte
}

func newTokens(key []byte, ttl time.Duration) *tokens {
	t := &tokens{ttl: ttl}
	t.pool.New = func() any {
		return &signer{mac: hmac.New(sha256.New, key), in: make([]byte, 0, 64), sum: make([]byte, 0, sha256.Size)}
	}
	return t
}

// sign leaves the MAC's kept bytes valid until the signer's next use.
func (g *signer) sign(expiry int64, clientID string) []byte {
	g.in = append(binary.BigEndian.AppendUint64(g.in[:0], uint64(expiry)), clientID...)
	g.mac.Reset()
	g.mac.Write(g.in)
	g.sum = g.mac.Sum(g.sum[:0])
	return g.sum[:macBytes]
}

func (t *tokens) issue(clientID string, now time.Time) Session {
	g := t.pool.Get().(*signer)
	defer t.pool.Put(g)
	expiry := now.Add(t.ttl).UnixMilli()
	binary.BigEndian.PutUint64(g.raw[:], uint64(expiry))
	copy(g.raw[expiryBytes:], g.sign(expiry, clientID))
	base64.RawURLEncoding.Encode(g.txt[:], g.raw[:])
	return Session{Token: string(g.txt[:]), Expires: time.UnixMilli(expiry).UTC()}
}

// check answers with the token for the next call: the same one, or a new one in the second half of its life.
// The MAC is looked at before the expiry, so that only who has had a token learns that it has expired.
func (t *tokens) check(a Auth, now time.Time) (string, error) {
	if a.Token == "" {
		return "", Errorf(Unauthenticated, MsgNoToken)
	}
	if a.ClientID == "" { // nobody has it, so that no token is good for it: most likely it was forgotten
		return "", Errorf(Unauthenticated, MsgNoClientID)
	}
	if len(a.Token) != tokenChars {
		return "", Errorf(Unauthenticated, MsgBadToken)
	}
	expiry, ok := t.verify(a)
	if !ok {
		return "", Errorf(Unauthenticated, MsgBadToken)
	}
	left := time.UnixMilli(expiry).Sub(now)
	switch {
	case left <= 0:
		return "", Errorf(Unauthenticated, MsgExpiredToken)
	case left < t.ttl/2:
		return t.issue(a.ClientID, now).Token, nil
	}
	return a.Token, nil
}

func (t *tokens) verify(a Auth) (expiry int64, ok bool) {
	g := t.pool.Get().(*signer)
	defer t.pool.Put(g)
	copy(g.txt[:], a.Token)
	if n, err := base64.RawURLEncoding.Decode(g.raw[:], g.txt[:]); err != nil || n != tokenBytes {
		return 0, false
	}
	expiry = int64(binary.BigEndian.Uint64(g.raw[:]))
	return expiry, hmac.Equal(g.raw[expiryBytes:], g.sign(expiry, a.ClientID))
}
