"""What goes to the handler and what comes back (P3 to P5, P7)."""

import base64
import binascii
import json
import re
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bucket import Failure, Response
from session import is_fork

CONTROL = "application/vnd.pugmark.control+json"
PAUSE = "application/vnd.pugmark.pause+text"
LONGEST_SLEEP = 600  # seconds; P10
SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
STRINGS = ("uri", "data", "content-type", "content-encoding", "schema-url", "name", "session")  # of an Output
COPIED = ("content-type", "content-encoding", "schema-url", "name", "metadata")  # between records and descriptors


def inputs(session, entries, fresh, event, objects, memory):
    """P4.2: the memory's address, the log, and the lifecycle event; entries from fresh on are new (P4.3)."""
    yield {"event": "memory", "url": memory + "memories/"}
    for position, entry in enumerate(entries):
        if is_fork(entry) or entry.get("content-type") == CONTROL:
            continue
        record = {"event": "push"} if position >= fresh else {}
        record |= {field: entry[field] for field in ("size", *COPIED, "data") if entry.get(field)}
        if "data" not in record and entry.get("digest", "").removeprefix("sha256:").strip("0"):
            record["url"] = objects + entry["digest"]
        yield record
    yield {"event": event} if event else {}


def outputs(stream):
    """P3, P5: the records with something in them, each with its place in the stream."""
    try:
        text = stream.decode()
    except UnicodeDecodeError as error:
        raise Failure(f"output: not UTF-8 at byte {error.start}") from None
    decoder, space = json.JSONDecoder(), re.compile("[ \t\r\n]*")
    number, before, counted = 0, 0, 0  # the byte offset of the character counted
    at = space.match(text).end()
    while at < len(text):
        before, counted = before + len(text[counted:at].encode()), at
        number += 1
        place = f"output {number} at byte {before}"
        try:
            record, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            raise Failure(f"{place}: {error}") from None
        if not isinstance(record, dict):
            raise Failure(f"{place}: not a JSON object")
        wrong = [k for k in STRINGS if not isinstance(record.get(k) or "", str)]
        metadata, fork = record.get("metadata") or {}, record.get("fork") or False
        if wrong or not isinstance(fork, bool) or not isinstance(metadata, dict) \
                or not all(isinstance(v, str) for v in metadata.values()):
            raise Failure(f"{place}: a field is of the wrong type")
        record = {k: record[k] for k in (*STRINGS, "metadata", "fork") if record.get(k)}
        if record:
            yield place, record
        at = space.match(text, at).end()


def decode64(text):
    """P3.1: the standard alphabet, padded or not."""
    try:
        return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), validate=True)
    except binascii.Error as error:
        raise Failure(f"data is not base64: {error}") from None


def seconds(duration):
    """P10: such as 1.5s or 2h30m; never more than ten minutes."""
    parts = re.findall(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)", duration)
    if not parts or "".join(n + unit for n, unit in parts) != duration:
        raise Failure(f"{duration!r} is not a duration")
    return min(sum(float(n) * SECONDS[unit] for n, unit in parts), LONGEST_SLEEP)


def serve(bucket, prefix):
    """P7: serves the objects below a prefix of the bucket as they are stored; prefix None serves nothing."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            key = urllib.parse.unquote(self.path.partition("?")[0])[1:]
            try:
                known = prefix is not None and re.fullmatch("sha256:[0-9a-f]{64}", key)
                answer = bucket.request("GET", bucket.key(prefix + key), missing=True) if known else None
            except Failure as failure:
                answer = Response(502, {}, str(failure).encode())
            answer = answer or Response(404, {}, b"unknown\n")
            self.send_response(answer.status)
            for name in ("content-type", "content-encoding"):
                if answer.headers.get(name):
                    self.send_header(name, answer.headers[name])
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_HEAD = do_GET

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}/"
