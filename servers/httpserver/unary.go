package httpserver

import (
	"bytes"
	"time"

	"github.com/valyala/fasthttp"

	"bakeoff/httpapi"
)

func (h *handler) dataType(rc *fasthttp.RequestCtx, in, out []byte) ([]byte, error) {
	r, err := h.codec.DecodeDataTypeRequest(in)
	if err != nil {
		return nil, err
	}
	if r.Auth.Token == "" {
		r.Auth.Token = tokenOf(rc)
	}
	d, err := h.api.DataType(h.ctx, r)
	if err != nil {
		return nil, err
	}
	if d.Token != r.Auth.Token && d.Token != "" {
		setToken(rc, d.Token, time.Time{}) // how long the renewed one lives is its own secret: until the browser ends
	}
	return h.codec.AppendDataType(out, d)
}

func (h *handler) login(rc *fasthttp.RequestCtx, in, out []byte) ([]byte, error) {
	r, err := h.codec.DecodeLogin(in)
	if err != nil {
		return nil, err
	}
	s, err := h.api.Login(h.ctx, r)
	if err != nil {
		return nil, err
	}
	setToken(rc, s.Token, s.Expires)
	return h.codec.AppendSession(out, s)
}

func (h *handler) getFeature(rc *fasthttp.RequestCtx, at string) {
	p, err := httpapi.ParsePoint("path", at)
	if err != nil {
		h.fail(rc, err)
		return
	}
	f, err := h.api.GetFeature(h.ctx, p)
	if err != nil {
		h.fail(rc, err)
		return
	}
	s := scratches.Get().(*scratch)
	defer release(s)
	if s.b, err = h.codec.AppendFeature(s.b[:0], f); err != nil {
		h.fail(rc, err)
		return
	}
	h.answer(rc, s.b)
}

// tokenOf is the token that a request carries outside its body: the cookie's, or else the bearer's.
func tokenOf(rc *fasthttp.RequestCtx) string {
	if c := rc.Request.Header.Cookie(httpapi.TokenCookie); len(c) > 0 {
		return string(c)
	}
	const bearer = "Bearer "
	if a := rc.Request.Header.Peek(fasthttp.HeaderAuthorization); len(a) > len(bearer) && bytes.EqualFold(a[:len(bearer)], []byte(bearer)) {
		return string(a[len(bearer):])
	}
	return ""
}

// setToken hands the token out as a cookie too; a zero expiry makes it one of the session.
func setToken(rc *fasthttp.RequestCtx, token string, expires time.Time) {
	c := fasthttp.AcquireCookie()
	defer fasthttp.ReleaseCookie(c)
	c.SetKey(httpapi.TokenCookie)
	c.SetValue(token)
	c.SetPath("/")
	c.SetHTTPOnly(true)
	c.SetSameSite(fasthttp.CookieSameSiteLaxMode)
	if !expires.IsZero() {
		c.SetExpire(expires)
	}
	rc.Response.Header.SetCookie(c)
}
