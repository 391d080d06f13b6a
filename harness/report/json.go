package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// JSON is for programs: its names stay while Schema does. What is unknown is absent and never zero, all numbers are in
// base units and exact, and the order is fixed.
var JSON = Format{Name: "json", Doc: "for programs: every figure in base units, names that stay", Write: writeJSON}

func writeJSON(w io.Writer, t Tables) error { return jsonOf(w, t) }

func jsonOf(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}
