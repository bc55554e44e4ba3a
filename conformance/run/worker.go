package run

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// resultsFD is the descriptor that a worker writes its messages to.
const resultsFD = 3

// Results is where a worker process writes its messages. Processes that the
// worker starts do not inherit it.
func Results() *os.File {
	syscall.CloseOnExec(resultsFD)
	return os.NewFile(resultsFD, "results")
}

// Worker is the life of a worker process: it reads its order from in, runs the
// scenarios of the suite that open makes of the job, and writes messages to out.
// It returns an error, which the parent has been told too, when the order cannot
// be carried out. Ginkgo allows it once per process.
func Worker(in io.Reader, out io.Writer, open func(job json.RawMessage) (*conformance.Suite, error)) error {
	w := &sender{enc: json.NewEncoder(out)}
	err := work(in, w, open)
	if err != nil {
		w.send(message{Trouble: err.Error()})
	}
	return err
}

func work(in io.Reader, w *sender, open func(json.RawMessage) (*conformance.Suite, error)) error {
	_ = subject.Adopt() // where it may not, ending a subject takes longer, and nothing else is different
	var o order
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return fmt.Errorf("order: %w", err)
	}
	suite, err := open(o.Job)
	if err != nil {
		return fmt.Errorf("suite: %w", err)
	}
	if missing := unknown(suite, o.Turns); len(missing) > 0 {
		return fmt.Errorf("the suite has no scenario %s", strings.Join(missing, ", "))
	}
	// Labels and titles serve people who run the specs with Ginkgo. Here they
	// would only cost each worker the loading of the catalogue.
	suite.Labels, suite.Title = nil, nil
	suite.Declare(conformance.Options{
		Seed: o.Seed, Artifacts: o.Artifacts,
		Runs:    func(id string) []int { return runs(id, o.Turns) },
		Started: func(turn conformance.Turn) { w.send(message{Started: &turn}) },
		Done:    func(out conformance.Outcome) { w.send(message{Outcome: &out}) },
	}, func(sc conformance.Scenario) bool { return len(runs(sc.ID, o.Turns)) > 0 })
	config, reporter := ginkgoConfig(o.Seed)
	ginkgo.RunSpecs(failure{}, suite.Name, config, reporter)
	return w.err()
}

// runs are the runs of one scenario among the turns.
func runs(id string, turns []conformance.Turn) []int {
	var out []int
	for _, t := range turns {
		if t.ID == id {
			out = append(out, t.Run)
		}
	}
	return out
}

func unknown(suite *conformance.Suite, turns []conformance.Turn) []string {
	var missing []string
	for _, t := range turns {
		if !slices.ContainsFunc(suite.Scenarios, func(sc conformance.Scenario) bool { return sc.ID == t.ID }) && !slices.Contains(missing, t.ID) {
			missing = append(missing, t.ID)
		}
	}
	return missing
}

// ginkgoConfig is Ginkgo's random order, with its own report kept short: the
// parent keeps a worker's output only as a last word when it crashes.
func ginkgoConfig(seed uint64) (types.SuiteConfig, types.ReporterConfig) {
	config, reporter := ginkgo.GinkgoConfiguration()
	config.RandomSeed = int64(seed & (1<<63 - 1))
	config.RandomizeAllSpecs = true
	// A scenario that outlives its limit is ended by the parent, with a dump of
	// where it hangs. Ginkgo would leave it running beside the next one.
	config.GracePeriod = time.Hour
	reporter.NoColor, reporter.Succinct = true, true
	return config, reporter
}

// failure is Ginkgo's way to report failed specs. The verdicts have been sent
// by then, so it is of no interest here.
type failure struct{}

func (failure) Fail() {}

// sender writes messages one at a time and keeps the first error.
type sender struct {
	mu     sync.Mutex
	enc    *json.Encoder
	failed error
}

func (s *sender) send(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.enc.Encode(m); err != nil && s.failed == nil {
		s.failed = fmt.Errorf("results: %w", err)
	}
}

func (s *sender) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}
