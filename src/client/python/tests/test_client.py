from __future__ import annotations

import asyncio
import base64
import importlib.util
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


class Calling(unittest.TestCase):
    """`replies` are the responses to the next requests but logins; after that come empty pages of the feed."""

    def setUp(self) -> None:
        self.replies: list[Reply | None] = []
        self.login: Reply = (200, {}, {"data": {"token": "token", "expiresIn": "3600"}})
        self.requests: list[tuple[str, dict[str, str], str]] = []
        self.bodies: list[Any] = []
        self.keys: list[str | None] = []
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
                content = self.rfile.read(int(self.headers.get("content-length") or 0))
                test.assertEqual(self.headers["content-type"], "application/json" if content else None)
                test.bodies.append(json.loads(content) if content else None)
                test.keys.append(self.headers["idempotency-key"])
                self.do_GET()

            do_POST = do_PUT

            def log_message(self, *_args: Any) -> None:
                pass

        context = served(Handler)
        self.url = context.__enter__() + "/base/"
        self.addCleanup(context.__exit__, None, None, None)
        self.addCleanup(self.released.set)

    def test_a_program_sends_its_token_and_no_key_and_never_logs_in(self) -> None:
        program = self.make(self.url, token="phk_token")
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
                self.make(self.url, **options)

    def make(self, *args: Any, **options: Any) -> Any:
        return Client(*args, **options)

    def client(self, **options: Any) -> Any:
        return self.make(**{"url": self.url, **credentials, **options})

    def failure(self, client: Any, **query: Any) -> ParcelhookError:
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
        self.assertEqual(str(error), "Wrong: after is older than the log.")
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
                self.client().subscribe(name=name)

    def test_places_an_order_once_by_its_idempotency_key(self) -> None:
        placed = (201, {}, {"processId": "p", "data": {"trackingId": "PH1"}})
        self.replies = [(502, {}, b""), placed, placed]
        client = self.client()
        order = {"shipperTrackingId": "ORDER-1"}
        self.assertEqual(client.place_order(order), {"trackingId": "PH1", "processId": "p"})
        self.assertEqual(self.bodies, [order, order])
        self.assertEqual(len(set(self.keys)), 1)
        self.assertRegex(str(self.keys[0]), "^[0-9a-f-]{36}$")
        client.place_order(order, idempotency_key="ORDER-1")
        self.assertEqual(self.keys[-1], "ORDER-1")
        for key in ("", " a", "é", "a" * 256):
            with self.assertRaises(ValueError):
                client.place_order(order, idempotency_key=key)

    def test_names_the_first_wrong_field_in_its_message(self) -> None:
        details = [{"path": f"package.{name}", "message": "is required"} for name in ("weight", "width", "height")]
        wrong = {"message": "The request is not valid; see details.", "details": details}
        self.replies = [(400, {}, {"status": "INVALID_REQUEST", "error": wrong})]
        with self.assertRaisesRegex(
            ParcelhookError, r"^The request is not valid: package.weight is required \(and 2 more\)\.$"
        ):
            self.client().place_order({})
        asking = [{"path": "interests[0]", "message": "is not a state; did you mean LOST?"}]
        self.replies = [(400, {}, {"status": "INVALID_REQUEST", "error": {**wrong, "details": asking}})]
        with self.assertRaisesRegex(ParcelhookError, r"did you mean LOST\?$"):
            self.client().subscribe(name="a", target_address="https://example.com/", interests=["LOSS"])

    def test_sends_what_must_not_be_repeated_once(self) -> None:
        for call in (
            lambda client: client.cancel("PH1"),
            lambda client: client.request("POST", "/v1/webhooks", body={}),
        ):
            self.replies = [(503, {}, {"status": "UNAVAILABLE", "error": {"message": "No."}})]
            with self.assertRaises(ParcelhookError):
                call(self.client())
        self.assertEqual(self.paths(), ["login", "cancel", "login", "webhooks"])
        self.replies = [(202, {}, {"data": {"eventId": "e"}})]
        self.assertEqual(self.client().cancel("PH1"), {"eventId": "e"})

    def test_reads_an_order_by_its_tracking_id(self) -> None:
        self.replies = [(502, {}, b""), (200, {}, {"data": {"trackingId": "PH1"}})]
        self.assertEqual(self.client().get_order("PH1"), {"trackingId": "PH1"})
        self.assertEqual(self.requests[-1][0], "/base/v1/shipments/PH1")

    def test_waits_for_a_state_that_the_shipment_has_or_had(self) -> None:
        states = ["CREATED", "PICKED_UP", "IN_TRANSIT"]
        shown = [{"state": states[n], "history": [{"state": one} for one in states[: n + 1]]} for n in range(3)]
        tracked: list[Reply | None] = [(200, {}, {"data": one}) for one in [{"state": None, "history": []}, *shown]]
        names = [("CREATED", False), ("PICKED_UP", False), ("IN_TRANSIT", False), ("CANCELLED", True)]
        catalogue: Reply = (200, {}, {"data": {"states": [{"state": name, "terminal": final} for name, final in names]}})
        client = self.client()
        self.replies = [tracked[0], catalogue, tracked[1], tracked[3]]
        self.assertEqual(client.wait_for("PH1", ["DELIVERED", "PICKED_UP"]), shown[2])
        self.assertEqual(self.requests[-1][0], "/base/v1/shipment-tracking/PH1")
        self.replies = [tracked[1], catalogue]
        with self.assertRaisesRegex(ParcelhookError, "PH1 was not DELIVERED within 0.1 s: it is CREATED") as late:
            client.wait_for("PH1", "DELIVERED", timeout_seconds=0.1)
        self.assertEqual(late.exception.code, "TIMEOUT")
        self.replies = [tracked[0], catalogue]
        with self.assertRaisesRegex(ParcelhookError, "it is not created yet"):
            client.wait_for("PH1", "DELIVERED", timeout_seconds=0.1)
        ended = {"state": "CANCELLED", "history": [{"state": "CREATED"}, {"state": "CANCELLED"}]}
        self.replies = [tracked[1], catalogue, (200, {}, {"data": ended})]
        told = "PH1 cannot become DELIVERED or LOST any more: it is CANCELLED, which is final"
        with self.assertRaisesRegex(ParcelhookError, told) as vain:
            client.wait_for("PH1", ["DELIVERED", "LOST"])
        self.assertEqual((vain.exception.code, self.replies), ("CONFLICT", []))
        self.replies = [(200, {}, {"data": ended})]
        self.assertEqual(client.wait_for("PH1", "CREATED"), ended)

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


class OnLoop:
    """An AsyncClient whose methods a test calls from its threads."""

    def __init__(self, *args: Any, **options: Any) -> None:
        from parcelhook import AsyncClient

        self._client = AsyncClient(*args, **options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        return lambda *args, **options: asyncio.run_coroutine_threadsafe(
            method(*args, **options), self._loop
        ).result(30)

    def end(self) -> None:
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@unittest.skipUnless(importlib.util.find_spec("httpx"), "httpx is not installed")
class CallingAsync(Calling):
    def make(self, *args: Any, **options: Any) -> Any:
        client = OnLoop(*args, **options)
        self.addCleanup(client.end)
        return client

    def test_has_the_methods_of_the_other_client(self) -> None:
        from parcelhook import AsyncClient

        def methods(client: type) -> set[str]:
            return {name for name in dir(client) if not name.startswith("_")}

        self.assertEqual(methods(AsyncClient), methods(Client))


if __name__ == "__main__":
    unittest.main()
