package defects

// What is wrong with forks: how they are recorded, carried out, and what children
// see. Protocol and storage layout demand most of it twice.

const (
	sameOfForks  = "the other specification demands the same of forks"
	forksTouched = "fork records are what the fault is about"
)

var forks = []Defect{
	{Name: "forks-kept-as-entries", Clause: "P11-1", Fault: "commits forks as ordinary entries", Message: "after two runs each of the two forks has a session … sessions made: []"},
	{Name: "child-described", Clause: "P11-2", Fault: "makes a description of the fork the child's first object", Message: "the fork's body is the first object"},
	{Name: "chosen-child-ignored", Clause: "P11-3", Fault: "gives children that the handler chose a random ID", Message: "names the child that the Output chose"},
	{Name: "child-from-digest", Clause: "P11-4", Fault: "derives a child's ID from the digest of the fork's body", Message: "as does fork 1 of the first run"},

	{Name: "forks-unrecorded", Clause: "P11.1-1", Fault: "leaves forks out of a commit that holds other entries", Message: "chosen: no descriptor", Beside: map[string]string{
		"P10-7": forksTouched, "S11.1-2": sameOfForks}},
	{Name: "fork-bodies-late", Clause: "P11.1-2", Fault: "stores the bodies of forks behind the snapshot that records them", Message: "before the snapshot that records the fork is sent", Beside: map[string]string{
		"S11.1-1": sameOfForks, "S7-3": "a descriptor is committed before its blob is stored"}},
	{Name: "child-while-reading", Clause: "P11.1-3", Fault: "makes children before the commit that records their forks", Message: "before the parent's snapshot has been stored … /manifest.json", Beside: map[string]string{
		"S11.1-4": sameOfForks, "S5-3": "a child of a commit that fails points to a version that is not there"}},
	{Name: "first-fork-only", Clause: "P11.1-4", Fault: "carries out the first fork of a snapshot only", Message: "missing after it: the manifest of child 2", Beside: map[string]string{"S11.2-1": sameOfForks}},
	{Name: "children-in-the-background", Clause: "P11.1-5", Fault: "makes children while the handler already runs", Message: "after the handler was reached", Beside: map[string]string{"S11.2-1": sameOfForks}},
	{Name: "parent-version-before", Clause: "P11.1-6", Fault: "has children point to the version that the forking handler ran on", Message: `"version":3`, Beside: map[string]string{"S11.2-4": sameOfForks}},
	{Name: "child-without-handler", Clause: "P11.1-7", Fault: "leaves the handler out of a child's manifest", Message: "has the parent's handler", Beside: map[string]string{"S11.2-5": sameOfForks}},
	{Name: "childs-agent-is-its-parent", Clause: "P11.1-8", Fault: "writes the parent's session ID as a child's agent", Message: "has the parent's agent", Beside: map[string]string{"S11.2-5": sameOfForks}},
	{Name: "childs-metadata-merged", Clause: "P11.1-9", Fault: "adds the parent's metadata to the child's", Message: `"team":"blue"`, Beside: map[string]string{"S11.2-6": sameOfForks}},
	{Name: "child-manifest-overwrites", Clause: "P11.1-10", Fault: "writes children's manifests without a condition", Message: "is not written over", Beside: map[string]string{
		"P11.1-11": "what is there is written over", "S11.2-8": sameOfForks, "S5.1-1": "a child's manifest is a manifest"}},
	{Name: "existing-manifest-is-an-error", Clause: "P11.1-11", Fault: "fails where a child's manifest exists", Message: "the child's manifest exists", Beside: map[string]string{"S11.2-8": sameOfForks}},
	{Name: "fork-body-not-recognised", Clause: "P11.1-12", Fault: "appends a fork's body to a child that has it already", Message: "is written below the path of a child that has snapshots", Beside: map[string]string{"S11.2-9": sameOfForks}},
	{Name: "child-forks-itself", Clause: "P11.1-13", Fault: "copies fork and target-session into the child", Message: "is no fork", Beside: map[string]string{"S11.2-10": sameOfForks}},
	{Name: "refused-child-renumbered", Clause: "P11.1-14", Fault: "commits a child's body at version 2 where version 1 is taken", Message: "gets no further one", Beside: map[string]string{"S11.2-13": sameOfForks}},
	{Name: "last-fork-replayed", Clause: "P11.1-15", Fault: "replays a fork record that is the last of its snapshot", Message: "no Input has the body or the name of a fork record", Beside: map[string]string{"S11.2-14": sameOfForks}},
	{Name: "manifest-means-made", Clause: "P11.1-16", Fault: "takes a child that has a manifest for complete", Message: "versions []", Beside: map[string]string{"S11.2-15": sameOfForks}},
	{Name: "loser-cleans-up", Clause: "P11.1-17", Fault: "deletes a child's manifest that another run was first to write", Message: "another run was first", Beside: map[string]string{
		"S11.2-16": sameOfForks, "S5.1-6": "no manifest is deleted", "S9.2-4": "no manifest is deleted"}},
	{Name: "stop-before-children", Clause: "P11.1-18", Fault: "looks at the stop of a parent before at its forks", Message: "missing: the manifest of child 1", Beside: map[string]string{"S11.2-3": sameOfForks}},
	{Name: "queueing-hides-forks", Clause: "P11.1-19", Fault: "overlooks forks below a queueing snapshot", Message: "although a queueing snapshot lies on top", Beside: map[string]string{"S11.2-2": sameOfForks}},

	{Name: "children-start", Clause: "P11.2-1", Fault: "begins children with start instead of fork", Message: "ends with event fork"},
	{Name: "fork-body-twice", Clause: "P11.2-2", Fault: "replays the record that made a child beside the child's first entry", Message: "exactly one Input has the fork's body … 2;", Beside: map[string]string{"S11.3-3": sameOfForks}},
	{Name: "forking-snapshot-left-out", Clause: "P11.2-3", Fault: "leaves the snapshot at the fork point out of a child's stream", Message: "missing: [g2 p4]"},
	{Name: "one-snapshot-too-many", Clause: "P11.2-4", Fault: "shows a child one snapshot behind the fork point", Message: "late-p5"},
	{Name: "children-always-fork", Clause: "P11.2-5", Fault: "gives every invocation of a child the event fork", Message: "that is not its first has an empty event"},
	{Name: "ancestors-forks-replayed", Clause: "P11.2-6", Fault: "replays ancestors' forks to other sessions", Message: "sister 0", Beside: map[string]string{
		"S11.3-2": sameOfForks, "S11.3-3": "the record that made its parent is replayed to a grandchild"}},

	{Name: "targets-are-children", Clause: "S11-1", Fault: "takes a record of a message for one of a fork", Message: "makes no child"},
	{Name: "large-fork-bodies-late", Clause: "S11.1-1", Fault: "stores long bodies of forks behind the snapshot that records them", Message: "the body of the fork long", Beside: map[string]string{
		"P11.1-2": sameOfForks, "S7-3": "a descriptor is committed before its blob is stored"}},
	{Name: "one-child-for-all", Clause: "S11.1-2", Fault: "gives all unnamed children of a run one ID", Message: "two forks have two children"},
	{Name: "forks-without-schema", Clause: "S11.1-2", Fault: "records forks without their schema-url", Message: "content-type, content-encoding, schema-url and metadata are those of the fork"},
	{Name: "forks-in-a-snapshot-of-its-own", Clause: "S11.1-3", Fault: "commits forks as a snapshot above that of the entries", Message: "version 4, beside the run's other entries", Beside: map[string]string{
		"P10-7": forksTouched}},
	{Name: "child-of-a-lost-commit", Clause: "S11.1-4", Fault: "makes children although the commit is lost", Message: "loses to a foreign checkpoint leaves no child … /manifest.json", Beside: map[string]string{
		"P11.1-3": sameOfForks, "S5-3": "the version that the child points to may not be there"}},
	{Name: "childs-body-in-the-background", Clause: "S11.2-1", Fault: "commits children's snapshots while the parent's handler already runs", Message: "after the handler was reached", Beside: map[string]string{"P11.1-5": sameOfForks}},
	{Name: "latest-file-only", Clause: "S11.2-2", Fault: "looks for forks in the latest snapshot only", Message: "although a provisional snapshot lies on top", Beside: map[string]string{"P11.1-19": sameOfForks}},
	{Name: "fork-stop-forgotten", Clause: "S11.2-3", Fault: "forgets the stop of a run of forks alone", Message: "it does not invoke the parent's handler", Beside: map[string]string{"P11.1-18": sameOfForks}},
	{Name: "parent-version-ahead", Clause: "S11.2-4", Fault: "has children point to the version above their fork record", Message: `"version":5`, Beside: map[string]string{"P11.1-6": sameOfForks}},
	{Name: "child-without-agent", Clause: "S11.2-5", Fault: "takes over the handler of a parent and not its agent", Message: `agent "agent-7"`, Beside: map[string]string{"P11.1-8": sameOfForks}},
	{Name: "childs-metadata-is-the-parents", Clause: "S11.2-6", Fault: "gives children their parent's metadata", Message: `{"team":"blue"}`, Beside: map[string]string{"P11.1-9": sameOfForks}},
	{Name: "child-has-the-name", Clause: "S11.2-7", Fault: "gives children their parent's name", Message: `a child has no name … "name":"main-`},
	{Name: "existing-manifest-not-loaded", Clause: "S11.2-8", Fault: "goes on by its own manifest where a child has another", Message: "a manifest that exists is loaded"},
	{Name: "grown-child-is-an-error", Clause: "S11.2-9", Fault: "fails where a child has snapshots", Message: "the child has snapshots", Beside: map[string]string{"P11.1-12": sameOfForks}},
	{Name: "childs-entry-without-schema", Clause: "S11.2-10", Fault: "leaves schema-url out of a child's first entry", Message: "schema-url differ(s)"},
	{Name: "child-numbered-from-one", Clause: "S11.2-11", Fault: "numbers every child from 1", Message: "first-sequence-number, 8", Beside: map[string]string{"S7.3-6": "the same demand in the section on numbers"}},
	{Name: "child-provisional", Clause: "S11.2-12", Fault: "commits a child's first snapshot as a provisional one", Message: `pugmark-snapshot-type "provisional"`, Beside: map[string]string{"P11.1-13": sameOfForks}},
	{Name: "refused-child-ends-the-run", Clause: "S11.2-13", Fault: "ends a run whose snapshot 1 of a child is refused", Message: "lost to another commit", Beside: map[string]string{"P11.1-14": sameOfForks}},
	{Name: "nameless-forks-replayed", Clause: "S11.2-14", Fault: "replays forks as entries without a name", Message: "no Input has the body or the name of a fork record", Beside: map[string]string{"P11.1-15": sameOfForks}},
	{Name: "half-made-child-is-an-error", Clause: "S11.2-15", Fault: "fails where a child has a manifest and no snapshot", Message: "the child has no snapshot", Beside: map[string]string{"P11.1-16": sameOfForks}},
	{Name: "made-by-others-left-undone", Clause: "S11.2-16", Fault: "leaves a child to whoever was first to write its manifest", Message: "makes the child's snapshot 1 … versions []", Beside: map[string]string{"P11.1-17": sameOfForks}},
	{Name: "children-are-roots", Clause: "S11.3-1", Fault: "leaves the parent out of children's manifests", Message: "the grandchild's handler sees"},
	{Name: "grandparents-forks-replayed", Clause: "S11.3-2", Fault: "replays the forks of grandparents", Message: `"sister 0" "sister 1"`, Beside: map[string]string{"P11.2-6": sameOfForks}},
	{Name: "fork-body-from-the-parent", Clause: "S11.3-3", Fault: "replays a fork's body from the parent's record and not from the child", Message: "behind what is inherited", Beside: map[string]string{
		"P11.2-2": "the entry is then not among the new ones"}},
}
