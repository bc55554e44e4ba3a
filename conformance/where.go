package conformance

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// Written is the file:line at which a function is written, for Scenario.Where. The
// file is shown from the conformance folder on.
func Written(function any) string {
	pc := reflect.ValueOf(function).Pointer()
	file, line := runtime.FuncForPC(pc).FileLine(pc)
	if i := strings.LastIndex(file, "/conformance/"); i >= 0 {
		file = file[i+1:]
	}
	return fmt.Sprintf("%s:%d", file, line)
}
