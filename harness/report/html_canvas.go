package report

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// ink is a colour of a chart by its name in the style sheet, so that a page's light, dark and printed forms need one picture. The class of a
// mark that stands for a figure is a series' (s0, s1, ...) or a part's; all else is "ink", "axis" or "grid".
type ink string

// RGBA is for code that wants a colour all the same: black.
func (ink) RGBA() (r, g, b, a uint32) { return color.Black.RGBA() }

// svgCanvas draws what gonum's plots draw as SVG without style attributes, which a strict content security policy forbids; the
// SVG of gonum has them on every element. Lengths are points; y grows upwards as in all of gonum's canvases.
type svgCanvas struct {
	height float64
	state  svgState
	stack  []svgState
	b      strings.Builder
}

type svgState struct {
	class  string
	width  vg.Length
	dashes []vg.Length
	m      [6]float64 // x' = m0 x + m2 y + m4, y' = m1 x + m3 y + m5
}

func newSVGCanvas(height vg.Length) *svgCanvas {
	c := &svgCanvas{height: height.Points(), state: svgState{m: [6]float64{1, 0, 0, 1, 0, 0}}}
	vg.Initialize(c)
	return c
}

func (c *svgCanvas) SetLineWidth(w vg.Length)               { c.state.width = w }
func (c *svgCanvas) SetLineDash(d []vg.Length, _ vg.Length) { c.state.dashes = d }

func (c *svgCanvas) SetColor(col color.Color) {
	c.state.class = "ink"
	if i, ok := col.(ink); ok {
		c.state.class = string(i)
	}
}

func (c *svgCanvas) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	c.transform([6]float64{cos, sin, -sin, cos, 0, 0})
}

func (c *svgCanvas) Translate(p vg.Point) {
	c.transform([6]float64{1, 0, 0, 1, p.X.Points(), p.Y.Points()})
}

func (c *svgCanvas) Scale(x, y float64) { c.transform([6]float64{x, 0, 0, y, 0, 0}) }

func (c *svgCanvas) transform(t [6]float64) {
	m := c.state.m
	c.state.m = [6]float64{
		m[0]*t[0] + m[2]*t[1], m[1]*t[0] + m[3]*t[1],
		m[0]*t[2] + m[2]*t[3], m[1]*t[2] + m[3]*t[3],
		m[0]*t[4] + m[2]*t[5] + m[4], m[1]*t[4] + m[3]*t[5] + m[5],
	}
}

func (c *svgCanvas) Push() { c.stack = append(c.stack, c.state) }

func (c *svgCanvas) Pop() {
	c.state = c.stack[len(c.stack)-1]
	c.stack = c.stack[:len(c.stack)-1]
}

// at is where a point stands in the SVG, whose y grows downwards.
func (c *svgCanvas) at(p vg.Point) (x, y float64) {
	m := c.state.m
	px, py := p.X.Points(), p.Y.Points()
	return m[0]*px + m[2]*py + m[4], c.height - (m[1]*px + m[3]*py + m[5])
}

// num prints a coordinate to a tenth of a point, which nobody sees; pictures are half as large for it.
func num(v float64) string {
	s := strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
	if s == "-0" {
		return "0"
	}
	return s
}

func (c *svgCanvas) Stroke(p vg.Path) {
	if c.state.width <= 0 {
		return
	}
	dash := ""
	if len(c.state.dashes) > 0 {
		var parts []string
		for _, d := range c.state.dashes {
			parts = append(parts, num(d.Points()))
		}
		dash = ` stroke-dasharray="` + strings.Join(parts, " ") + `"`
	}
	c.shape(p, fmt.Sprintf(`class="%s line" stroke-width="%s"%s`, html.EscapeString(c.state.class), num(c.state.width.Points()), dash))
}

func (c *svgCanvas) Fill(p vg.Path) {
	c.shape(p, fmt.Sprintf(`class="%s area"`, html.EscapeString(c.state.class)))
}

// shape writes a path; a whole circle, which is what most marks are, is an element of its own.
func (c *svgCanvas) shape(p vg.Path, attributes string) {
	if centre, r, ok := circle(p); ok {
		x, y := c.at(centre)
		fmt.Fprintf(&c.b, `<circle cx="%s" cy="%s" r="%s" %s/>`, num(x), num(y), num(r.Points()), attributes)
		return
	}
	var d strings.Builder
	for _, s := range p {
		x, y := c.at(s.Pos)
		switch s.Type {
		case vg.MoveComp:
			fmt.Fprintf(&d, "M%s %s", num(x), num(y))
		case vg.LineComp:
			fmt.Fprintf(&d, "L%s %s", num(x), num(y))
		case vg.CurveComp:
			d.WriteString(map[int]string{1: "Q", 2: "C"}[len(s.Control)])
			for _, q := range append(append([]vg.Point{}, s.Control...), s.Pos) {
				x, y := c.at(q)
				fmt.Fprintf(&d, "%s %s ", num(x), num(y))
			}
		case vg.ArcComp: // as a chain of short lines: only glyphs have arcs that are not circles
			const steps = 16
			for i := range steps + 1 {
				sin, cos := math.Sincos(s.Start + s.Angle*float64(i)/steps)
				x, y := c.at(vg.Point{X: s.Pos.X + s.Radius*vg.Length(cos), Y: s.Pos.Y + s.Radius*vg.Length(sin)})
				fmt.Fprintf(&d, "L%s %s", num(x), num(y))
			}
		case vg.CloseComp:
			d.WriteString("Z")
		}
	}
	fmt.Fprintf(&c.b, `<path d="%s" %s/>`, d.String(), attributes)
}

func circle(p vg.Path) (centre vg.Point, radius vg.Length, ok bool) {
	for _, s := range p {
		switch {
		case s.Type == vg.ArcComp && math.Abs(s.Angle) >= 2*math.Pi-1e-9 && !ok:
			centre, radius, ok = s.Pos, s.Radius, true
		case s.Type != vg.MoveComp && s.Type != vg.CloseComp:
			return centre, radius, false
		}
	}
	return centre, radius, ok
}

// FillString writes text as wide as it was measured: the reader's machine may lack the font, and have a wider one in its place, that would run into what
// stands beside it.
func (c *svgCanvas) FillString(f font.Face, p vg.Point, text string) {
	if f.Font.Size == 0 || text == "" {
		return
	}
	x, y := c.at(p)
	turn := ""
	if angle := math.Atan2(c.state.m[1], c.state.m[0]); math.Abs(angle) > 1e-9 {
		turn = fmt.Sprintf(` transform="rotate(%s %s %s)"`, num(-angle*180/math.Pi), num(x), num(y))
	}
	fmt.Fprintf(&c.b, `<text x="%s" y="%s" font-size="%s" textLength="%s" lengthAdjust="spacingAndGlyphs" class="%s text"%s>%s</text>`,
		num(x), num(y), num(f.Font.Size.Points()), num(f.Width(text).Points()), html.EscapeString(c.state.class), turn, html.EscapeString(text))
}

// DrawImage draws nothing: charts have no images.
func (c *svgCanvas) DrawImage(vg.Rectangle, image.Image) {}
