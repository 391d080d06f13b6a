package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"bakeoff/harness/report"
)

// loadFlags name a load to work out cores and cost for.
type loadFlags struct{ load, price string }

func (f *loadFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.load, "load", "", "`calls` a second, such as 50000/s: says how many cores they would need (table, wide, markdown, html, json, adr)")
	flags.StringVar(&f.price, "core-price", "", "`price` of a core an hour in any currency, such as 0.04/h: says what those of the server would cost")
}

func (f *loadFlags) parse(o *report.Options) error {
	if f.price != "" && f.load == "" {
		return errors.New("--core-price without a load says nothing: name one, such as --load 50000/s")
	}
	for _, x := range []struct {
		flag, text, per, example string
		to                       *float64
	}{{"--load", f.load, "/s", "50000/s", &o.Load}, {"--core-price", f.price, "/h", "0.04/h", &o.CorePrice}} {
		if x.text == "" {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSuffix(x.text, x.per), 64)
		if err != nil || !(v > 0) || v > maxLoad || math.IsInf(v, 0) {
			return fmt.Errorf("%s %q: must be a number above 0 and up to %g with %s behind it, such as %s", x.flag, x.text, float64(maxLoad), x.per, x.example)
		}
		*x.to = v
	}
	return nil
}

// maxLoad is far above what any load or price is, so that products stay numbers.
const maxLoad = 1e12
