package defects

// Variant is a conforming runtime that uses a permission of the text which the
// reference makes no use of: cmd/faulty composes it in the way it composes faults.
// Together the variants prove the other half: that the suite holds nothing against
// a runtime but what the text forbids.
type Variant struct {
	Name    string   // what cmd/faulty calls it
	Permits []string // clauses and readings that allow it
	What    string   // what the runtime does: a sentence without subject

	// On are the selectors of scenarios that meet the permission, beside those of the
	// clauses in Permits; empty where those are enough.
	On []string

	// Profile is the pugcheck.yaml that such a runtime comes with, "" where it needs
	// none.
	Profile string

	// Warns are the clauses that have to warn, each with the reason: the variant
	// departs from a reading that is assumed, or from what is recommended. The variant
	// is judged on them, and where none comes the warning has lost its bite.
	Warns map[string]string
	// Perhaps are clauses that may warn as well: each for the same reason, by chance or
	// by another path.
	Perhaps map[string]string

	// Silent are the clauses about which the variant shows nothing, each with the
	// reason. All others it has to show as the reference does: a scenario that gives up
	// on it judges nothing.
	Silent map[string]string

	// Only has the variant judged by the scenarios of On and nothing else, for one
	// that would take too long.
	Only bool
}

// Variants lists them all, in the order of what they vary.
func Variants() []Variant {
	var all []Variant
	for _, part := range [][]Variant{variantRuns, variantRequests, variantDocuments, variantStreams, variantHandlers, variantServers} {
		all = append(all, part...)
	}
	return all
}

var variantRuns = []Variant{
	{
		Name: "loop-until-idle", Permits: []string{"P1-11", "P1-14", "S14.1-1"}, On: []string{"P10/pause-and-more"},
		What: "goes on invoking the handler until it appends nothing any more or pauses, all in one process",
	},
	{
		Name: "invoked-again-after-a-conflict", Permits: []string{"P1-11", "S14.3-1", "F-18"}, On: []string{"S13.3-3", "S14.2-2"},
		What: "invokes the handler again, on the newer snapshot, when another run has committed first",
	},
	{
		Name: "conflict-by-status", Permits: []string{"S14.2-2", "R-11"}, On: []string{"S13.3-3", "P1-11"},
		What: "reports with a message and status 1 that another run has committed first",
	},
	{
		Name: "slow-start", Permits: []string{"P2.1-1", "P2.2-1"}, On: []string{"P2.1/preflight", "P10-12"}, Only: true,
		What: "sleeps for three seconds before its first request",
	},
	{
		Name: "talks", Permits: []string{"P2.1-5", "P3-12"},
		What: "writes to its own standard output while it runs, an Input record among other things, which no rule is about",
	},
	{
		Name: "identifiers-of-chacha8", Permits: []string{"S13.2-7", "R-07"}, On: []string{"S13.2-1", "S13.2-6"},
		What: "draws session and transaction IDs from a ChaCha8 generator with a secure seed",
	},
}

var variantRequests = []Variant{
	{
		Name: "head-before-get", Permits: []string{"R-06", "S6.3-3"}, On: []string{"P1-9"},
		What: "asks with HEAD for every object before it gets it",
	},
	{
		Name: "everything-read-twice", Permits: []string{"S3.1-4", "S7.1-4", "S9-7"},
		What: "gets every object twice, snapshots, manifests and refs as well",
	},
	{
		Name: "blobs-only-where-none-is", Permits: []string{"S3-10"}, On: []string{"S3-4", "S3-9"},
		What: "asks with HEAD for a blob before it writes it, and leaves one alone that is there",
	},
	{
		Name: "blobs-written-twice", Permits: []string{"S3-10"}, On: []string{"S3-9", "S7-3"},
		What: "writes every blob twice",
	},
	{
		Name: "commits-sent-again", Permits: []string{"S13.2-3", "S2.2-3"}, On: []string{"S6.2-8", "S8.2-11", "S13.2-1", "S11.2-8"},
		What: "sends each conditional write that succeeded once more, as a client does whose answer got lost, and takes the refusal for its own work",
	},
	{
		Name: "manifest-created-after-a-look", Permits: []string{"S5.1-1", "S5.1-4"}, On: []string{"S5.1-2"},
		What: "asks with HEAD for a manifest before it creates it on condition that there is none",
	},
	{
		Name: "one-request-at-a-time", Permits: []string{"P1-7", "S7-3"}, On: []string{"P4.2-6", "S12.2-2", "S11.2-1"},
		What: "has no request begin before the answer to the one before it is there",
	},
	{
		Name: "memory-as-it-was", Permits: []string{"S8.4-1", "S8.4-4", "P8.3-2"}, On: []string{"P7-4", "P8.2-4"},
		What: "lists and reads all memory before each invocation and serves that, whether or not somebody asks",
	},
	{
		Name: "ten-keys-a-listing", Permits: []string{"S6.1-6", "S6.3-1", "S8.4-4"}, On: []string{"S6.3-2"},
		What:  "lists ten keys where one is enough",
		Warns: map[string]string{"S6.3-1": "the text names max-keys=1; another lookup that is as short is only warned of"},
	},
}

var variantDocuments = []Variant{
	{
		Name: "bodies-in-blobs-only", Permits: []string{"S3.1-1", "S7.1-2"}, On: []string{"P7.1-2", "P9-2"},
		What:   "puts no body into a descriptor or memory record, however small",
		Silent: map[string]string{"P3.1-2": noData, "P3.1-3": noData, "P4.1-9": noData, "P7.1-5": noData, "S7.1-1": "no descriptor carries its body"},
	},
	{
		Name: "further-fields-at-rest", Permits: []string{"S18-3", "S18-5", "S6.2-14", "S7-8", "S8.2-2"}, On: []string{"S5-1", "S8.3-3"},
		What: "writes fields of its own into manifests, descriptors, memory records and their envelopes, a cache-control into descriptors, a number into memory records, and a schema into metadata",
	},
	{
		Name: "zeros-spelled-out", Permits: []string{"S7-10", "S7-11", "S5-3", "S5-4"}, On: []string{"S7-6", "S11.2-10"},
		What: "writes every field that is empty: 32 zeros for no session, null for no parent, empty texts and objects",
	},
	{
		Name: "times-of-another-zone", Permits: []string{"S7-5", "P9-2"}, On: []string{"P9-8", "P10-10"},
		What: "writes times with an offset of five and a half hours, and those of creation without a fraction",
	},
	{
		Name: "tombstones-of-zeros", Permits: []string{"S10-3", "Q:S10-3"}, On: []string{"S10"},
		What: "gives a tombstone a digest of 64 zeros",
	},
	{
		Name: "tombstones-of-an-empty-text", Permits: []string{"S10-3", "Q:S10-3"}, On: []string{"S10"},
		What: "gives a tombstone the empty text for a digest",
	},
	{
		Name: "tombstones-of-a-body", Permits: []string{"S10-3"}, On: []string{"S10"},
		What: "gives a tombstone the digest of the empty body, which it stores",
	},
	{
		Name: "numbered-from-zero", Permits: []string{"R-26", "S7.3-2"}, On: []string{"S5-6"},
		What: "creates sessions without a first sequence number, which is 0",
	},
	{
		Name: "numbered-from-a-thousand", Permits: []string{"R-26", "S7.3-2"}, On: []string{"S5-6"},
		What: "creates sessions whose first sequence number is 1000",
	},
	{
		Name: "numbered-from-below-zero", Permits: []string{"R-26", "S5-6", "S7.3-2"},
		What: "creates sessions whose first sequence number is -5",
	},
	{
		Name: "documents-in-other-words", Permits: []string{"S5-1", "S6-1", "S8.2-1", "P9-2"}, On: []string{"S8.3-3"},
		What: "writes manifests, snapshots, memory files and control messages with blanks between all tokens, the fields the other way round, and every letter escaped",
	},
	{
		Name: "zstd-in-several-frames", Permits: []string{"S6.2-4", "S6.2-6", "S6.2-7"}, On: []string{"S8.2-10"},
		What: "compresses snapshots and memory files into several frames with checksums, behind one that is to be skipped",
	},
	{
		Name: "types-with-a-charset", Permits: []string{"S6.2-2", "S8.2-9", "S5.1-3"},
		What: "writes documents as application/json; charset=utf-8",
	},
	{
		Name: "other-cache-control", Permits: []string{"R-13", "S3-5", "S9-6", "S16-2"}, On: []string{"S6.2-1", "S8.2-8", "S5.1-3"},
		What: "lets documents be cached for a month, blobs for two years, refs not at all, each with one more directive",
		Profile: `assumed:
  cache_control:
    snapshots: public, max-age=2592000, immutable
    memory: public, max-age=2592000, immutable
    manifests: public, max-age=2592000, immutable
`,
		Silent: map[string]string{"S3-6": "another long value than the recommended year is noted and no more"},
	},
	{
		Name: "transactions-in-hex", Permits: []string{"R-09", "S6.2-11"}, On: []string{"S13.2-2", "S13.2-3", "S8.2-5"},
		What: "writes transaction IDs as 16 hex digits into metadata",
	},
	{
		Name: "checkpoints-without-type", Permits: []string{"S6.2-13", "R-10"}, On: []string{"S6.2-12", "S6.4-2"},
		What:  "leaves the type of a checkpoint out, which says checkpoint too",
		Warns: map[string]string{"S6.2-12": "that writers spell the type out is assumed (R-09)"},
	},
	{
		Name: "running-recorded", Permits: []string{"P9-5", "R-36"}, On: []string{"P9-6", "P4.3-5", "P10-16"},
		What: "appends a control message to every commit, of status running where nothing stops",
	},
	{
		Name: "stopped-to-the-letter", Permits: []string{"R-36", "F-12"}, On: []string{"P10-12", "P4.3-1"},
		What: "never records that a stop is over, so that the session stays stopped and is woken each time, as the text has it literally",
	},
	{
		Name: "lost-deliveries-as-success", Permits: []string{"S12.2-10", "F-1"},
		What: "takes a delivery for done when another writer has taken its version, as the text has it literally",
		Warns: map[string]string{
			"S12.2-10": lostMessage, "S13.3-8": lostMessage, "S14.2-3": lostMessage, "S14.3-1": lostMessage, "S2.5-4": lostMessage,
		},
		Perhaps: map[string]string{"S13.5-1": lostMessage, "S14.2-1": lostMessage},
	},
}

const noData = "no record has a data field"

const lostMessage = "the message is lost, against the promise that no data is (F-1)"

var variantStreams = []Variant{
	{
		Name: "urls-only", Permits: []string{"P7.1-1", "P3.2-1"}, On: []string{"P4.1-10", "P7-9"},
		What:   "sends no body in a record: a handler gets all of them by their URLs",
		Silent: map[string]string{"P3.1-2": noData, "P3.1-3": noData, "P4.1-9": noData, "P7.1-5": noData},
	},
	{
		Name: "data-without-url", Permits: []string{"P7.1-3", "P4.1-10"}, On: []string{"P7.1-1", "P7.1-5"},
		What:   "sends no URL where a record holds the body",
		Silent: map[string]string{"P7.1-5": "no record has both"},
	},
	{
		Name: "small-bodies-always-inline", Permits: []string{"P7.1-2", "P7.1-1"}, On: []string{"P4.1-9", "S3.1-1"},
		What: "sends every body of at most 1024 bytes in its record, whether or not the descriptor carries it",
	},
	{
		Name: "records-in-other-words", Permits: []string{"P3-8", "P3-1"}, On: []string{"P3-2", "P3-15"},
		What: "sends records with blanks and line breaks between all tokens, the fields the other way round, and every letter escaped",
	},
	{
		Name: "byte-by-byte", Permits: []string{"P3-8", "P3-4"}, On: []string{"P3-6"},
		What: "sends the first 4096 bytes of a stream one by one and the rest in small pieces",
	},
	{
		Name: "further-fields-on-the-wire", Permits: []string{"P17-4", "P3-13"}, On: []string{"P17-1"},
		What:  "adds fields to every Input",
		Warns: map[string]string{"P17-1": "the set of fields is closed, and yet open to additions (R-40)"},
	},
	{
		Name: "push-on-the-last-delta", Permits: []string{"R-25", "P4.3-3"}, On: []string{"P4.3-4", "P4.3-5"},
		What: "tags the objects of the last snapshot alone as new where nothing has stopped, whatever came between the last run and it",
	},
	{
		Name: "own-old-forks-shown", Permits: []string{"R-24"}, On: []string{"P4.2-10", "P4.2-17", "P11.1-15", "S11.3-2"},
		What: "replays fork records of its own to the handler once a later checkpoint lies above them",
	},
}

var variantHandlers = []Variant{
	{
		Name: "further-variables", Permits: []string{"P17-9"}, On: []string{"P13-1", "P13-4"},
		What: "sets further variables in a handler's environment, some of which begin with PUGMARK_",
	},
	{
		Name: "bare-environment", Permits: []string{"P13-1", "P13-2", "P13-3"}, On: []string{"P14-1"},
		What: "gives a handler the variables of section 13 and PATH, and none of its own",
	},
	{
		Name: "empty-variables-unset", Permits: []string{"R-34", "P13-3"}, On: []string{"P13-1"},
		What: "leaves the variables of the agent and of the metadata unset where there is none",
	},
	{
		Name: "other-variable-name", Permits: []string{"R-05", "P13-4"},
		What: "gives the version in a variable of another name",
		Profile: `assumed:
  environment:
    snapshot_version: PUGMARK_VERSION
`,
	},
	{
		Name: "through-a-shell", Permits: []string{"P2.1-1"}, On: []string{"P2.1-4", "P2.1-7", "P16-3", "P3-12"},
		What: "starts the handler by a shell, in another directory",
	},
	{
		Name: "no-trace-state", Permits: []string{"F-17", "P14-2", "P14-5"}, On: []string{"P14-3"},
		What: "gives no trace state on",
		Warns: map[string]string{
			"P14-2": "where a runtime's trace state comes from is not said",
			"P14-5": "where a runtime's trace state comes from is not said",
		},
	},
	{
		Name: "other-query-names", Permits: []string{"R-01", "P2.2-12"}, On: []string{"P2.2-9", "P2.2-10", "P2.2-11"},
		What: "calls the parameters of a request agent_id, session_id and v",
		Profile: `assumed:
  query:
    agent: agent_id
    session: session_id
    version: v
`,
	},
	{
		Name: "further-headers", Permits: []string{"P2.2-13", "P2.2-15"}, On: []string{"P14-4"},
		What: "sends further headers, a charset, and the metadata in UTF-8 instead of escapes",
	},
	{
		Name: "service-probed-first", Permits: []string{"P2.2-1", "Q:P2.2-1"},
		What: "connects to a handler's service and asks for another path there before it sends the request",
	},
}

var variantServers = []Variant{
	{
		Name: "servers-on-localhost", Permits: []string{"P7-7", "P7-8", "P7-2"}, On: []string{"P7-9", "P7-14"},
		What: "serves bodies and memory at localhost, by name",
	},
	{
		Name: "servers-on-ipv6", Permits: []string{"P7-7", "P7-8", "P7-2"}, On: []string{"P7-9", "P7-14"},
		What: "serves bodies and memory at [::1]",
	},
	{
		Name: "a-port-for-each-server", Permits: []string{"P7-7", "P1-4"}, On: []string{"P7-14", "P7-15", "P17-7"},
		What: "serves bodies and memory on two ports",
	},
	{
		Name: "memory-root-deeper", Permits: []string{"P7-4", "P17-8"}, On: []string{"P8.2-4", "P7-15"},
		What: "has a memory root some segments down a path",
	},
	{
		Name: "chunked-answers", Permits: []string{"P7-9", "P7-10"}, On: []string{"P7-11", "P7-13", "P7-6"},
		What: "answers without a length, in pieces, and with further headers",
	},
	{
		Name: "lost-gzip-declared", Permits: []string{"S15-3"}, On: []string{"P7-13"},
		What: "declares the encoding of a body that is compressed and does not say so",
	},
	{
		Name: "lost-gzip-undone", Permits: []string{"S15-3"}, On: []string{"P7-13"},
		What: "serves a body decompressed that is compressed and does not say so",
	},
}
