package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// options are the flags of all commands but run; each uses its own.
type options struct {
	bucket, session, name, from, to, kind, contentType string

	agent, handler string
	metadata       []string
}

// runCommand is the contract's commands beside run.
func runCommand(f Fault, command string, args []string) error {
	var o options
	flags := pflag.NewFlagSet(command, pflag.ContinueOnError)
	for name, value := range map[string]*string{
		"bucket": &o.bucket, "session": &o.session, "name": &o.name, "from": &o.from, "to": &o.to,
		"type": &o.kind, "content-type": &o.contentType, "agent": &o.agent, "handler": &o.handler,
	} {
		flags.StringVar(value, name, "", "")
	}
	flags.StringArrayVar(&o.metadata, "metadata", nil, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if f.Name != nil {
		o.name, o.to = f.Name(o.name), f.Name(o.to)
	}
	ctx := context.Background()
	r, err := repo(ctx, f, o.bucket)
	if err != nil {
		return err
	}
	var printed any
	switch command {
	case "create":
		printed, err = o.create(ctx, r)
	case "rename":
		printed, err = r.Rename(ctx, o.from, o.to)
	case "push":
		printed, err = o.push(ctx, r, flags.Args())
	case "delete":
		var c session.Committed
		c, err = r.Delete(ctx, o.id(), o.name)
		printed = c.Version
	case "lookup":
		return o.lookup(ctx, r)
	default:
		return fmt.Errorf("unknown command %q", command)
	}
	if f.Ending != nil {
		err = f.Ending(err)
	}
	if err != nil {
		return err
	}
	fmt.Println(printed)
	return nil
}

// id is the session of the command line, zero where there is none.
func (o options) id() layout.SessionID {
	id, _ := layout.ParseSessionID(o.session)
	return id
}

func (o options) create(ctx context.Context, r *session.Repo) (layout.SessionID, error) {
	m := session.Manifest{Session: o.id(), Agent: o.agent, Handler: o.handler, Name: o.name}
	for _, pair := range o.metadata {
		if m.Metadata == nil {
			m.Metadata = map[string]string{}
		}
		key, value, _ := strings.Cut(pair, "=")
		m.Metadata[key] = value
	}
	created, err := r.Create(ctx, m)
	return created.Session, err
}

func (o options) push(ctx context.Context, r *session.Repo, files []string) (uint32, error) {
	var objects []session.Descriptor
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		d, err := r.PutBlob(ctx, body, session.Media{ContentType: o.contentType})
		if err != nil {
			return 0, err
		}
		d.Name = o.name
		objects = append(objects, d)
	}
	c, err := r.Push(ctx, o.id(), session.SnapshotType(o.kind), objects...)
	return c.Version, err
}

func (o options) lookup(ctx context.Context, r *session.Repo) error {
	d, err := r.Lookup(ctx, o.id(), o.name)
	if err != nil {
		return err
	}
	if body, ok := d.Inline(); ok {
		_, err = os.Stdout.Write(body)
		return err
	}
	body, _, err := r.OpenBlob(ctx, d.Digest)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(os.Stdout, body)
	return err
}
