package service

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed catalogue.csv
var catalogueFile string

// CatalogueEntry is a data type that the service knows without the store: what a missing record is filled from.
type CatalogueEntry struct {
	Group, Name string
	Code        int64
	CnName      string
}

// The pair whose answer is published: code 101, 語音接通.
const (
	KnownGroup  = "USER_EVENT"
	KnownName   = "app_call_connect_success"
	KnownCode   = 101
	KnownCnName = "語音接通"
)

// Catalogue lists the data types, in the order of their codes. The slice is the caller's own.
func Catalogue() []CatalogueEntry { return slices.Clone(catalogue().all) }

type entries struct {
	all    []CatalogueEntry
	byName map[pair]*entry
}

// pair names a data type. Unlike its id it is put together without memory of its own.
type pair struct{ group, name string }

// entry has the id of its record ready, so that no call has to make it.
type entry struct {
	CatalogueEntry
	id string
}

// catalogue reads our own file once. A mistake in it is ours, and TestCatalogue finds it before anybody else.
var catalogue = sync.OnceValue(func() entries {
	all, err := parseCatalogue(strings.NewReader(catalogueFile))
	if err != nil {
		panic(err)
	}
	e := entries{all, make(map[pair]*entry, len(all))}
	for _, c := range all {
		e.byName[pair{c.Group, c.Name}] = &entry{c, dataTypeID(c.Group, c.Name)}
	}
	return e
})

// parseCatalogue reads lines of group, name, code and Chinese name below a heading. It refuses a code or a pair that
// is there twice, since an answer could not be told from another.
func parseCatalogue(r io.Reader) ([]CatalogueEntry, error) {
	var all []CatalogueEntry
	codes, ids := map[int64]int{}, map[string]int{}
	err := eachRow(r, "catalogue.csv", []string{"group", "name", "code", "cnname"}, func(line int, f []string) error {
		code, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return fmt.Errorf("code %q is not an integer", f[2])
		}
		c := CatalogueEntry{f[0], f[1], code, f[3]}
		id := dataTypeID(c.Group, c.Name)
		switch {
		case c.Group == "" || c.Name == "" || c.CnName == "":
			return fmt.Errorf("an empty field")
		case strings.Contains(c.Group+c.Name, "|"):
			return fmt.Errorf("group and name must not contain %q, which joins them", "|")
		case codes[code] != 0:
			return fmt.Errorf("code %d stands on line %d already", code, codes[code])
		case ids[id] != 0:
			return fmt.Errorf("%s stands on line %d already", id, ids[id])
		}
		codes[code], ids[id] = line, line
		all = append(all, c)
		return nil
	})
	slices.SortFunc(all, func(a, b CatalogueEntry) int { return int(a.Code - b.Code) })
	return all, err
}

// eachRow calls row with each line below the heading of a CSV file; its errors get the file and the line.
func eachRow(r io.Reader, file string, heading []string, row func(line int, fields []string) error) error {
	in := csv.NewReader(r)
	in.FieldsPerRecord = len(heading)
	for first := true; ; first = false {
		f, err := in.Read()
		if err == io.EOF && !first {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		line, _ := in.FieldPos(0)
		if first {
			if !slices.Equal(f, heading) {
				return fmt.Errorf("%s:%d: the heading is %q, want %q", file, line, f, heading)
			}
			continue
		}
		if err := row(line, f); err != nil {
			return fmt.Errorf("%s:%d: %w", file, line, err)
		}
	}
}
