package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"

	"github.com/valyala/fasthttp"

	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/servers/httpserver"
	"bakeoff/service"
)

// The messages as the published IDL has them.
type (
	jsonRequest struct {
		AuthRq struct {
			ClientID string `json:"clientId"`
			Token    string `json:"token"`
		} `json:"authRq"`
		GroupName string `json:"groupName"`
		EnName    string `json:"enName"`
	}
	jsonAnswer struct {
		AuthRp struct {
			Token string `json:"token"`
		} `json:"authRp"`
		CodeID int64  `json:"codeId"`
		CnName string `json:"cnName"`
	}
)

// bareHTTP takes every request for a DataType call, whatever its path.
func bareHTTP(ctx context.Context, l net.Listener, o protocol.Options) error {
	set, err := httpapi.ReadConn(o)
	if err != nil {
		return err
	}
	convert := constantStd
	if set.Codec.Fast {
		convert = constantFast
	}
	server, err := httpserver.Library(o)
	if err != nil {
		return err
	}
	server.Handler = func(rc *fasthttp.RequestCtx) {
		out, err := convert(rc.Request.Body())
		if err != nil {
			rc.Error(err.Error(), http.StatusBadRequest)
			return
		}
		if set.Headers {
			rc.SetContentType(httpapi.TypeJSON)
		}
		rc.SetBody(out)
	}
	return until(ctx, func() error { return server.Serve(l) }, func() { server.Shutdown() })
}

func constantStd(body []byte) ([]byte, error) {
	var rq jsonRequest
	if err := json.Unmarshal(body, &rq); err != nil {
		return nil, err
	}
	return json.Marshal(jsonAnswer{CodeID: service.KnownCode, CnName: service.KnownCnName})
}

func constantFast(body []byte) ([]byte, error) {
	c := httpapi.Codec{Fast: true}
	if _, err := c.DecodeDataTypeRequest(body); err != nil {
		return nil, err
	}
	return c.AppendDataType(nil, answer)
}
