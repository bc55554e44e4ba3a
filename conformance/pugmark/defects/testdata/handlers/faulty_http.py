"""Faults of the HTTP service, for faulty.py."""

import json

import agent
import server

FAULTS = {}


def fault(patch):
    FAULTS[patch.__name__.replace("_", "-")] = patch
    return patch


@fault
def http_other_path():
    post = server.Notebook.do_POST

    def do_post(self):
        if not self.path.startswith("/v1/agent"):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_error(404)
        else:
            post(self)

    server.Notebook.do_POST = do_post


def answering(change):
    """Has the answer of a request changed: change(status, body) gives both."""

    class Held:
        def __init__(self):
            self.status, self.body = 0, b""

        def write(self, body):
            self.body += body

    post = server.Notebook.do_POST

    def do_post(self):
        held, out, send, end = Held(), self.wfile, self.send_response, self.end_headers
        self.send_response, self.send_header, self.end_headers = lambda status: setattr(held, "status", status), lambda *a: None, lambda: None
        self.wfile = held
        post(self)
        del self.send_response, self.send_header, self.end_headers
        self.wfile = out
        change(self, held.status, held.body)

    server.Notebook.do_POST = do_post


def whole(self, status, body):
    self.send_response(status)
    if status != 204:
        self.send_header("Content-Length", str(len(body)))
    self.end_headers()
    self.wfile.write(b"" if status == 204 else body)


@fault
def http_wrapped():
    answering(lambda self, status, body: whole(self, status, b'{"outputs":[' + b",".join(body.splitlines()) + b"]}" if status == 200 else body))


@fault
def http_wants_array():
    def read_records(read):
        body = b"".join(iter(read, b""))
        if not body.lstrip().startswith(b"["):
            raise agent.Failure("the request is no JSON array")
        yield from json.loads(body)

    server.read_records = read_records


@fault
def http_own_port():
    class Own(server.Server):
        def __init__(self, address, handler):
            super().__init__((address[0], 0), handler)

    server.Server = Own


@fault
def http_adds_line():
    answering(lambda self, status, body: whole(self, status, body + b"done\n" if status == 200 else body))


@fault
def http_created():
    answering(lambda self, status, body: whole(self, 201 if status == 200 and b'"fork"' in body else status, body))


@fault
def http_endless():
    def unfinished(self, status, body):
        self.send_response(status)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if body:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
        self.connection.settimeout(None)
        self.rfile.read(1)  # until the client goes away

    answering(unfinished)


@fault
def http_keeps_root():
    recall, roots = agent.recall, {}

    def kept(root, context):
        return recall(roots.setdefault(context.session, root), context)

    agent.recall = kept
