"""Serves a receiver by WSGI, ASGI and `http.server`, with bounds on the request's size and duration."""

from __future__ import annotations

import asyncio
import io
import re
import socket
import time
from collections.abc import Awaitable, Iterable
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
            # A server that decodes a chunked body ends the stream with it, and says so.
            ends = bool(environ.get("wsgi.input_terminated")) and _is_chunked(environ.get("HTTP_TRANSFER_ENCODING"))
            length = environ.get("CONTENT_LENGTH")
            size_bytes = _checked(environ.get("REQUEST_METHOD"), length, max_body_bytes, is_chunked=ends)
            read = environ["wsgi.input"].read
            if size_bytes is None:
                body = _read_all(read, max_body_bytes, ends_at)
            else:
                body = _read(read, size_bytes, ends_at)
            headers = {
                name[5:].replace("_", "-").lower(): value for name, value in environ.items() if name.startswith("HTTP_")
            }
            status, message = receive(headers, body)
        except _Refused as error:
            status, message = error.status, str(error)
        content = message.encode()
        start_response(f"{status} {HTTPStatus(status).phrase}", _fields(status, content))
        return [content]

    return app


Message = dict[str, Any]
Get = Callable[[], Awaitable[Message]]


def asgi_app(receive: Receive, max_body_bytes: int, timeout_seconds: float) -> Callable[..., Awaitable[None]]:
    """Handles each request in a thread, so that the loop never waits for a store or a callback."""

    async def app(scope: Message, get: Get, send: Callable[[Message], Awaitable[None]]) -> None:
        if scope["type"] == "lifespan":
            while True:
                phase = (await get())["type"]
                await send({"type": f"{phase}.complete"})
                if phase == "lifespan.shutdown":
                    return
        if scope["type"] != "http":
            raise ValueError(f"A receiver serves http, not {scope['type']}.")
        try:
            if scope["method"] != "POST":
                raise _Refused(405, "Only POST is accepted.")
            body = await asyncio.wait_for(_read_messages(get, max_body_bytes), timeout_seconds)
            if body is None:
                return
            status, message = await asyncio.to_thread(receive, scope["headers"], body)
        except asyncio.TimeoutError:
            status, message = 408, "The body did not arrive in time."
        except _Refused as error:
            status, message = error.status, str(error)
        content = message.encode()
        headers = [(name.lower().encode(), value.encode()) for name, value in _fields(status, content)]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    return app


async def _read_messages(get: Get, max_body_bytes: int) -> bytes | None:
    """None if the sender has gone."""
    chunks: list[bytes] = []
    size_bytes = 0
    while True:
        message = await get()
        if message["type"] == "http.disconnect":
            return None
        chunks.append(message.get("body", b""))
        size_bytes += len(chunks[-1])
        if size_bytes > max_body_bytes:
            raise _Refused(413, "The body is too large.")
        if not message.get("more_body", False):
            return b"".join(chunks)


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
                chunked = _is_chunked(self.headers.get("transfer-encoding"))
                length = self.headers.get("content-length")
                size_bytes = _checked("POST", length, max_body_bytes, is_chunked=chunked)
                if size_bytes is None:
                    body = _read_all(_Chunked(self.rfile).read, max_body_bytes, ends_at)
                else:
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


def _is_chunked(transfer_encoding: str | None) -> bool:
    return (transfer_encoding or "").strip().lower() == "chunked"


def _checked(method: str | None, content_length: str | None, max_body_bytes: int, is_chunked: bool) -> int | None:
    """Returns the size of the body; None if it comes in chunks."""
    if method != "POST":
        raise _Refused(405, "Only POST is accepted.")
    if is_chunked and not content_length:
        return None
    if is_chunked:
        raise _Refused(400, "A body has Content-Length or Transfer-Encoding, not both.")
    if not content_length or not content_length.isascii() or not content_length.isdigit():
        raise _Refused(411, "Content-Length is missing.")
    if len(content_length) > 12 or int(content_length) > max_body_bytes:
        raise _Refused(413, "The body is too large.")
    return int(content_length)


class _Chunked:
    """Decodes a chunked body (RFC 9112, 7.1). Its trailer is read and ignored."""

    _MAX_LINE_BYTES = 1024
    _MAX_TRAILERS = 100

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._chunk_bytes = 0
        self._is_first = True
        self._is_over = False

    def read(self, max_bytes: int) -> bytes:
        """Returns no bytes at the end."""
        if self._chunk_bytes == 0 and not self._is_over:
            self._begin_chunk()
        if self._is_over:
            return b""
        data: bytes = self._stream.read1(min(max_bytes, self._chunk_bytes))
        if not data:
            raise _Refused(400, "The body is incomplete.")
        self._chunk_bytes -= len(data)
        return data

    def _begin_chunk(self) -> None:
        if not self._is_first and self._line() != b"":
            raise _Refused(400, "The chunks are malformed.")
        self._is_first = False
        size = self._line().split(b";", 1)[0].strip()
        if not re.fullmatch(rb"[0-9A-Fa-f]{1,8}", size):
            raise _Refused(400, "The chunks are malformed.")
        self._chunk_bytes = int(size, 16)
        if self._chunk_bytes > 0:
            return
        self._is_over = True
        for _ in range(self._MAX_TRAILERS):
            if self._line() == b"":
                return
        raise _Refused(400, "The chunks are malformed.")

    def _line(self) -> bytes:
        line: bytes = self._stream.readline(self._MAX_LINE_BYTES)
        if not line.endswith(b"\n"):
            raise _Refused(400, "The chunks are malformed.")
        return line.rstrip(b"\r\n")


def _read_all(read: Callable[[int], bytes], max_body_bytes: int, ends_at: float) -> bytes:
    chunks: list[bytes] = []
    size_bytes = 0
    while chunk := _read_some(read, 65536, ends_at):
        chunks.append(chunk)
        size_bytes += len(chunk)
        if size_bytes > max_body_bytes:
            raise _Refused(413, "The body is too large.")
    return b"".join(chunks)


def _read(read: Callable[[int], bytes], size_bytes: int, ends_at: float) -> bytes:
    chunks: list[bytes] = []
    missing_bytes = size_bytes
    while missing_bytes > 0:
        chunk = _read_some(read, min(missing_bytes, 65536), ends_at)
        if not chunk:
            raise _Refused(400, "The body is incomplete.")
        chunks.append(chunk)
        missing_bytes -= len(chunk)
    return b"".join(chunks)


def _read_some(read: Callable[[int], bytes], max_bytes: int, ends_at: float) -> bytes:
    try:
        chunk = read(max_bytes)
    except (socket.timeout, TimeoutError):
        raise _Refused(408, "The body did not arrive in time.") from None
    if time.monotonic() > ends_at:
        raise _Refused(408, "The body did not arrive in time.")
    return chunk
