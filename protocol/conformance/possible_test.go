package conformance_test

import (
	"testing"

	"bakeoff/protocol/conformance"
	"bakeoff/protocol/conformance/conformancetest"
)

// TestLocal shows that the vectors ask nothing that can't be done.
func TestLocal(t *testing.T) { conformancetest.Test(t, conformance.Local()) }
