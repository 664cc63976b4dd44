from __future__ import annotations

import base64
import json
import threading
import time
import unittest
import urllib.parse
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler
from typing import Any

from parcelhook import Client, ParcelhookError

from .support import in_threads, served

credentials = {"key": "key-of-ana", "email": "ana@example.com", "password": "horse-battery-päss"}
Reply = tuple[int, dict[str, str], Any]


class Reading(unittest.TestCase):
    """`replies` are the responses to the next requests for the feed; after that come empty pages."""

    def setUp(self) -> None:
        self.replies: list[Reply | None] = []
        self.login: Reply = (200, {}, {"data": {"token": "token", "expiresIn": "3600"}})
        self.requests: list[tuple[str, dict[str, str], str]] = []
        self.bodies: list[Any] = []
        self.released = threading.Event()
        test = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path, _, query = self.path.partition("?")
                authorization = self.headers.get("authorization", "")
                test.requests.append((path, dict(urllib.parse.parse_qsl(query)), authorization))
                reply: Reply | None = (200, {}, {"data": {"events": [], "nextCursor": "c"}})
                if path == "/base/v1/login":
                    reply = test.login
                elif test.replies:
                    reply = test.replies.pop(0)
                if reply is None:
                    test.released.wait(20)
                    return
                status, headers, body = reply
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

            def do_PUT(self) -> None:
                test.assertEqual(self.headers["content-type"], "application/json")
                test.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.do_GET()

            def log_message(self, *_args: Any) -> None:
                pass

        context = served(Handler)
        self.url = context.__enter__() + "/base/"
        self.addCleanup(context.__exit__, None, None, None)
        self.addCleanup(self.released.set)

    def test_a_program_sends_its_token_and_no_key_and_never_logs_in(self) -> None:
        program = Client(self.url, token="phk_token")
        program.events(limit=3)
        program.events()
        self.replies = [(401, {}, {"status": "UNAUTHORIZED", "error": {"message": "no"}})]
        with self.assertRaises(ParcelhookError) as refused:
            program.events()
        self.assertEqual(refused.exception.status, 401)
        sent = ("/base/v1/events", {}, "Bearer phk_token")
        self.assertEqual(self.requests, [(sent[0], {"limit": "3"}, sent[2]), sent, sent])

    def test_a_token_and_a_user_are_alternatives(self) -> None:
        for options in ({}, {"token": "phk_token", "key": "k"}, {"token": ""}, {"token": "phk token"}):
            with self.assertRaisesRegex(ValueError, "token"):
                Client(self.url, **options)

    def client(self, **options: Any) -> Client:
        return Client(**{"url": self.url, **credentials, **options})

    def failure(self, client: Client, **query: Any) -> ParcelhookError:
        with self.assertRaises(ParcelhookError) as caught:
            client.events(**query)
        error = caught.exception
        for hidden in (*credentials.values(), "token"):
            self.assertNotIn(hidden, f"{error} {vars(error)}")
        self.assertIsNone(error.__cause__)
        return error

    def paths(self) -> list[str]:
        return [path.rpartition("/")[2] for path, _, _ in self.requests]

    def test_logs_in_once_for_many_threads_and_sends_the_query(self) -> None:
        client = self.client()
        in_threads([client.events] * 5)
        self.assertEqual(sorted(self.paths()), ["events"] * 5 + ["login"])
        basic = base64.b64encode(f"{credentials['email']}:{credentials['password']}".encode()).decode()
        self.assertEqual(self.requests[0], ("/base/v1/login", {"key": credentials["key"]}, f"Basic {basic}"))
        at = datetime(2026, 11, 25, tzinfo=timezone.utc)
        page = client.events(from_time=at, tracking_id="PH1", limit=5, wait_seconds=1.5)
        self.assertEqual(page, {"events": [], "nextCursor": "c"})
        query = {"from": at.isoformat(), "trackingId": "PH1", "limit": "5", "wait": "1500ms", "key": credentials["key"]}
        self.assertEqual(self.requests[-1], ("/base/v1/events", query, "Bearer token"))

    def test_logs_in_again_after_a_401_and_when_the_token_expires(self) -> None:
        refusal = (401, {}, {"status": "UNAUTHORIZED", "error": {"message": "No."}})
        client = self.client()
        self.replies = [refusal]
        client.events()
        self.assertEqual(self.paths(), ["login", "events"] * 2)
        self.replies = [refusal, refusal]
        self.assertEqual(self.failure(client).code, "UNAUTHORIZED")
        self.requests.clear()
        self.login = (200, {}, {"data": {"token": "token", "expiresIn": "0"}})
        client = self.client()
        client.events()
        client.events()
        self.assertEqual(self.paths(), ["login", "events"] * 2)
        self.login = refusal
        self.assertEqual(self.failure(client).status, 401)

    def test_retries_what_may_succeed_later_and_nothing_else(self) -> None:
        away = (503, {"retry-after": "0"}, {"status": "UNAVAILABLE", "error": {"message": "No."}})
        self.replies = [away, (502, {}, b"<html>")]
        self.client().events()
        self.assertEqual(self.paths(), ["login", "events", "events", "events"])
        details = [{"path": "after", "message": "is older than the log"}]
        wrong = {"status": "INVALID_REQUEST", "error": {"message": "Wrong.", "requestId": "r", "details": details}}
        self.replies = [(400, {}, wrong)]
        error = self.failure(self.client())
        self.assertEqual((error.code, error.status, error.request_id), ("INVALID_REQUEST", 400, "r"))
        self.assertEqual(error.details, (("after", "is older than the log"),))
        self.replies = [away] * 4
        self.assertEqual(self.failure(self.client()).retry_after_seconds, 0)
        self.replies = [(503, {"retry-after": "60"}, away[2])]
        self.assertEqual(self.failure(self.client()).retry_after_seconds, 60)
        self.assertEqual(self.replies, [])

    def test_declares_a_webhook_with_what_is_given_and_again_after_a_failure(self) -> None:
        self.replies = [(502, {}, b""), (201, {}, {"data": {"webhookId": "w", "secret": "whsec_"}})]
        webhook = self.client().subscribe(
            name="Lager Süd?",
            target_address="https://example.com/hook",
            interests=("CREATED", "DELIVERED"),
            supersede=False,
        )
        self.assertEqual(webhook, {"webhookId": "w", "secret": "whsec_"})
        given = {"targetAddress": "https://example.com/hook", "interests": ["CREATED", "DELIVERED"], "supersede": False}
        self.assertEqual(self.bodies, [given, given])
        path = "/base/v1/webhooks/by-name/Lager%20S%C3%BCd%3F"
        self.assertEqual(self.requests[-1], (path, {"key": credentials["key"]}, "Bearer token"))
        for name in ("", ".", "..", None):
            with self.assertRaises(ValueError):
                self.client().subscribe(name=name)  # type: ignore[arg-type]

    def test_ends_in_time_when_the_service_does_not_respond(self) -> None:
        self.replies = [None]
        started_at = time.monotonic()
        error = self.failure(self.client(timeout_seconds=0.3, retries=0))
        self.assertEqual(error.code, "TIMEOUT")
        self.assertLess(time.monotonic() - started_at, 10)
        self.assertEqual(self.failure(self.client(url="http://127.0.0.1:1", retries=0)).code, "UNREACHABLE")

    def test_follows_no_redirect_and_reads_no_other_format(self) -> None:
        for reply in (
            (302, {"location": f"{self.url}v1/elsewhere"}, b""),
            (200, {}, b"[1]"),
            (200, {}, b"\xff"),
            (500, {}, {"status": 1, "error": {}}),
        ):
            self.replies = [reply]
            self.assertEqual(self.failure(self.client()).code, "UNEXPECTED_ANSWER")
        self.assertNotIn("elsewhere", self.paths())
        self.login = (200, {}, {"data": {"token": "a\nb", "expiresIn": "3600"}})
        with self.assertRaises(ParcelhookError):
            self.client().events()

    def test_refuses_options_that_cannot_work(self) -> None:
        for options in ({"url": "ftp://x"}, {"url": "localhost:8080"}, {"key": ""}, {"password": None}):
            with self.assertRaises(ValueError):
                self.client(**options)
        with self.assertRaises(ValueError):
            self.client().events(from_time=datetime(2026, 11, 25))


if __name__ == "__main__":
    unittest.main()
