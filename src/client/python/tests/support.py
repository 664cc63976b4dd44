"""Signed requests, a feed in memory, and HTTP servers for the tests."""

from __future__ import annotations

import base64
import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable

from parcelhook import ParcelhookError
from parcelhook.signature import sign

secret = "whsec_" + base64.b64encode(bytes(range(32))).decode()
other_secret = "whsec_" + base64.b64encode(bytes(range(32, 64))).decode()
Request = tuple[dict[str, str], bytes]


def notification(tracking_id: str, state: str) -> dict[str, Any]:
    return {
        "state": state,
        "label_id": "ORDER-1",
        "anomalies": None,
        "evidences": [],
        "tracking_id": tracking_id,
        "shipper_tracking_id": "ORDER-1",
        "timestamp": 1795262400000,
        "lat": None,
        "lng": None,
    }


def event_id(sequence: int) -> str:
    """As the service makes them, in order."""
    return f"0197a1b2-c3d4-7e5f-8a9b-{sequence:012}"


def event(tracking_id: str, sequence: int) -> dict[str, Any]:
    """As the feed lists it, with an id that its operator chose."""
    state = f"STATE_{sequence}"
    return {
        "eventId": f"{tracking_id}-{sequence}",
        "sequence": sequence,
        "trackingId": tracking_id,
        "state": state,
        "recordedAt": "2026-11-25T12:00:00+00:00",
        "notification": notification(tracking_id, state),
    }


def signed(event_id: str, body: bytes, secrets: tuple[str, ...] = (secret,), **headers: str) -> Request:
    timestamp = str(int(time.time()))
    signatures = " ".join(sign(each, event_id, timestamp, body) for each in secrets)
    named = {"Webhook-Id": event_id, "webhook-timestamp": timestamp, "webhook-signature": signatures}
    return {**named, **headers}, body


def request_of(listed: dict[str, Any], sequence: int | None = None) -> Request:
    """`sequence`: that of a header which somebody changed on the way."""
    body = json.dumps(listed["notification"], separators=(",", ":")).encode()
    return signed(listed["eventId"], body, **{"Parcelhook-Sequence": str(sequence or listed["sequence"])})


class ListFeed:
    """A feed of a list of events, two a page. A cursor is a position in it."""

    def __init__(self, *events: dict[str, Any]) -> None:
        self.log = list(events)
        self.queries: list[dict[str, Any]] = []
        self.refusal: ParcelhookError | None = None

    def events(self, **query: Any) -> dict[str, Any]:
        self.queries.append(query)
        if self.refusal is not None:
            raise self.refusal
        after = query.get("after")
        start = int(after or 0)
        wanted = query.get("tracking_id")
        listed = [each for each in self.log[start:] if wanted in (None, each["trackingId"])][:2]
        last = self.log.index(listed[-1]) + 1 if listed else len(self.log)
        return {"events": listed, "nextCursor": str(last)}


@contextlib.contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The URL of a server on a free port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def in_threads(calls: list[Callable[[], Any]]) -> list[Any]:
    results: list[Any] = [None] * len(calls)

    def run(place: int) -> None:
        results[place] = calls[place]()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
