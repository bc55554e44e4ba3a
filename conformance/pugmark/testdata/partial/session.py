"""Sessions: where they lie, what their logs hold, and how a snapshot is committed (S4 to S7, S13)."""

import base64
import datetime
import json
import re
import secrets

from bucket import Failure, zstd

TRIES = 100  # commits; S13.3


class Lost(Exception):
    """Another checkpoint was first: the run ends, and that is no error (S14.2)."""


def session_id(text):
    """S4.1: 32 hex digits of either case, lower case from here on."""
    if not isinstance(text, str) or not re.fullmatch("[0-9a-fA-F]{32}", text):
        raise Failure(f"session {text!r} is not 32 hex digits")
    return text.lower()


def session_path(session):
    """S4.2: the hours since 1970 in the first four bytes become the partition."""
    try:
        at = datetime.datetime(1970, 1, 1) + datetime.timedelta(hours=int(session[:8], 16))
    except OverflowError:
        raise Failure(f"session {session} begins after the year 9999 and has no place in a bucket") from None
    return f"sessions/year={at.year:04}/month={at.month:02}/day={at.day:02}/hour={at.hour:02}/{session[8:].upper()}/"


def file_name(version):
    return f"{0xFFFFFFFF - (version - 1):08X}.json"  # S6.1


def is_fork(descriptor):
    return bool(descriptor.get("fork") or descriptor.get("fork-session-id", "").strip("0"))  # S7.2


class Snapshot:
    def __init__(self, version, response):
        self.version = version
        self.type = response.meta("pugmark-snapshot-type") or "checkpoint"
        self.transaction = response.meta("pugmark-transaction-id")
        self.descriptors = json.loads(response.body)


class Session:
    def __init__(self, bucket, session):
        self.bucket, self.id, self.path = bucket, session, session_path(session)
        manifest = bucket.get(self.path + "manifest.json")
        if manifest is None:
            raise Failure(f"there is no session {session}")
        self.manifest = json.loads(manifest.body)
        self.snapshots = []  # of this session, by version

    def load(self, version=None):
        """Reads the snapshots up to a version, or up to the latest (S6.3)."""
        if version is None:
            name = self.bucket.first(self.path + "snapshots/")
            version = 0xFFFFFFFF - int(name.removesuffix(".json"), 16) + 1 if name else 0
        for missing in range(self.version + 1, version + 1):
            self.snapshots.append(self.snapshot(missing))
        return self

    def snapshot(self, version):
        response = self.bucket.get(self.path + "snapshots/" + file_name(version))
        if response is None:
            raise Failure(f"session {self.id} has no snapshot {version}")
        return Snapshot(version, response)

    @property
    def version(self):
        return len(self.snapshots)

    def own(self):
        return [d for s in self.snapshots for d in s.descriptors]

    def inherited(self):
        """S6.5: what the ancestors held at the version that their child points to, the oldest first."""
        parent = self.manifest.get("parent") or {}
        if not parent.get("session", "").strip("0"):
            return []
        ancestor = Session(self.bucket, session_id(parent["session"])).load(parent.get("version", 0))
        return ancestor.inherited() + ancestor.own()

    def check_name(self):
        """S9.1: a session whose name was given to another one must not go on."""
        name = self.manifest.get("name")
        ref = name and self.bucket.get("refs/sessions/" + name)
        if name and (ref is None or ref.body.decode().strip() != self.path + "manifest.json"):
            raise Failure(f"refs/sessions/{name} does not point at session {self.id}")

    def body(self, descriptor):
        if descriptor.get("data"):
            return base64.b64decode(descriptor["data"])
        blob = self.bucket.get("objects/" + descriptor["digest"])
        if blob is None:
            raise Failure(f"objects/{descriptor['digest']} is missing")
        return blob.body

    def commit(self, descriptors, kind, delivered=lambda snapshot: False):
        """Writes the next snapshot and returns its version, None where what is to be written was there already (S13.3)."""
        transaction = str(secrets.randbelow(2**64 - 1) + 1)
        for _ in range(TRIES):
            numbers = [d["sequence-number"] for d in self.own()]
            first = numbers[-1] + 1 if numbers else self.manifest.get("first-sequence-number", 0)
            for number, descriptor in enumerate(descriptors, first):
                descriptor["sequence-number"] = number
            version = self.version + 1
            meta = {"pugmark-snapshot-session": self.id, "pugmark-snapshot-version": str(version),
                    "pugmark-transaction-id": transaction, "pugmark-snapshot-type": kind}
            if self.bucket.put(self.path + "snapshots/" + file_name(version), zstd(json.dumps(descriptors).encode()),
                               "application/json", "zstd", meta=meta, create=True):
                return version
            there = self.snapshot(version)
            if there.transaction == transaction:  # S13.2: the answer to an earlier attempt was lost
                return version
            if delivered(there):
                return None
            if kind == "checkpoint" and there.type == "checkpoint":
                raise Lost(f"snapshot {version} of session {self.id} was committed by somebody else")
            self.snapshots.append(there)  # stays where it is; ours goes behind it
        raise Failure(f"no room for a snapshot of session {self.id} after {TRIES} tries")
