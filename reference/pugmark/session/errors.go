package session

import (
	"errors"
	"fmt"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
)

// What a caller has to tell apart; compare with errors.Is.
var (
	// ErrSessionNotFound: the session has no manifest (S6.3-4).
	ErrSessionNotFound = errors.New("session not found")
	// ErrSnapshotNotFound: the session has no snapshot at this version.
	ErrSnapshotNotFound = errors.New("snapshot not found")
	// ErrNoCheckpoint: the session exists, and none of its snapshots is a checkpoint (S6.3-6).
	ErrNoCheckpoint = errors.New("session has no checkpoint")
	// ErrNameNotFound: no ref has this name, or the session's log has no live entry of this name (S10-9).
	ErrNameNotFound = errors.New("name not found")
	// ErrNameTaken: the name belongs to another session.
	ErrNameTaken = errors.New("name belongs to another session")
	// ErrConflict: another handler's commit came first; see ConflictError (S13.3-3).
	ErrConflict = errors.New("lost to another commit")
	// ErrGaveUp: a commit found its version taken at every one of its tries (S13.3-10).
	ErrGaveUp = errors.New("gave up after too many conflicts")
)

// ConflictError says which foreign checkpoint a commit lost to. It is an ErrConflict.
type ConflictError struct {
	Session layout.SessionID
	Version uint32 // of the foreign checkpoint
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("session %s: version %d was committed by another run: %v", e.Session, e.Version, ErrConflict)
}

// Unwrap makes the error an ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }
