"""Serves a receiver by WSGI and by `http.server`, with bounds on the request's size and duration."""

from __future__ import annotations

import io
import socket
import time
from collections.abc import Iterable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, Callable

from .signature import Headers

Receive = Callable[[Headers, bytes], tuple[int, str]]


class _Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def wsgi_app(receive: Receive, max_body_bytes: int, timeout_seconds: float) -> Callable[..., Iterable[bytes]]:
    """The time between two parts of a body is for the WSGI server to limit."""

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        try:
            ends_at = time.monotonic() + timeout_seconds
            size_bytes = _checked(environ.get("REQUEST_METHOD"), environ.get("CONTENT_LENGTH"), max_body_bytes)
            headers = {
                name[5:].replace("_", "-").lower(): value for name, value in environ.items() if name.startswith("HTTP_")
            }
            status, message = receive(headers, _read(environ["wsgi.input"].read, size_bytes, ends_at))
        except _Refused as error:
            status, message = error.status, str(error)
        body = message.encode()
        start_response(f"{status} {HTTPStatus(status).phrase}", _fields(status, body))
        return [body]

    return app


def handler_class(receive: Receive, max_body_bytes: int, timeout_seconds: float) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One request a connection, read within `timeout_seconds` as a whole."""

        def setup(self) -> None:
            super().setup()
            self.rfile.close()
            self.rfile: Any = io.BufferedReader(_UntilDeadline(self.connection, timeout_seconds))

        def do_POST(self) -> None:
            ends_at = time.monotonic() + timeout_seconds
            try:
                size_bytes = _checked("POST", self.headers.get("content-length"), max_body_bytes)
                body = _read(self.rfile.read1, size_bytes, ends_at)
                status, message = receive(self.headers.items(), body)
            except _Refused as error:
                status, message = error.status, str(error)
            self._respond(status, message)

        def _refuse_method(self) -> None:
            self._respond(405, "Only POST is accepted.")

        do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _refuse_method

        def _respond(self, status: int, message: str) -> None:
            self.connection.settimeout(timeout_seconds)
            body = message.encode()
            self.send_response(status)
            for name, value in _fields(status, body):
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_args: Any) -> None:
            """The path may hold a secret."""

    return Handler


def _fields(status: int, body: bytes) -> list[tuple[str, str]]:
    text = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))] if body else []
    return [*text, ("Allow", "POST")] if status == 405 else text


class _UntilDeadline(io.RawIOBase):
    """Reads a socket; raises TimeoutError after the deadline, however steadily the bytes come."""

    def __init__(self, connection: socket.socket, timeout_seconds: float) -> None:
        self._connection = connection
        self._ends_at = time.monotonic() + timeout_seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        remaining = self._ends_at - time.monotonic()
        if remaining <= 0:
            raise socket.timeout("too slow")
        self._connection.settimeout(remaining)
        return self._connection.recv_into(buffer)


def _checked(method: str | None, content_length: str | None, max_body_bytes: int) -> int:
    """Returns the size of the body."""
    if method != "POST":
        raise _Refused(405, "Only POST is accepted.")
    if not content_length or not content_length.isascii() or not content_length.isdigit():
        raise _Refused(411, "Content-Length is missing.")
    if len(content_length) > 12 or int(content_length) > max_body_bytes:
        raise _Refused(413, "The body is too large.")
    return int(content_length)


def _read(read: Callable[[int], bytes], size_bytes: int, ends_at: float) -> bytes:
    chunks: list[bytes] = []
    missing_bytes = size_bytes
    while missing_bytes > 0:
        try:
            chunk = read(min(missing_bytes, 65536))
        except (socket.timeout, TimeoutError):
            raise _Refused(408, "The body did not arrive in time.") from None
        if not chunk:
            raise _Refused(400, "The body is incomplete.")
        if time.monotonic() > ends_at:
            raise _Refused(408, "The body did not arrive in time.")
        chunks.append(chunk)
        missing_bytes -= len(chunk)
    return b"".join(chunks)
