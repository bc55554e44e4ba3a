#!/usr/bin/env python3
"""The Python sample with one fault, chosen by name.

    faulty.py NAME DIR [STATE]

DIR has the samples; STATE is a directory for faults that remember. Names that begin
with "http-" are faults of the HTTP service, to be hosted in RPC mode. A fault
replaces one function of the sample and leaves the rest alone. Those of the HTTP
service are in faulty_http.py.
"""

import hashlib
import json
import os
import sys

name, samples = sys.argv[1:3]
sys.path.insert(0, samples)
sys.dont_write_bytecode = True
import agent  # noqa: E402
import faulty_http  # noqa: E402
import server  # noqa: E402

FAULTS = dict(faulty_http.FAULTS)


def fault(patch):
    FAULTS[patch.__name__.replace("_", "-")] = patch
    return patch


def on_output(change):
    """Has every Output changed before it is encoded."""
    encode = agent.encode
    agent.encode = server.encode = lambda output: encode(change(dict(output)))


def on_record(change):
    """Has every Input changed, or refused, as it is read."""
    read_records = agent.read_records

    def changed(read):
        for record in read_records(read):
            yield change(record)

    agent.read_records = server.read_records = changed


def on_bytes(change):
    """Has the whole output changed before it is written."""

    class Changed:
        def write(self, stream):
            sys.__stdout__.buffer.write(change(stream))

    class Stdout:
        buffer = Changed()

        def flush(self):
            sys.__stdout__.flush()

    sys.stdout = Stdout()


# ---- what is read ----


@fault
def refuses_repetition():
    read = os.read
    seen = hashlib.sha256()

    def remembered(fd, n):
        chunk = read(fd, n)
        seen.update(chunk)
        return chunk

    handle = agent.handle

    def once(records, context):
        outputs = handle(records, context)
        mark = os.path.join(sys.argv[3], seen.hexdigest())
        if os.path.exists(mark):
            raise agent.Failure("already processed")
        open(mark, "w").close()
        return outputs

    os.read, agent.handle = remembered, once


@fault
def refuses_unknown_fields():
    def check(record):
        unknown = sorted(set(record) - set(agent.FIELDS))
        if any(f.lower() not in agent.FIELDS for f in unknown):
            raise agent.Failure(f"unknown fields {unknown}")
        return record

    on_record(check)


@fault
def ignores_case():
    on_record(lambda record: {**record, **{k.lower(): v for k, v in record.items() if k.lower() in agent.FIELDS}})


@fault
def refuses_empty_records():
    def check(record):
        if record and not any(record.get(f) for f in agent.FIELDS):
            raise agent.Failure("a record without anything in it")
        return record

    on_record(check)


@fault
def needs_digest():
    def check(record):
        if record.get("event") != "memory" and not agent.ends_log(record):
            record["digest"]
        return record

    on_record(check)


@fault
def key_decides():
    body_of = agent.body_of

    def by_key(record, context):
        if "url" in record and not record["url"]:
            raise agent.Failure("an empty URL")
        return body_of(record, context)

    agent.body_of = by_key


@fault
def needs_raw_base64():
    import base64

    def raw(text):
        if text.endswith("="):
            raise agent.Failure("padding")
        return base64.b64decode(text + "=" * (-len(text) % 4))

    agent.decode_base64 = raw


@fault
def needs_padding():
    import base64

    agent.decode_base64 = lambda text: base64.b64decode(text, validate=True)


@fault
def takes_last_entry():
    handle = agent.handle

    def last(records, context):
        records = list(records)
        [r for r in records if r.get("event") not in ("memory", "start", "fork", "wake") and r.get("size")][-1]
        return handle(iter(records), context)

    agent.handle = last


@fault
def waits_for_end():
    read = os.read

    def drained(fd, n):
        chunks = []
        while chunk := read(fd, n):
            chunks.append(chunk)
        return b"".join(chunks)

    os.read = drained


@fault
def waits_to_begin():
    waits_for_end()


@fault
def answers_early():
    def pause(record):
        if record.get("event") == "memory":
            os.write(1, agent.encode({"data": b"here I am", "content-type": "text/plain"}))
        return record

    on_record(pause)


@fault
def speaks_any_version():
    on_record(lambda record: {"name": "skipped"} if record.get("event") == "protocol" else record)


@fault
def exact_lifecycle():
    agent.ends_log = lambda record: record in ({}, {"event": "start"}, {"event": "fork"}, {"event": "wake"})


@fault
def acts_on_nothing():
    handle, noticed = agent.handle, []

    def notice(record):
        if record and not any(record.get(f) for f in agent.FIELDS):
            noticed.append({"data": b"something came", "content-type": "text/plain"})
        return record

    on_record(notice)
    agent.handle = lambda records, context: handle(records, context) + noticed


# ---- what is fetched ----


@fault
def rebuilds_url():
    body_of, roots = agent.body_of, []
    on_record(lambda record: roots.append(record.get("url")) or record if record.get("event") == "memory" else record)

    def rebuilt(record, context):
        if record.get("url"):
            record = {**record, "url": roots[0].split("/memories/")[0] + "/" + record["url"].rsplit("/", 1)[1]}
        return body_of(record, context)

    agent.body_of = rebuilt


@fault
def puts_memory():
    recall = agent.recall

    def put(root, context):
        import http.client
        from urllib.parse import urlsplit

        parts = urlsplit(root)
        connection = http.client.HTTPConnection(parts.netloc)
        connection.request("PUT", parts.path + agent.COUNT, body=b"1")
        connection.getresponse().read()
        return recall(root, context)

    agent.recall = put


@fault
def ignores_status():
    import http.client

    class Accepting(http.client.HTTPResponse):
        def begin(self):
            super().begin()
            self.status = 200 if self.status != 404 or "sha256" in self.path else self.status

    class Connection(http.client.HTTPConnection):
        def putrequest(self, method, url, **options):
            self.response_class = type("Answer", (Accepting,), {"path": url})
            super().putrequest(method, url, **options)

    http.client.HTTPConnection = Connection


@fault
def ignores_encoding():
    agent.decode_content = lambda body, encoding: body


@fault
def sniffs_nothing():
    ignores_encoding()


@fault
def url_first():
    body_of = agent.body_of
    agent.body_of = lambda record, context: body_of({**record, "data": ""} if record.get("url") else record, context)


@fault
def doubles_slash():
    recall = agent.recall
    agent.recall = lambda root, context: recall(root + "/", context)


@fault
def hard_wires_root():
    recall = agent.recall

    def wired(root, context):
        from urllib.parse import urlsplit

        return recall(f"http://{urlsplit(root).netloc}/memories/", context)

    agent.recall = wired


def without_trace(attribute):
    def forget(asked, context):
        return original(asked, agent.Context(context.agent, context.session, json.dumps(context.metadata)))

    original = getattr(agent, attribute)
    setattr(agent, attribute, forget)


@fault
def loses_trace_of_objects():
    without_trace("body_of")


@fault
def loses_trace_of_memory():
    without_trace("recall")


# ---- what is told ----


@fault
def needs_metadata():
    os.environ["PUGMARK_SESSION_METADATA"]


@fault
def refuses_variables():
    known = ("AGENT_ID", "SESSION_ID", "SESSION_METADATA", "SNAPSHOT_VERSION", "RPC_ADDRESS")
    unknown = [v for v in os.environ if v.startswith("PUGMARK_") and v[8:] not in known]
    if unknown:
        sys.exit(f"unknown settings {unknown}")


# ---- what is written ----


@fault
def outputs_on_stderr():
    sys.stdout = sys.stderr


@fault
def latin_1():
    def encode(output):
        record = json.loads(encoded(output))
        return (json.dumps(record, ensure_ascii=False) + "\n").encode("latin-1", "replace")

    encoded, agent.encode = agent.encode, encode


@fault
def draws_numbers():
    on_output(lambda o: {**o, "metadata": {"id": os.urandom(8).hex()}} if o.get("name") == "answer" else o)


@fault
def shuffles_outputs():
    import random

    handle = agent.handle

    def shuffled(records, context):
        outputs = handle(records, context)
        random.shuffle(outputs)
        return outputs

    agent.handle = shuffled


@fault
def fails_silently():
    sys.stderr = open(os.devnull, "w")


@fault
def frames_records():
    on_bytes(lambda stream: b'{"records":[' + b",".join(stream.splitlines()) + b"]}\n" if stream else stream)


@fault
def numbers_in_metadata():
    def number(output):
        if output.get("name") == "answer":
            output["metadata"] = {**output["metadata"], "attempt": 3}
        return output

    on_output(number)


@fault
def memory_without_namespace():
    on_output(lambda o: {**o, "name": "memories/count"} if o.get("name", "").startswith("memories/") else o)


FAULTS[name]()
if name.startswith("http-"):
    sys.argv = sys.argv[:1]
    server.main()
else:
    sys.exit(agent.main())
