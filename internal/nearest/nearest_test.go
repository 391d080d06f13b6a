package nearest

import "testing"

func TestUnknown(t *testing.T) {
	names := []string{"datatype", "getfeature", "recordroute", "recordroute-100", "x"}
	all := " (datatype, getfeature, recordroute, recordroute-100, x)"
	for _, row := range []struct{ name, want string }{
		{"datatpye", `unknown workload "datatpye": did you mean "datatype"?` + all},                    // 2 edits of 8 letters
		{"DataType", `unknown workload "DataType": did you mean "datatype"?` + all},                    // case only
		{"recordroute100", `unknown workload "recordroute100": did you mean "recordroute-100"?` + all}, // 1 edit beats 3
		{"get", `unknown workload "get": did you mean "getfeature"?` + all},                            // 7 edits, but its beginning
		{"grpc", `unknown workload "grpc"` + all},                                                      // nothing is near
		{"", `unknown workload ""` + all},                                                              // nothing of it is right: 1 edit of 1 letter
	} {
		if err := Unknown("workload", row.name, names); err.Error() != row.want {
			t.Errorf("%q:\n got %v\nwant %s", row.name, err, row.want)
		}
	}
	if got, want := Unknown("format", "table", nil).Error(), `unknown format "table" (there are none)`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
