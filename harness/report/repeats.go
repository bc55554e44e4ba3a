package report

import (
	"fmt"
	"strings"
)

// RunList names runs: "run 3", "runs 1 to 3 and 7".
func RunList(runs []int) string {
	var spans []string
	for i := 0; i < len(runs); {
		j := i
		for j+1 < len(runs) && runs[j+1] == runs[j]+1 {
			j++
		}
		if j-i >= 2 {
			spans = append(spans, fmt.Sprintf("%d to %d", runs[i], runs[j]))
		} else {
			for k := i; k <= j; k++ {
				spans = append(spans, fmt.Sprint(runs[k]))
			}
		}
		i = j + 1
	}
	noun := "runs "
	if len(runs) == 1 {
		noun = "run "
	}
	if last := len(spans) - 1; last > 0 {
		return noun + strings.Join(spans[:last], ", ") + " and " + spans[last]
	}
	return noun + strings.Join(spans, "")
}
