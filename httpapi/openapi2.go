package httpapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

// chat2 is the chat's entry of the description, as HTTP/2 has it.
//
//go:embed openapi_chat2.json
var chat2 []byte

// OpenAPI2 is OpenAPI for a server that speaks HTTP/2: all is the same but the chat.
var OpenAPI2 = sync.OnceValue(func() []byte {
	var doc, paths map[string]json.RawMessage
	err := json.Unmarshal(OpenAPI, &doc)
	if err == nil {
		err = json.Unmarshal(doc["paths"], &paths)
	}
	if err == nil {
		paths[PathChat] = chat2
		doc["paths"], err = json.Marshal(paths)
	}
	var b []byte
	if err == nil {
		b, err = json.MarshalIndent(doc, "", "  ")
	}
	if err != nil {
		panic(fmt.Sprintf("the OpenAPI files are not as this was written for: %v", err)) // they are built in, and a test reads the result
	}
	return b
})
