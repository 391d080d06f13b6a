package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// picture is a chart of the page.
type picture struct {
	Kind, Title string // Kind names it for programs
	// Words say what is to be seen, with the figures: for those who don't see it.
	Words string
	Note  string // how to read it
	SVG   template.HTML
}

// The lengths of charts, in points. They are narrow, so that their letters can be read on a telephone.
const (
	pictureWidth = 400
	plotHeight   = 230
	rowHeight    = 26
	axesHeight   = 52 // of a chart whose height is that of its rows
	letterSize   = 11
	legendLine   = 15
)

// The colours that are no series.
const (
	inkText = ink("ink")
	inkAxis = ink("axis")
	inkGrid = ink("grid")
)

// series is the colour of a subject, by its place in the report; there are so many in the style sheet, after which they come again. Glyphs tell
// apart what colours don't.
func series(place int) ink { return ink(fmt.Sprintf("mark s%d", place%8)) }

var glyphs = []vgdraw.GlyphDrawer{vgdraw.CircleGlyph{}, vgdraw.BoxGlyph{}, vgdraw.PyramidGlyph{}, vgdraw.RingGlyph{}, vgdraw.SquareGlyph{}, vgdraw.TriangleGlyph{}, vgdraw.PlusGlyph{}, vgdraw.CrossGlyph{}}

func glyph(place int) vgdraw.GlyphStyle {
	return vgdraw.GlyphStyle{Color: series(place), Radius: 3, Shape: glyphs[place%len(glyphs)]}
}

// dashes tell levels of one subject apart.
var dashes = [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}, {12, 4}}

func stroke(place, level int, width vg.Length) vgdraw.LineStyle {
	return vgdraw.LineStyle{Color: series(place), Width: width, Dashes: dashes[level%len(dashes)]}
}

// newPlot is an empty chart in the page's look.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle.Color, a.Tick.LineStyle.Color = inkAxis, inkAxis
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = font.From(sans, letterSize), inkText
		a.Tick.Label.Font, a.Tick.Label.Color = font.From(sans, letterSize), inkText
		a.Tick.Length, a.Tick.Marker = 4, plot.TickerFunc(ticks)
		a.Label.Padding = 3
	}
	p.Legend.TextStyle.Font, p.Legend.TextStyle.Color = font.From(sans, letterSize), inkText
	p.X.Label.Text, p.Y.Label.Text = x, y
	return p
}

// widen gives an axis room where all that is on it is one number, or so near to it that a picture shows nothing.
func widen(a *plot.Axis) {
	if size := max(math.Abs(a.Min), math.Abs(a.Max)); finite(size) && a.Max-a.Min < 1e-6*size {
		a.Min, a.Max = a.Min-size/1000, a.Max+size/1000
	}
}

// ticks are the multiples of 1, 2 or 5 times a power of ten: about five. Gonum's own are 2.5, 10 and 17.5, and never end where numbers lie
// too close together.
func ticks(low, high float64) []plot.Tick {
	rough := (high - low) / 5
	if !(rough > 0) || !finite(rough) {
		return []plot.Tick{{Value: low, Label: strconv.FormatFloat(low, 'g', 6, 64)}}
	}
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, times := range []float64{2, 5, 10} {
		if step < rough*0.999 {
			step = times * math.Pow(10, math.Floor(math.Log10(rough)))
		}
	}
	var ts []plot.Tick
	for i := range 8 {
		if v := (math.Ceil(low/step-1e-6) + float64(i)) * step; v <= high+1e-6*step {
			ts = append(ts, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 6, 64)})
		}
	}
	return ts
}

func gridLines(vertical, horizontal bool) *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical, g.Horizontal = vgdraw.LineStyle{Color: inkGrid, Width: 0.5}, vgdraw.LineStyle{Color: inkGrid, Width: 0.5}
	if !vertical {
		g.Vertical.Color = nil
	}
	if !horizontal {
		g.Horizontal.Color = nil
	}
	return g
}

// fromZero begins an axis at 0, and leaves air above.
func fromZero(a *plot.Axis) {
	a.Min = 0
	if a.Max > 0 {
		a.Max *= 1.05
	}
}

// levelsOn marks the levels that there are, on a scale on which doublings are equal steps where they are far apart.
func levelsOn(a *plot.Axis, levels []float64) {
	var marks plot.ConstantTicks
	for _, l := range levels {
		marks = append(marks, plot.Tick{Value: l, Label: strconv.FormatFloat(l, 'g', 6, 64)})
	}
	a.Tick.Marker = marks
	if least, most := slices.Min(levels), slices.Max(levels); least > 0 && most/least >= 8 {
		a.Scale = plot.LogScale{}
	}
}

// rowsOn names rows on the vertical axis, the first on top.
func rowsOn(p *plot.Plot, names []string) {
	var marks plot.ConstantTicks
	for i, n := range names {
		marks = append(marks, plot.Tick{Value: float64(len(names) - 1 - i), Label: n})
	}
	p.Y.Tick.Marker, p.Y.Tick.Length = marks, 0
	p.Y.Min, p.Y.Max = -0.6, float64(len(names))-0.4
	p.Y.Width = 0
}

// entry is one line of a legend.
type entry struct {
	name   string
	thumbs []plot.Thumbnailer
}

// render draws a plot, and its legend below it, and gives them a title and a description for those who listen to the page.
func (c picture) render(p *plot.Plot, height vg.Length, legend []entry) picture {
	columns := 1
	if len(legend) > 2 {
		columns = 2
		for _, e := range legend {
			if p.Legend.TextStyle.Width(e.name) > pictureWidth/2-40 {
				columns = 1
			}
		}
	}
	lines := (len(legend) + columns - 1) / columns
	below := vg.Length(0)
	if lines > 0 {
		below = vg.Length(lines)*legendLine + 6
	}
	canvas := newSVGCanvas(height + below)
	whole := vgdraw.NewCanvas(canvas, pictureWidth, height+below)
	widen(&p.X)
	widen(&p.Y)
	p.Draw(vgdraw.Crop(whole, 0, -8, below, -4))
	for i, e := range legend {
		l := plot.NewLegend()
		l.TextStyle, l.Left, l.Top, l.ThumbnailWidth = p.Legend.TextStyle, true, true, 22
		l.Add(e.name, e.thumbs...)
		x, y := vg.Length(i%columns)*pictureWidth/2+8, vg.Length(i/columns)*legendLine
		l.Draw(vgdraw.Crop(whole, x, 0, 0, -(height + 4 + y)))
	}
	c.SVG = template.HTML(fmt.Sprintf( // #nosec: all text in it is escaped
		`<svg viewBox="0 0 %d %s" role="img" class="chart" data-chart="%s"><title>%s</title><desc>%s</desc>%s</svg>`,
		pictureWidth, num((height + below).Points()), html.EscapeString(c.Kind), html.EscapeString(c.Title), html.EscapeString(c.Words), canvas.b.String()))
	return c
}

// errorBars are the ends of intervals about points.
type errorBars struct {
	plotter.XYs
	low, high []float64
}

func (e *errorBars) add(x, y, low, high float64) {
	e.XYs = append(e.XYs, point(x, y))
	e.low, e.high = append(e.low, bounded(low)), append(e.high, bounded(high))
}

func (e *errorBars) YError(i int) (low, high float64) { return e.low[i], e.high[i] }
func (e *errorBars) XError(i int) (low, high float64) { return e.low[i], e.high[i] }

// point is one that can be drawn.
func point(x, y float64) plotter.XY { return plotter.XY{X: bounded(x), Y: bounded(y)} }

// bounded keeps what a damaged file says within what can be drawn.
func bounded(v float64) float64 {
	if math.IsNaN(v) || math.Abs(v) < 1e-12 {
		return 0
	}
	return max(-1e100, min(1e100, v))
}

// must is for plotters of gonum, which fail for what is no finite number or for no number at all: all of ours have points, which are bounded.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
