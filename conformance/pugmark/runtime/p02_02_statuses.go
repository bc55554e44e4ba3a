package runtime

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P2.2", "statuses-other-than-200", "two valid Outputs under eleven statuses of success, redirection and failure: none of them is committed, while under 200 they are",
	"P2.2-6",
	func(x *Lab) {
		outs := []wire.OutputRecord{x.unpadded("a"), x.unpadded("b")}
		x.control(outs...)
		for _, status := range []int{201, 202, 204, 206, 301, 307, 400, 404, 429, 500, 503} {
			s := x.shortLog()
			run := x.Run(s.ID)
			inv := run.Next()
			inv.Received()
			header := http.Header{}
			redirected := status == 301 || status == 307
			if redirected {
				header.Set("Location", x.Hub.URL("elsewhere"))
			}
			inv.SetStatus(status, header)
			if status == http.StatusNoContent {
				inv.Finish()
			} else {
				inv.Finish(outs...)
			}
			exit := run.Wait("P2.2-6")
			followed := false
			for _, again := range x.invocationsSince(inv) {
				followed = followed || again.Label == "elsewhere"
			}
			how := fmt.Sprintf("with status %d", status)
			if redirected {
				x.Clause("P2.2-6").Assuming("Q:P2.2-6").Holds(!followed, how+" the invocation has failed, and the redirection is not followed", "followed: %t", followed)
			}
			got := commit{session: s, entries: x.appended(s.ID)}
			x.Clause("P2.2-6").Holds(len(got.entries) == 0 && len(x.newVersions(s.ID)) == 0, how+" the invocation has failed, and nothing is committed", "versions: %v, committed: %s", x.newVersions(s.ID), got.list())
			if len(got.entries) == 0 && !followed {
				x.Clause("P2.2-6").Warning().Holds(!exit.Success() || strings.TrimSpace(exit.Stderr) != "", "the failure is reported ("+how+")", "%s without a word on stderr", exit.Exit)
			}
		}
	}, overHTTP)
