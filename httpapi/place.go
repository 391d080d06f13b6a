package httpapi

import (
	"strconv"
	"strings"

	"bakeoff/service"
)

// AppendPoint writes a point as paths and queries carry it: "407838351,-746143763", latitude first, in units of
// 1e-7 degree.
func AppendPoint(dst []byte, p service.Point) []byte {
	dst = strconv.AppendInt(dst, int64(p.Latitude), 10)
	dst = append(dst, ',')
	return strconv.AppendInt(dst, int64(p.Longitude), 10)
}

// ParsePoint reads what AppendPoint writes. what names the place of the text for the error: "path", "query lo".
func ParsePoint(what, text string) (service.Point, error) {
	lat, lon, ok := strings.Cut(text, ",")
	if !ok {
		return service.Point{}, service.Errorf(service.InvalidArgument,
			"%s: %s is not a point: write latitude,longitude in units of 1e-7 degree, as in 407838351,-746143763", what, quoteShort(text))
	}
	p := service.Point{}
	for _, part := range []struct {
		name, text string
		to         *int32
	}{{"latitude", lat, &p.Latitude}, {"longitude", lon, &p.Longitude}} {
		n, err := strconv.ParseInt(part.text, 10, 32)
		if err != nil {
			return service.Point{}, service.Errorf(service.InvalidArgument,
				"%s: the %s %s is not a whole number of 32 bits (units of 1e-7 degree)", what, part.name, quoteShort(part.text))
		}
		*part.to = int32(n)
	}
	return p, nil
}

// quoteShort quotes at most the first 40 bytes of what somebody sent, for error messages.
func quoteShort(s string) string {
	if len(s) > 40 {
		return strconv.Quote(s[:40]) + "..."
	}
	return strconv.Quote(s)
}
