"""The bucket: objects over S3's HTTP interface, their encodings, and bodies that lie elsewhere."""

import base64
import datetime
import gzip
import hashlib
import hmac
import http.client
import os
import re
import subprocess
import time
import urllib.parse
from html import unescape

FOREVER = "max-age=31536000, immutable"


class Failure(Exception):
    """Ends the run with status 1; nothing of the invocation is committed."""


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def meta(self, key):
        return self.headers.get("x-amz-meta-" + key, "")


class Bucket:
    """Objects below s3://BUCKET/PREFIX, by plain HTTP requests signed with AWS Signature 4."""

    def __init__(self, url):
        at = urllib.parse.urlsplit(url)
        if at.scheme != "s3" or not at.netloc:
            raise Failure(f"{url}: want s3://BUCKET/PREFIX")
        self.name, self.prefix = at.netloc, at.path.strip("/")
        self.region = os.environ.get("AWS_REGION", "us-east-1")
        endpoint = os.environ.get("AWS_ENDPOINT_URL") or f"https://s3.{self.region}.amazonaws.com"
        self.endpoint = urllib.parse.urlsplit(endpoint)

    def key(self, key):
        return f"{self.prefix}/{key}" if self.prefix else key

    def get(self, key):
        """The object with its body decoded, or None."""
        answer = self.request("GET", self.key(key), missing=True)
        return answer and Response(200, answer.headers, decoded(answer.body, answer.headers.get("content-encoding")))

    def put(self, key, body, content_type, encoding="", cache=FOREVER, meta=None, create=False):
        """Stores an object; with create only where there is none yet, and then tells whether it did."""
        headers = {"content-type": content_type, "cache-control": cache}
        headers["x-amz-checksum-sha256"] = base64.b64encode(hashlib.sha256(body).digest()).decode()
        headers |= {"content-encoding": encoding} if encoding else {}
        headers |= {"if-none-match": "*"} if create else {}
        headers |= {"x-amz-meta-" + k: v for k, v in (meta or {}).items()}
        return self.request("PUT", self.key(key), headers=headers, body=body).status != 412

    def first(self, prefix):
        """The first key below a prefix without that prefix, or None."""
        full = self.key(prefix)
        answer = self.request("GET", "", {"list-type": "2", "max-keys": "1", "prefix": full})
        found = re.search(rb"<Key>(.*?)</Key>", answer.body)
        return found and unescape(found[1].decode())[len(full):]

    def request(self, method, key, query=None, headers=None, body=b"", missing=False, bucket=None):
        """Asks until there is an answer that stands. A repeated write finds its own first attempt at worst."""
        path = "/" + urllib.parse.quote(f"{bucket or self.name}/{key}" if key else self.name, safe="/-_.~")
        query = "&".join(f"{k}={urllib.parse.quote(v, safe='-_.~')}" for k, v in sorted((query or {}).items()))
        kind = http.client.HTTPSConnection if self.endpoint.scheme == "https" else http.client.HTTPConnection
        for attempt in range(8):
            if attempt:
                time.sleep(min(0.05 * 2**attempt, 2))
            connection = kind(self.endpoint.netloc, timeout=30)
            try:
                connection.request(method, path + ("?" + query if query else ""), body,
                                   self.signed(method, path, query, headers or {}, body))
                answer = connection.getresponse()
                answer = Response(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
            except (OSError, http.client.HTTPException) as trouble:
                answer = trouble
                continue
            finally:
                connection.close()
            if answer.status in (200, 204, 412):
                return answer
            if answer.status == 404 and missing:
                return None
            if answer.status not in (409, 429) and answer.status < 500:
                break
        what = f"status {answer.status}" if isinstance(answer, Response) else repr(answer)
        raise Failure(f"{method} {key or query}: {what}")

    def signed(self, method, path, query, headers, body):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        digest = hashlib.sha256(body).hexdigest()
        headers = headers | {"host": self.endpoint.netloc, "x-amz-date": now, "x-amz-content-sha256": digest}
        if os.environ.get("AWS_SESSION_TOKEN"):
            headers["x-amz-security-token"] = os.environ["AWS_SESSION_TOKEN"]
        names = ";".join(sorted(headers))
        canonical = "\n".join([method, path, query, *(f"{k}:{headers[k]}" for k in sorted(headers)), "", names, digest])
        scope = f"{now[:8]}/{self.region}/s3/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = ("AWS4" + os.environ.get("AWS_SECRET_ACCESS_KEY", "")).encode()
        for part in [*scope.split("/"), text]:
            key = hmac.digest(key, part.encode(), "sha256")
        credential = f"{os.environ.get('AWS_ACCESS_KEY_ID', '')}/{scope}"
        return headers | {"authorization": f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={key.hex()}"}


def zstd(body, decode=False):
    try:
        from compression import zstd as library
        return library.decompress(body) if decode else library.compress(body)
    except ImportError:
        command = ["zstd", "-q", "-c", *(["-d"] if decode else [])]
        return subprocess.run(command, input=body, stdout=subprocess.PIPE, check=True).stdout


def decoded(body, encoding):
    return zstd(body, decode=True) if encoding == "zstd" else gzip.decompress(body) if encoding == "gzip" else body


def fetch(bucket, uri):
    """S3.2: a body that lies elsewhere."""
    at = urllib.parse.urlsplit(uri)
    if at.scheme == "s3":
        answer = bucket.request("GET", urllib.parse.unquote(at.path[1:]), missing=True, bucket=at.netloc)
        if answer is None:
            raise Failure(f"{uri} does not exist")
        return answer.body
    if at.scheme not in ("http", "https"):
        raise Failure(f"{uri}: want s3, http or https")
    from urllib.request import urlopen  # which few runs need, and which takes a tenth of a start

    try:
        with urlopen(uri, timeout=60) as response:
            return response.read()
    except OSError as error:
        raise Failure(f"{uri}: {error}") from None
