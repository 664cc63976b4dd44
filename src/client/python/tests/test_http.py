from __future__ import annotations

import asyncio
import http.client
import io
import socket
import threading
import time
import unittest
import urllib.parse
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from parcelhook import MemoryStore, Receiver

from .support import event, request_of, secret, served


class Quiet(WSGIRequestHandler):
    def log_message(self, *_args: Any) -> None:
        pass


class Serving(unittest.TestCase):
    def setUp(self) -> None:
        self.handled: list[str] = []
        self.receiver = Receiver(
            secret,
            MemoryStore(),
            lambda notification, _context: self.handled.append(notification["state"]),
            max_body_bytes=1000,
            body_timeout_seconds=1,
        )

    def exchange(self, url: str, method: str, headers: dict[str, str], body: bytes = b"") -> tuple[int, str, Any]:
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=20)
        try:
            connection.putrequest(method, "/hook?token=hidden", skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders(body or None)
            response = connection.getresponse()
            return response.status, response.read().decode(), response.headers
        finally:
            connection.close()

    def check(self, url: str) -> None:
        headers, body = request_of(event("A", 1))
        sized = {**headers, "Content-Length": str(len(body))}
        for _ in range(2):
            self.assertEqual(self.exchange(url, "POST", sized, body)[0], 204)
        self.assertEqual(self.handled, ["STATE_1"])
        unsigned = {**sized, "webhook-signature": "v1,"}
        self.assertEqual(self.exchange(url, "POST", unsigned, body)[0], 400)
        status, _, fields = self.exchange(url, "GET", {})
        self.assertEqual((status, fields["allow"]), (405, "POST"))
        for length in ("-1", "9" * 5000, "1_0", "1001"):
            expected = 411 if length in ("-1", "1_0") else 413
            self.assertEqual(self.exchange(url, "POST", {**headers, "Content-Length": length})[0], expected)

    def test_serves_by_http_server(self) -> None:
        with served(self.receiver.handler) as url:
            self.check(url)
            self.assertEqual(self.exchange(url, "POST", {})[0], 411)

    def test_takes_a_chunked_body(self) -> None:
        headers, body = request_of(event("A", 1))
        chunked = {**headers, "Transfer-Encoding": "chunked"}
        whole = b"5;a=b\r\n%s\r\n%x\r\n%s\r\n0\r\nX-Trailer: 1\r\n\r\n" % (body[:5], len(body) - 5, body[5:])
        with served(self.receiver.handler) as url:
            self.assertEqual(self.exchange(url, "POST", chunked, whole)[0], 204)
            for sent, status in (
                (b"x\r\n", 400),
                (b"1\r\nab\r\n", 400),
                (b"%x\r\n%s" % (5000, b"a" * 5000), 413),
                (b"5\r\na", 408),
            ):
                self.assertEqual(self.exchange(url, "POST", chunked, sent)[0], status)
            both = {**chunked, "Content-Length": str(len(whole))}
            self.assertEqual(self.exchange(url, "POST", both, whole)[0], 400)
        self.assertEqual(self.handled, ["STATE_1"])

    def test_takes_a_chunked_body_by_wsgi_if_the_server_ends_the_stream_with_it(self) -> None:
        headers, body = request_of(event("A", 1))
        environ = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
        environ.update(REQUEST_METHOD="POST", HTTP_TRANSFER_ENCODING="chunked")
        for terminated, content, expected in ((True, body, "204"), (False, body, "411"), (True, b"a" * 1001, "413")):
            given = {**environ, "wsgi.input": io.BytesIO(content), "wsgi.input_terminated": terminated}
            statuses: list[str] = []
            self.receiver.wsgi(given, lambda status, _fields, statuses=statuses: statuses.append(status[:3]))
            self.assertEqual(statuses, [expected])
        self.assertEqual(self.handled, ["STATE_1"])

    def asgi(
        self, method: str, headers: dict[str, str], *parts: bytes, ends: bool = True
    ) -> tuple[int, dict[bytes, bytes]]:
        messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
        if ends:
            messages.append({"type": "http.request"})
        sent: list[dict[str, Any]] = []

        async def get() -> dict[str, Any]:
            if not messages:
                await asyncio.sleep(20)
            return messages.pop(0)

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        asyncio.run(self.receiver.asgi({"type": "http", "method": method, "headers": pairs}, get, send))
        self.assertEqual([message["type"] for message in sent], ["http.response.start", "http.response.body"])
        return sent[0]["status"], dict(sent[0]["headers"])

    def test_serves_by_asgi(self) -> None:
        headers, body = request_of(event("A", 1))
        for _ in range(2):
            self.assertEqual(self.asgi("POST", headers, body[:9], body[9:]), (204, {}))
        self.assertEqual(self.asgi("POST", {**headers, "webhook-signature": "v1,"}, body)[0], 400)
        self.assertEqual(self.asgi("GET", {})[1][b"allow"], b"POST")
        self.assertEqual(self.asgi("POST", headers, b"a" * 1001)[0], 413)
        self.assertEqual(self.asgi("POST", headers, b"a", ends=False)[0], 408)
        self.assertEqual(self.handled, ["STATE_1"])

    def test_serves_by_wsgi(self) -> None:
        server = make_server("127.0.0.1", 0, self.receiver.wsgi, handler_class=Quiet)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            self.check(f"http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def test_ends_a_request_that_comes_too_slowly_however_steadily(self) -> None:
        headers = b"POST / HTTP/1.1\r\nContent-Length: 500\r\n\r\n"
        with served(self.receiver.handler) as url:
            for sent_at_once in (b"", headers):
                address = urllib.parse.urlsplit(url)
                with socket.create_connection((address.hostname, address.port), timeout=20) as trickle:
                    trickle.sendall(sent_at_once)
                    started_at = time.monotonic()
                    answer = None
                    while answer is None and time.monotonic() - started_at < 15:
                        try:
                            trickle.sendall(b"a")
                            trickle.settimeout(0.1)
                            answer = trickle.recv(1000)
                        except socket.timeout:
                            pass
                        except ConnectionError:
                            answer = b""
                    self.assertIsNotNone(answer)
                    self.assertGreater(time.monotonic() - started_at, 0.9)
        self.assertEqual(self.handled, [])


if __name__ == "__main__":
    unittest.main()
