// Package page lays text out for people, in lines of bounded width, with or
// without colours.
//
// Widths are counted in characters, and before colour comes in: a text takes the
// same room whether it is painted or not.
package page

import "github.com/fatih/color"

// Layout says how wide the lines may become and whether they have colours.
type Layout struct {
	Width  int // in characters; below 40 counts as 40
	Colour bool
}

// leastWidth is what every page has: with less, labels would leave no room.
const leastWidth = 40

// Page returns an empty page of this layout.
func (l Layout) Page() *Page {
	return &Page{Palette: l.Palette(), width: max(l.Width, leastWidth)}
}

// Ink gives a text its colour. It is applied to what already has its place in a
// line, so the result is shown and never measured.
type Ink func(text string) string

// Palette are the inks of a layout, named after what they are for.
type Palette struct {
	Plain   Ink // as it stands
	ID      Ink // what the reader can refer to
	Strong  Ink // headings and what must not be overlooked
	Good    Ink
	Bad     Ink
	Caution Ink
	Faint   Ink // what is there for those who look for it
}

// Palette returns the inks of the layout. Without colour they all leave a text as
// it is, whatever the environment says.
func (l Layout) Palette() Palette {
	ink := func(attributes ...color.Attribute) Ink {
		c := color.New(attributes...)
		if l.Colour {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return func(text string) string { return c.Sprint(text) }
	}
	return Palette{
		Plain:   func(text string) string { return text },
		ID:      ink(color.FgCyan, color.Bold),
		Strong:  ink(color.Bold),
		Good:    ink(color.FgGreen),
		Bad:     ink(color.FgRed, color.Bold),
		Caution: ink(color.FgYellow),
		Faint:   ink(color.Faint),
	}
}
