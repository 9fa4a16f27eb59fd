"""A real S3 server over HTTP (moto's, in a process of its own) behind a small proxy that counts requests and faults."""

import http.client
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pyarrow import fs

SECRET = "s3cr3t-never-shown"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "AKIDNEVERSHOWN",
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
BUCKET = "archive"
_HOP = ("transfer-encoding", "content-length", "expect", "connection")
_KEPT = ("transfer-encoding", "connection", "keep-alive", "content-length", "date", "server")


@dataclass
class Fault:
    """How requests whose line holds `where` are answered, for so many times."""

    where: str
    what: str
    """A status (``500``, ``503``, ``403``), ``slow``, or ``cut`` for a body that ends too early."""
    times: int = 1 << 30
    seconds: float = 0.5


@dataclass
class ObjectStore:
    """The proxy's address, what it saw, and the faults that it makes."""

    endpoint: str
    requests: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fault(self, line: str) -> Fault | None:
        with self.lock:
            self.requests.append(line)
            for fault in self.faults:
                if fault.where in line and fault.times > 0:
                    fault.times -= 1
                    return fault
        return None

    @contextmanager
    def failing(self, *faults: Fault):
        self.faults[:] = faults
        try:
            yield self
        finally:
            self.faults.clear()

    @contextmanager
    def counted(self):
        seen: list[str] = []
        before = len(self.requests)
        yield seen
        seen.extend(self.requests[before:])

    def url(self, key: str) -> str:
        return f"s3://{BUCKET}/{key}"

    def keys(self, prefix: str = "") -> list[str]:
        found = self.system().get_file_info(fs.FileSelector(f"{BUCKET}/{prefix}", recursive=True, allow_not_found=True))
        return sorted(one.path.removeprefix(f"{BUCKET}/") for one in found if one.type == fs.FileType.File)

    def put(self, key: str, data: bytes) -> str:
        with self.system().open_output_stream(f"{BUCKET}/{key}", compression=None) as out:
            out.write(data)
        return self.url(key)

    def get(self, key: str) -> bytes:
        with self.system().open_input_file(f"{BUCKET}/{key}") as file:
            return file.read()

    def system(self):
        return fs.S3FileSystem(
            access_key="a",
            secret_key="b",
            endpoint_override=self.endpoint,
            region="us-east-1",
            allow_bucket_creation=True,
        )


def _handler(store: ObjectStore, port: int) -> type[BaseHTTPRequestHandler]:  # noqa: C901  methods of one class
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args):
            pass

        def answer(self):
            body = self.body()
            fault = store.fault(f"{self.command} {self.path}")
            if fault is not None and fault.what.isdigit():
                self.refuse(int(fault.what))
                return
            if fault is not None and fault.what == "slow":
                time.sleep(fault.seconds)
            upstream = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            sent = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
            upstream.request(self.command, self.path, body, sent | {"Content-Length": str(len(body))})
            reply = upstream.getresponse()
            data = reply.read()
            self.pass_on(reply, data, cut=fault is not None and fault.what == "cut")
            upstream.close()

        def body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def refuse(self, status: int):
            code = {403: "AccessDenied", 500: "InternalError", 503: "SlowDown"}[status]
            data = f"<Error><Code>{code}</Code><Message>{SECRET}</Message></Error>".encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def pass_on(self, reply, data: bytes, *, cut: bool):
            self.send_response(reply.status)
            for name, value in reply.getheaders():
                if name.lower() not in _KEPT:
                    self.send_header(name, value)
            length = reply.getheader("Content-Length") if self.command == "HEAD" else str(len(data))
            self.send_header("Content-Length", length or "0")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data[: len(data) // 2] if cut else data)
            self.close_connection = self.close_connection or cut

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = answer  # noqa: N815  http.server's own names

    return Handler


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that went away is none of the proxy's business."""


@contextmanager
def object_store():
    """Start the server and the proxy, set the environment as a user would, and make a bucket."""
    port = _free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    store = ObjectStore("")
    proxy = _Quiet(("127.0.0.1", 0), _handler(store, port))
    store.endpoint = f"http://127.0.0.1:{proxy.server_address[1]}"
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    before = {name: os.environ.get(name) for name in (*ENVIRONMENT, "AWS_ENDPOINT_URL")}
    os.environ.update(ENVIRONMENT, AWS_ENDPOINT_URL=store.endpoint)
    try:
        _wait_for(port, server)
        store.system().create_dir(BUCKET)
        yield store
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        server.terminate()
        server.wait()
        proxy.shutdown()
        proxy.server_close()


def _wait_for(port: int, server: subprocess.Popen) -> None:
    for _ in range(600):
        with suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/moto-api/", timeout=5).close()
            return
        if server.poll() is not None:
            raise RuntimeError("moto_server ended at once")
        time.sleep(0.1)
    raise RuntimeError("moto_server did not come up")
