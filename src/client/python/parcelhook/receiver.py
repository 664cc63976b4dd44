"""Handles each event once, a shipment's events in their sequence, without gaps."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Callable, NamedTuple

from .client import Client
from .errors import InvalidSignature, ParcelhookError
from .server import handler_class, wsgi_app
from .signature import Body, Headers, Secret, header_values, key_of, secrets_of, verify
from .stores import Store

_logger = logging.getLogger("parcelhook")
_PAGE_SIZE = 250
_FEED_WAIT_SECONDS = 2.0
"""The feed shows an event at most half a second after its commit."""
_SAMPLE_TRACKING_ID = "TEST"


@dataclass(frozen=True)
class Context:
    """What the callback gets beside the notification."""

    event_id: str
    """The `webhook-id`."""
    sequence: int | None
    """The event's ordinal within its shipment, from 1. None if it belongs to no shipment."""
    connection: Any = None
    """The store's database connection: statements on it commit together with the store's. None without one."""


class Response(NamedTuple):
    status: int
    message: str


@dataclass(frozen=True)
class _Event:
    subject: str
    """What is handled in sequence: the shipment, or the event itself if it belongs to none."""
    event_id: str
    sequence: int
    notification: dict[str, Any]
    has_shipment: bool


class _FeedBehind(Exception):
    """The feed does not show an event yet that was received already."""


class Receiver:
    """Verifies notifications, drops repeats and overtaken states, and passes the others to `on_notification`.

    `on_notification(notification, context)` is called for one event of a shipment at a time, in their sequence. If it
    raises an exception, the event counts as not handled: the response is 500, and Parcelhook sends it again. With
    `events`, a `Client`, states that are missing before a received one are read from the feed first; without it they
    are skipped. `interests`: the states to call `on_notification` for; by default all, and with a feed that means also
    those that the webhook is not sent. `on_notice(notice, context)` gets the service's notices about other webhooks;
    by default, and for test notifications always, they are verified and dropped.
    """

    def __init__(
        self,
        secret: Secret,
        store: Store,
        on_notification: Callable[[dict[str, Any], Context], Any],
        events: Client | None = None,
        interests: Collection[str] | None = None,
        on_notice: Callable[[dict[str, Any], Context], Any] | None = None,
        tolerance_seconds: float = 300,
        max_body_bytes: int = 1024 * 1024,
        body_timeout_seconds: float = 10,
    ) -> None:
        for each in secrets_of(secret):
            key_of(each)  # raises ValueError now, not at the first request
        self._secret = secret
        self._store = store
        self._on_notification = on_notification
        self._on_notice = on_notice
        self._feed = events
        self._interests = None if interests is None else frozenset(interests)
        self._tolerance_seconds = tolerance_seconds
        self.wsgi = wsgi_app(self.receive, max_body_bytes, body_timeout_seconds)
        """A WSGI application."""
        self.handler = handler_class(self.receive, max_body_bytes, body_timeout_seconds)
        """A handler class for `http.server`."""

    def receive(self, headers: Headers, raw_body: Body) -> Response:
        """Handles one request. Returns the response's status and text; raises nothing."""
        try:
            notification = verify(headers, raw_body, self._secret, self._tolerance_seconds)
        except InvalidSignature as error:
            return Response(400, str(error))
        event = _received(header_values(headers), notification)
        try:
            return Response(200, "handled" if self._handle(event) else "dropped: seen already, or overtaken")
        except _FeedBehind:
            return Response(503, "the feed does not show this event yet")
        except Exception as error:
            _log(error, event)
            return Response(500, "the notification could not be handled")

    def reconcile(self, from_time: datetime | None = None) -> int:
        """Reads the feed from where the last call ended, handles what was missed, and returns how many events that was.

        Call it at the start and every few minutes: it finds what no later notification shows to be missing. The first
        call reads from `from_time`, or the whole log. Raises what the feed or the callback raises; the next call begins
        at the same place.
        """
        if self._feed is None:
            raise ValueError("reconcile() needs events=Client(...).")
        count = 0
        cursor = stored = self._store.cursor()
        while True:
            start = {"from_time": from_time} if cursor is None else {"after": cursor}
            try:
                page = self._feed.events(limit=_PAGE_SIZE, **start)
            except ParcelhookError as error:
                # Older than the log, or of a database that was restored: what is seen again is dropped.
                if cursor is None or cursor != stored or all(path != "after" for path, _ in error.details):
                    raise
                cursor = stored = None
                continue
            for event in map(_listed, page["events"]):
                count += self._handle(event)
            cursor = page["nextCursor"]
            self._store.set_cursor(cursor)
            if not page["events"]:
                return count

    def _handle(self, event: _Event) -> bool:
        """Returns whether it was handled now; False if it was before, or a later one of its shipment was."""
        if event.has_shipment and self._feed is not None:
            is_handled = self._handle_next(event)
            if is_handled is not None:
                return is_handled
            for missing in self._before(event, self._feed):
                self._handle_any(missing)
        return self._handle_any(event)

    def _handle_next(self, event: _Event) -> bool | None:
        """Returns None if an event before it is missing."""
        with self._store.transaction(event.subject) as transaction:
            if event.sequence > transaction.sequence + 1:
                return None
            return self._call(event, transaction)

    def _handle_any(self, event: _Event) -> bool:
        with self._store.transaction(event.subject) as transaction:
            return self._call(event, transaction)

    def _call(self, event: _Event, transaction: Any) -> bool:
        if event.sequence <= transaction.sequence:
            return False
        callback = self._callback_for(event)
        if callback is not None:
            sequence = event.sequence if event.has_shipment else None
            callback(event.notification, Context(event.event_id, sequence, transaction.connection))
        transaction.advance(event.sequence, event.event_id)
        return True

    def _callback_for(self, event: _Event) -> Callable[[dict[str, Any], Context], Any] | None:
        if event.has_shipment:
            state = event.notification.get("state")
            return self._on_notification if self._interests is None or state in self._interests else None
        return self._on_notice if "webhook_id" in event.notification else None

    def _before(self, event: _Event, feed: Client) -> Iterable[_Event]:
        """The shipment's earlier events in the feed, oldest first."""
        found: list[_Event] = []
        query: dict[str, Any] = {}
        while True:
            page = feed.events(tracking_id=event.subject, limit=_PAGE_SIZE, **query)
            listed = [_listed(each) for each in page["events"]]
            found += [each for each in listed if each.sequence < event.sequence]
            if any(each.sequence >= event.sequence for each in listed):
                return found
            if not listed and query:
                raise _FeedBehind
            query = {"after": page["nextCursor"], "wait_seconds": _FEED_WAIT_SECONDS}


def _received(values: dict[str, list[str]], notification: dict[str, Any]) -> _Event:
    event_id = values["webhook-id"][0]
    tracking_id = notification.get("tracking_id")
    sequence = "".join(values.get("parcelhook-sequence", []))
    if (
        isinstance(tracking_id, str)
        and tracking_id != _SAMPLE_TRACKING_ID
        and re.fullmatch("[1-9][0-9]{0,8}", sequence)
    ):
        return _Event(tracking_id, event_id, int(sequence), notification, True)
    return _Event(event_id, event_id, 1, notification, False)


def _listed(event: dict[str, Any]) -> _Event:
    return _Event(event["trackingId"], event["eventId"], event["sequence"], event["notification"], True)


def _log(error: Exception, event: _Event) -> None:
    """Leaves out the error's message, which may hold a recipient's data."""
    place = "".join(traceback.format_tb(error.__traceback__))
    _logger.error("event %s could not be handled: %s\n%s", event.event_id, type(error).__name__, place)
