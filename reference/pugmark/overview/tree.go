package overview

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// Node is a session with its fork children below it, in the order of the parent's versions that they were forked at.
type Node struct {
	Session
	Remark   string  // why it stands at the top although it has a parent, or ""
	Children []*Node // and forks that are pending

	manifest session.Manifest
}

// Tree gives the sessions that have no parent, in the order of their IDs, with all others below them. Forks that were
// recorded and not carried out yet are nodes in the state engine.Pending. A session whose parent does not exist stands at the top, and so
// does one of a circle of parents; Node.Remark says so.
//
// With a top that is not zero it gives the tree below that session alone; session.ErrSessionNotFound.
// All sessions' manifests are read and held in memory: only they know whose child a session is.
func Tree(ctx context.Context, repo *session.Repo, now time.Time, top layout.SessionID) ([]*Node, error) {
	names, err := repo.Names(ctx)
	if err != nil {
		return nil, err
	}
	nodes, err := readManifests(ctx, repo)
	if err != nil {
		return nil, err
	}
	roots := plant(nodes)
	if !top.IsZero() {
		root := nodes[top]
		if root == nil {
			return nil, fmt.Errorf("session %s: %w", top, session.ErrSessionNotFound)
		}
		roots = []*Node{root}
	}

	// Only what is shown is looked at more closely.
	shown := slices.Collect(All(roots))
	items := func(yield func(*Node, error) bool) {
		for _, n := range shown {
			if !yield(n, nil) {
				return
			}
		}
	}
	read := func(ctx context.Context, n *Node) Session {
		if n.State == Unreadable {
			return n.Session
		}
		return inspect(ctx, repo, now, n.manifest, session.Listed{Session: n.Session.Session, Version: n.Version})
	}
	for s, err := range inOrder(ctx, items, read) {
		if err != nil {
			return nil, err
		}
		s.Names = names[s.Session]
		nodes[s.Session].Session = s
	}
	for _, n := range shown {
		n.addPending(nodes)
	}
	return roots, nil
}

// readManifests gives a node for each session of the bucket.
func readManifests(ctx context.Context, repo *session.Repo) (map[layout.SessionID]*Node, error) {
	nodes := map[layout.SessionID]*Node{}
	read := func(ctx context.Context, listed session.Listed) *Node {
		m, err := repo.LoadManifest(ctx, listed.Session)
		if err != nil {
			return &Node{Session: unreadable(listed, err)}
		}
		return &Node{Session: Session{Session: listed.Session, Version: listed.Version, Parent: m.Parent}, manifest: m}
	}
	for n, err := range inOrder(ctx, repo.Sessions(ctx), read) {
		if err != nil {
			return nil, err
		}
		nodes[n.Session.Session] = n
	}
	return nodes, nil
}

// plant puts each node below its parent and gives those that have none.
func plant(nodes map[layout.SessionID]*Node) []*Node {
	var roots []*Node
	for _, n := range inIDOrder(nodes) {
		parent := n.Parent.Session
		switch above := nodes[parent]; {
		case parent.IsZero():
			roots = append(roots, n)
		case above == nil:
			n.Remark = fmt.Sprintf("its parent, session %s, does not exist", parent)
			roots = append(roots, n)
		default:
			above.Children = append(above.Children, n)
		}
	}
	for _, n := range nodes {
		slices.SortStableFunc(n.Children, func(a, b *Node) int { return cmp.Compare(a.Parent.Version, b.Parent.Version) })
	}
	return append(roots, breakCircles(nodes, roots)...)
}

// breakCircles gives a root for each circle of parents, out of which no root leads.
func breakCircles(nodes map[layout.SessionID]*Node, roots []*Node) []*Node {
	reached := map[*Node]bool{}
	for n := range All(roots) {
		reached[n] = true
	}
	var broken []*Node
	for _, n := range inIDOrder(nodes) {
		if reached[n] {
			continue
		}
		// Up to the circle itself, from whatever hangs below it.
		passed := map[*Node]bool{}
		for ; !passed[n]; n = nodes[n.Parent.Session] {
			passed[n] = true
		}
		n.Remark = "its chain of parents comes back to it"
		above := nodes[n.Parent.Session]
		above.Children = slices.DeleteFunc(above.Children, func(c *Node) bool { return c == n })
		broken = append(broken, n)
		for m := range All([]*Node{n}) {
			reached[m] = true
		}
	}
	return broken
}

func inIDOrder(nodes map[layout.SessionID]*Node) []*Node {
	return slices.SortedFunc(maps.Values(nodes), func(a, b *Node) int {
		return slices.Compare(a.Session.Session[:], b.Session.Session[:])
	})
}

// addPending adds the forks that are recorded and whose sessions do not exist.
func (n *Node) addPending(nodes map[layout.SessionID]*Node) {
	for _, fork := range n.forks {
		if nodes[fork.Child] == nil {
			n.Children = append(n.Children, &Node{Session: Session{
				Session: fork.Child, State: engine.Pending, Agent: n.Agent, Handler: n.Handler, Parent: fork.At,
			}})
		}
	}
}

// All gives the nodes, each before its children.
func All(roots []*Node) iter.Seq[*Node] {
	return func(yield func(*Node) bool) { walk(roots, yield) }
}

func walk(nodes []*Node, yield func(*Node) bool) bool {
	for _, n := range nodes {
		if !yield(n) || !walk(n.Children, yield) {
			return false
		}
	}
	return true
}
