package conformance

import "testing"

func TestLocal(t *testing.T) { Test(t, local()) }
