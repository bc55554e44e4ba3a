package page

import "strings"

// columnGap is the room between two columns of a table.
const columnGap = 2

// ColumnBeside is where text begins that stands beside labels at an indent, with a
// gap behind the longest.
func ColumnBeside(indent int, labels ...string) int {
	widest := 0
	for _, l := range labels {
		widest = max(widest, length(l))
	}
	return indent + widest + columnGap
}

// leastColumn is what a column of a table is narrowed to at most.
const leastColumn = 8

// Table adds aligned columns below their names. A cell that is wider than its
// column wraps within it. Rows have a cell for each column.
func (p *Page) Table(indent int, names []string, rows [][]string) {
	widths := columnWidths(append([][]string{names}, rows...), p.width-indent)
	p.row(indent, widths, names, p.Faint)
	for _, cells := range rows {
		p.row(indent, widths, cells, p.Plain)
	}
}

func (p *Page) row(indent int, widths []int, cells []string, ink Ink) {
	wrapped := make([][]string, len(cells))
	height := 0
	for i, cell := range cells {
		wrapped[i] = Wrap(cell, widths[i])
		height = max(height, len(wrapped[i]))
	}
	for y := range height {
		var line strings.Builder
		line.WriteString(blanks(indent))
		for i := range cells {
			text := ""
			if y < len(wrapped[i]) {
				text = wrapped[i][y]
			}
			line.WriteString(ink(text))
			if i < len(cells)-1 {
				line.WriteString(blanks(max(0, widths[i]-length(text)) + columnGap))
			}
		}
		p.Line(line.String())
	}
}

// columnWidths gives every column what its widest cell needs, and where that is
// more than there is, takes from the widest columns first.
func columnWidths(rows [][]string, width int) []int {
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for i, cell := range cells {
			widths[i] = max(widths[i], length(cell))
		}
	}
	left := width - columnGap*(len(widths)-1)
	for {
		sum, widest := 0, 0
		for i, w := range widths {
			sum += w
			if w > widths[widest] {
				widest = i
			}
		}
		if sum <= left || widths[widest] <= leastColumn {
			return widths
		}
		widths[widest]--
	}
}
