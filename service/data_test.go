package service

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCatalogue(t *testing.T) {
	all := Catalogue()
	if len(all) < 300 {
		t.Errorf("%d data types, want at least 300", len(all))
	}
	if want := (CatalogueEntry{"USER_EVENT", "app_call_connect_success", 101, "語音接通"}); all[0] != want {
		t.Errorf("the first: got %+v, want %+v", all[0], want)
	}
	if want := (CatalogueEntry{KnownGroup, KnownName, KnownCode, KnownCnName}); all[0] != want {
		t.Errorf("the known pair's constants: got %+v, want %+v", want, all[0])
	}
	for i, c := range all {
		if i > 0 && c.Code <= all[i-1].Code {
			t.Errorf("%+v stands after %+v: not in the order of codes", c, all[i-1])
		}
		if len(c.Group) > MaxName || len(c.Name) > MaxName {
			t.Errorf("%+v can't be asked for: a name is longer than %d bytes", c, MaxName)
		}
		if !utf8.ValidString(c.CnName) || !strings.ContainsFunc(c.CnName, func(r rune) bool { return unicode.Is(unicode.Han, r) || r == 'V' }) {
			t.Errorf("%+v: %q is no Chinese name", c, c.CnName)
		}
		if strings.TrimSpace(c.Group+c.Name+c.CnName) != c.Group+c.Name+c.CnName {
			t.Errorf("%+v has spaces around a field", c)
		}
	}
	all[0].CnName = "changed"
	if Catalogue()[0].CnName != KnownCnName {
		t.Error("a caller's change of its slice reached the catalogue")
	}
}

func TestPlaces(t *testing.T) {
	all := Places()
	if len(all) < 100 {
		t.Errorf("%d places, want at least 100", len(all))
	}
	names := map[string]bool{}
	inTaiwan := 0
	for i, f := range all {
		if i > 0 && comparePoints(all[i-1].Location, f.Location) >= 0 {
			t.Errorf("%+v stands after %+v: not from south to north", f, all[i-1])
		}
		if names[f.Name] || f.Name == "" {
			t.Errorf("name %q is empty or there twice", f.Name)
		}
		names[f.Name] = true
		taiwan := Rectangle{Point{21_0000000, 118_0000000}, Point{27_0000000, 123_0000000}}
		if taiwan.contains(f.Location) {
			inTaiwan++
		}
	}
	if inTaiwan < 100 {
		t.Errorf("%d places in and around Taiwan, want at least 100 for Area", inTaiwan)
	}
	all[0].Name = "changed"
	if Places()[0].Name == "changed" {
		t.Error("a caller's change of its slice reached the places")
	}
}

func TestParseErrorsNameTheLine(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"", "catalogue.csv: EOF"},
		{"group,code\n", "catalogue.csv: record on line 1: wrong number of fields"},
		{"a,b,c,d\n", `catalogue.csv:1: the heading is ["a" "b" "c" "d"], want ["group" "name" "code" "cnname"]`},
		{"group,name,code,cnname\nG,n,1,名\nG,m,x,名\n", `catalogue.csv:3: code "x" is not an integer`},
		{"group,name,code,cnname\nG,n,1,名\nG,m,1,名\n", "catalogue.csv:3: code 1 stands on line 2 already"},
		{"group,name,code,cnname\nG,n,1,名\nG,n,2,名\n", "catalogue.csv:3: G|n stands on line 2 already"},
		{"group,name,code,cnname\nG,,1,名\n", "catalogue.csv:2: an empty field"},
		{"group,name,code,cnname\nG|,n,1,名\n", `catalogue.csv:2: group and name must not contain "|", which joins them`},
	} {
		if _, err := parseCatalogue(strings.NewReader(c.file)); err == nil || err.Error() != c.want {
			t.Errorf("catalogue %q: got error %v, want %s", c.file, err, c.want)
		}
	}
	for _, c := range []struct{ file, want string }{
		{"name,latitude,longitude\n,1,2\n", "places.csv:2: an empty name"},
		{"name,latitude,longitude\na,x,2\n", `places.csv:2: latitude: "x" is not a number of degrees`},
		{"name,latitude,longitude\na,NaN,2\n", "places.csv:2: latitude: NaN degrees are beyond the limit of 90"},
		{"name,latitude,longitude\na,1,180.00001\n", "places.csv:2: longitude: 180.00001 degrees are beyond the limit of 180"},
		{"name,latitude,longitude\na,1,2\nb,1.0,2.0\n", "places.csv:3: the place of line 2"},
		{"name,latitude,longitude\na,1,\"2\n", `places.csv: parse error on line 2, column 8: extraneous or missing " in quoted-field`},
	} {
		if _, err := parsePlaces(strings.NewReader(c.file)); err == nil || err.Error() != c.want {
			t.Errorf("places %q: got error %v, want %s", c.file, err, c.want)
		}
	}
}

func TestParseDegrees(t *testing.T) {
	for s, want := range map[string]int32{
		"0": 0, "-90": -90_0000000, "90.0000000": 90_0000000,
		"25.0478": 25_0478000, "-0.1246": -1246000,
		"0.00000005": 1, "0.00000004": 0, // rounded to 1e-7
		"48.8584": 48_8584000, // 48.8584 × 1e7 is 488583999.99999994 in a float64
	} {
		if got, err := parseDegrees(s, maxLatitude); err != nil || got != want {
			t.Errorf("%s degrees: got %d, %v, want %d", s, got, err, want)
		}
	}
}

// The parsers of our own files take any text without a panic, and what they take is well formed.
func FuzzParse(f *testing.F) {
	f.Add(catalogueFile[:200])
	f.Add(placesFile[:200])
	f.Add("\ufeffname,latitude,longitude\na,1,2\n")
	f.Add("name,latitude,longitude\na,1e300,-Inf\n")
	f.Fuzz(func(t *testing.T, text string) {
		if all, err := parseCatalogue(strings.NewReader(text)); err == nil {
			for _, c := range all {
				if c.Group == "" || c.Name == "" || c.CnName == "" {
					t.Errorf("took %+v", c)
				}
			}
		}
		if all, err := parsePlaces(strings.NewReader(text)); err == nil {
			for _, p := range all {
				if checkPoint(p.Location) != nil || p.Name == "" {
					t.Errorf("took %+v", p)
				}
			}
		}
	})
}
