"""A small pugmark runtime for one kind of handler: a subprocess.

    python3 partial run --bucket s3://BUCKET/PREFIX --session ID [--handler NAME=COMMAND]... [-- COMMAND...]

It was written from the specification alone and is deliberately partial. It invokes handlers, commits what they say,
pauses, sleeps, wakes, settles conflicts, writes to other sessions, and reads sessions that were forked by others. It
makes no forks and keeps no memory: an invocation that asks for either fails with nothing committed, children that wait
to be made go on waiting, and the memory server that it announces knows no object.

P and S in the comments are sections of the protocol and of the storage layout. Standard library only; zstd comes from
compression.zstd where Python has it, from the command of that name elsewhere.
"""

import argparse
import base64
import datetime
import hashlib
import json
import os
import re
import secrets
import shlex
import subprocess
import sys
import time

from bucket import Bucket, Failure, fetch
from session import Lost, Session, session_id, session_path
from streams import CONTROL, COPIED, PAUSE, decode64, inputs, outputs, seconds, serve

INLINE = 1024  # bytes; S3.1


class Invocation:
    """What one run of the handler asked for."""

    def __init__(self, session):
        self.session, self.bucket = session, session.bucket
        self.descriptors, self.pause = [], None

    def take(self, record):
        """P5.3: finds out what a record is, and keeps it for the commit."""
        body = decode64(record["data"]) if "data" in record else fetch(self.bucket, record["uri"]) if "uri" in record else b""
        if record.get("content-type") == PAUSE:
            duration = record.get("metadata", {}).get("duration")
            self.pause = body.decode(errors="replace"), seconds(duration) if duration else None
            return
        if record.get("content-type") == CONTROL:
            raise Failure("control messages are the runtime's")
        if re.match("memories/.*/", record.get("name", ""), re.DOTALL):  # P8.4: a namespace and a name
            raise Failure("this runtime keeps no memory")
        if record.get("fork"):
            raise Failure("this runtime makes no forks")
        descriptor = self.store(body, record)
        target = session_id(record["session"]) if "session" in record else self.session.id
        if target != self.session.id:
            session_path(target)  # an ID without a place is found out before anything is committed
            descriptor["target-session"] = target
        self.descriptors.append(descriptor)

    def store(self, body, fields):
        digest = "sha256:" + hashlib.sha256(body).hexdigest()
        self.bucket.put("objects/" + digest, body, fields.get("content-type") or "application/octet-stream",
                        fields.get("content-encoding", ""))
        descriptor = {"digest": digest, "size": len(body), "created-at": rfc3339(datetime.datetime.now(datetime.timezone.utc))}
        descriptor |= {k: fields[k] for k in COPIED if k in fields}
        if len(body) <= INLINE:
            descriptor["data"] = base64.b64encode(body).decode()
        return descriptor

    def commit(self):
        """Commits, and then delivers what is for other sessions. False when there was nothing to commit."""
        if self.pause:
            reason, sleep = self.pause
            control = {"status": "stopped"} | ({"reason": reason} if reason else {})
            if sleep is not None:
                until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=sleep)
                control["start-at"] = rfc3339(until)
            self.descriptors.append(self.store(json.dumps(control).encode(), {"content-type": CONTROL}))
        if not self.descriptors:
            return False
        self.session.check_name()
        version = self.session.commit(self.descriptors, "checkpoint")
        targets = {d["target-session"]: None for d in self.descriptors if "target-session" in d}
        failures = []
        for target in targets:
            try:
                self.deliver(target, version)
            except Failure as failure:  # the others get theirs all the same
                failures.append(f"nothing was delivered to {target}: {failure}")
        if failures:
            raise Failure("; ".join(failures))
        return True

    def deliver(self, target, version):
        """S12.2: one provisional snapshot for each target; the source pair tells whether it was there before."""
        pair = {"source-session": self.session.id, "source-version": version}

        def delivered(snapshot):
            return any((d.get("source-session", "").lower(), d.get("source-version")) == tuple(pair.values())
                       for d in snapshot.descriptors)

        other = Session(self.bucket, target).load()
        if any(map(delivered, other.snapshots)):
            return
        batch = [d | pair for d in self.descriptors if d.get("target-session") == target]
        for descriptor in batch:
            del descriptor["target-session"]
        other.commit(batch, "provisional", delivered)


def rfc3339(at):
    return at.isoformat().replace("+00:00", "Z")


def stop(session):
    """P9, P10: the last control message's position and body, where it stopped the session; else None."""
    own = session.own()
    for position in range(len(own) - 1, -1, -1):
        if own[position].get("content-type") == CONTROL:
            control = json.loads(session.body(own[position]))
            return (position, control) if control.get("status") == "stopped" else None
    return None


def due(session):
    """Waits while the session sleeps. False when it is paused and nothing came since."""
    stopped = stop(session)
    if stopped is None or stopped[0] < len(session.own()) - 1:
        return True
    if not stopped[1].get("start-at"):
        return False
    at = re.sub(r"(\.\d{6})\d*", r"\1", stopped[1]["start-at"])  # datetime knows microseconds
    while (rest := datetime.datetime.fromisoformat(at).timestamp() - time.time()) > 0:
        time.sleep(rest)
    session.load()
    return True


def invoke(session, command):
    """One run of the handler, to the commit. False when it had nothing to say."""
    session.check_name()
    stopped, inherited, own = stop(session), session.inherited(), session.own()
    checkpoints = sum(s.type == "checkpoint" for s in session.snapshots)
    if stopped:
        event, fresh = "wake", stopped[0] + 1
    else:  # a child's first checkpoint is the body that it was forked with
        child = bool((session.manifest.get("parent") or {}).get("session"))
        event = ("fork" if child else "start") if checkpoints <= child else ""
        fresh = len(own) - len(session.snapshots[-1].descriptors) if session.snapshots else 0
    environment = os.environ | {
        "PUGMARK_AGENT_ID": session.manifest.get("agent", ""),
        "PUGMARK_SESSION_ID": session.id,
        "PUGMARK_SESSION_METADATA": json.dumps(session.manifest.get("metadata") or {}),
        "PUGMARK_SNAPSHOT_VERSION": str(session.version),
        "TRACEPARENT": f"00-{session.id}-{secrets.token_hex(8)}-01",  # P14.1
    }
    if os.environ.get("TRACEPARENT", "")[3:35] != session.id:
        environment.pop("TRACESTATE", None)  # the state of a trace that this one does not belong to
    (objects, object_root), (memory, memory_root) = serve(session.bucket, "objects/"), serve(session.bucket, None)
    try:
        records = inputs(session, inherited + own, len(inherited) + fresh, event, object_root, memory_root)
        stream = "".join(json.dumps(record) + "\n" for record in records).encode()
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as handler:
            answer, _ = handler.communicate(stream)
    except OSError as error:
        raise Failure(f"{command[0]}: {error}") from None
    finally:
        for server in (objects, memory):
            server.shutdown()
            server.server_close()
    if handler.returncode:
        raise Failure(f"the handler ended with status {handler.returncode}")
    invocation = Invocation(session)
    for place, record in outputs(answer):
        try:
            invocation.take(record)
        except Failure as failure:
            raise Failure(f"{place}: {failure}") from None
    return invocation.commit()


def main():
    arguments = sys.argv[1:]
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(usage="partial run --bucket B --session ID [--handler NAME=COMMAND]... [-- COMMAND...]")
    parser.add_argument("command", choices=["run"])
    parser.add_argument("--bucket", required=True)
    parser.add_argument("--session", required=True)
    parser.add_argument("--handler", action="append", default=[])
    flags = parser.parse_args(arguments[:cut])
    handlers = {name: shlex.split(command) for name, _, command in (h.partition("=") for h in flags.handler)}
    bucket, session = Bucket(flags.bucket), session_id(flags.session)
    while True:
        current = Session(bucket, session).load()
        name = current.manifest.get("handler")  # P15
        command = handlers.get(name) if name else arguments[cut + 1:]
        if not command:
            raise Failure(f"no handler is registered as {name!r}" if name else "there is no default handler")
        if not due(current) or not invoke(current, command):
            return


if __name__ == "__main__":
    try:
        main()
    except Lost as lost:
        print(f"partial: {lost}", file=sys.stderr)
    except Failure as failure:
        sys.exit(f"partial: {failure}")
