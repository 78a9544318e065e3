"""A server of files on the loopback interface that can be told to go wrong, and keeps a log."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request.

    Attributes:
        status: answered in place of the file; 0: the file comes.
        headers: sent with that status, or over those of the file.
        cut: the connection is closed after so many bytes of the body.
        hang: nothing more is sent after so many bytes, until the server is released.
        body: sent in place of what was asked for.
        unannounced: how long the body is is not said; it ends where the connection does.
    """

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    hang: int | None = None
    body: bytes | None = None
    unannounced: bool = False


@dataclass(frozen=True)
class Asked:
    """A request: the path, the status answered, and all headers."""

    path: str
    status: int
    headers: Mapping[str, str]
    url: str


class FileServer:
    """Files by path; faults come one a request, in the order in which they were added.

    Attributes:
        url: of the server, without a slash at its end.
        files: path, without a slash at its start, to content.
        faults: path to what goes wrong; ``*`` is for any path that has none of its own.
        log: every request.
        hanging: set when a request hangs.
        release: set it to let them go on.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.files: dict[str, bytes] = {}
        self.faults: defaultdict[str, list[Fault]] = defaultdict(list)
        self.log: list[Asked] = []
        self.hanging = threading.Event()
        self.release = threading.Event()
        self.lock = threading.Lock()

    def fault(self, path: str) -> Fault:
        """The next fault of a path."""
        with self.lock:
            for key in (path, "*"):
                if self.faults[key]:
                    return self.faults[key].pop(0)
        return Fault()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: FileServer

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        parsed = urlsplit(self.path)  # a proxy is asked with the whole URL
        path = unquote(parsed.path).lstrip("/")
        fault = self.site.fault(path)
        content = self.site.files.get(path)
        status, body = 404, b""
        headers: dict[str, str] = {}
        if content is not None:
            status, body = 200, content
        if fault.status:
            status, headers, body = fault.status, {}, b"no"
        if fault.body is not None:
            body = fault.body
        headers = {"Content-Length": str(len(body)), **headers, **fault.headers}
        if fault.unannounced:
            del headers["Content-Length"]
            headers["Connection"] = "close"
        with self.site.lock:
            self.site.log.append(Asked(path, status, dict(self.headers), self.path))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        end = next((n for n in (fault.cut, fault.hang) if n is not None), len(body))
        self.wfile.write(body[:end])
        if fault.hang is not None:
            self.wfile.flush()
            self.site.hanging.set()
            self.site.release.wait(60)
        if end < len(body):
            self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that goes away is what these tests are about


@contextmanager
def serving() -> Iterator[FileServer]:
    """A server while the context is open."""

    class Handler(_Handler):
        pass

    server = _Server(("127.0.0.1", 0), Handler)
    site = Handler.site = FileServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.003,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.release.set()
        server.shutdown()
        server.server_close()
        thread.join()
