"""Handles each event once, a shipment's events in order, without gaps."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Callable, NamedTuple

from .client import Client
from .errors import InvalidSignature, ParcelhookError
from .server import asgi_app, handler_class, wsgi_app
from .signature import Body, Headers, Secret, header_values, key_of, secrets_of, verify
from .stores import Store, Transaction, is_time_ordered
from .types import Event

_logger = logging.getLogger("parcelhook")
_PAGE_SIZE = 250
_MAX_PAGES = 10
"""Enough for any journey: 2,500 events of a shipment."""
_FEED_WAIT_SECONDS = 2.0
"""An event is in the feed at most half a second after its commit."""
_ATTEMPTS_FOR_FEED = 3
"""The feed may be late. From this attempt on, some minutes later, nothing is awaited from it."""
_TEST_TRACKING_ID = "TEST"
"""The service's test belongs to no shipment."""

Notification = dict[str, Any]
Notice = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """What a callback gets beside the notification."""

    event_id: str
    """`webhook-id`, the same in every copy."""
    sequence: int | None
    """Its number within its shipment, from 1; None if the request did not say."""
    missing: tuple[int, int] | None = None
    """The first and last sequence before this one that did not come and were not found in the feed; or None."""
    source: str = "REQUEST"
    """`FEED` if it was missing and was fetched."""
    transaction: Any = None
    """Of the store: what is written with it is committed together with the mark that this event was handled."""


class Response(NamedTuple):
    status: int
    text: str


@dataclass(frozen=True)
class _Event:
    subject: str
    event_id: str
    sequence: int | None
    notification: Notification
    source: str
    missing: tuple[int, int] | None = None

    def is_due(self, transaction: Transaction) -> bool:
        """Not twice, and not if a later one has overtaken it.

        The sequence may be wrong, because no signature covers it; so the ids must say the same.
        """
        if transaction.is_seen:
            return False
        newest = getattr(transaction, "newest_event_id", None) or ""
        is_older = is_time_ordered(self.event_id) and self.event_id < newest
        return not (self.is_said_to_be_overtaken(transaction.last_sequence) and is_older)

    def is_said_to_be_overtaken(self, last_sequence: int) -> bool:
        return self.sequence is not None and self.sequence <= last_sequence


class Receiver:
    """Verifies notifications, handles each event once and a shipment's in order, and responds.

    `on_notification(notification, context)` handles one state of a shipment. A shipment's states come one at a time, in
    order, each once. The response waits for it, at most 15 s. If it raises, the response is 500, and the notification
    comes again. With `client`, missing states are fetched from the feed first; without it they are only reported in the
    context. `interests`: the states that your webhook is interested in, if not all: others are not fetched.

    `on_notice(notice, context)` is called when something happened to another webhook of yours, and
    `on_test(notification)` for `POST /v1/webhooks/{webhookId}/test`; without them both are accepted and ignored.
    `on_error(error)` gets errors of your functions, of the store and of the feed; by default their type and place are
    logged, without their message, which may hold a recipient's data.

    Raises ValueError for an empty secret. During a rotation, `secret` is a list of both.
    """

    def __init__(
        self,
        secret: Secret,
        store: Store,
        on_notification: Callable[[Notification, Context], Any],
        client: Client | None = None,
        interests: Collection[str] | None = None,
        on_notice: Callable[[Notice, Context], Any] | None = None,
        on_test: Callable[[Notification], Any] | None = None,
        on_error: Callable[[Exception], Any] | None = None,
        tolerance_seconds: float = 300,
        max_body_bytes: int = 1024 * 1024,
        body_timeout_seconds: float = 10,
    ) -> None:
        for each in secrets_of(secret):
            key_of(each)
        self._secret = secret
        self._store = store
        self._on_notification = on_notification
        self._on_notice = on_notice
        self._on_test = on_test
        self._on_error = on_error or _log
        self._client = client
        self._interests = None if interests is None else frozenset(interests)
        self._tolerance_seconds = tolerance_seconds
        self.wsgi = wsgi_app(self.receive, max_body_bytes, body_timeout_seconds)
        """A WSGI application."""
        self.asgi = asgi_app(self.receive, max_body_bytes, body_timeout_seconds)
        """An ASGI application."""
        self.handler = handler_class(self.receive, max_body_bytes, body_timeout_seconds)
        """A handler class for `http.server`."""

    def receive(self, headers: Headers, raw_body: Body) -> Response:
        """Handles one request. Returns the response's status and text; raises no Exception."""
        headers = header_values(headers)
        try:
            content = verify(headers, raw_body, self._secret, self._tolerance_seconds)
        except InvalidSignature as error:
            return Response(400, str(error))
        if not content and "webhook-challenge" in headers:
            return Response(200, headers["webhook-challenge"][0])
        try:
            self._handle(content, headers)
        except Exception as error:
            self._on_error(error)
            return Response(500, "The notification was not handled.")
        return Response(204, "")

    def reconcile(self, from_time: datetime) -> int:
        """Reads the feed from a time on, handles every event that was missed, and returns how many.

        Also those that no later notification shows to be missing. Call it at the start and now and then, from a while
        before the last call. It needs `client`, and raises what the feed, the store or a callback raises.
        """
        if self._client is None:
            raise ValueError("reconcile() needs a client.")
        count = 0
        page = self._client.events(from_time=from_time, limit=_PAGE_SIZE)
        while page["events"]:
            for event in map(_fetched, page["events"]):
                count += self._is_wanted(event) and self._handle_missed(event, self._client)
            page = self._client.events(after=page["nextCursor"], limit=_PAGE_SIZE)
        return count

    def _handle(self, content: dict[str, Any], headers: dict[str, list[str]]) -> None:
        event_id = headers["webhook-id"][0]
        if "tracking_id" not in content:
            self._once(_Event(f"event:{event_id}", event_id, None, content, "REQUEST"))
        elif content["tracking_id"] == _TEST_TRACKING_ID:
            if self._on_test is not None:
                self._on_test(content)
        else:
            sequence = _ordinal(headers, "parcelhook-sequence")
            event = _Event(str(content["tracking_id"]), event_id, sequence, content, "REQUEST")
            self._handle_state(event, _ordinal(headers, "parcelhook-attempt") or 1)

    def _handle_state(self, event: _Event, attempt: int) -> None:
        """`Parcelhook-Sequence` is not signed.

        If it is the next one, or there is no feed, it is taken for what it says; else the feed says which events come
        before this one, and whether a later one was handled.
        """
        with self._store.transaction(event.subject, event.event_id) as transaction:
            last = transaction.last_sequence
            is_next = event.sequence is None or event.sequence == last + 1
            if not event.is_due(transaction):
                return
            if is_next or self._client is None:
                self._call(replace(event, missing=_gap_between(last, event.sequence)), transaction)
                return
        # No transaction is open while the feed is read.
        journey = self._journey(event, attempt, self._client, event.is_said_to_be_overtaken(last))
        handled = self._last_handled(journey, event)
        if handled >= 0:
            last = journey[handled].sequence or last
        place = next(place for place, each in enumerate(journey) if each.event_id == event.event_id)
        # None at all if a later one was handled.
        for each in journey[handled + 1 : place + 1]:
            is_this = each.event_id == event.event_id
            missing = _gap_between(last, each.sequence)
            last = each.sequence or last
            if is_this or self._is_wanted(each):
                found = replace(event, sequence=each.sequence) if is_this else each
                self._once(replace(found, missing=missing))

    def _handle_missed(self, event: _Event, client: Client) -> bool:
        """Returns whether a missed event was due."""
        with self._store.transaction(event.subject, event.event_id) as transaction:
            if not event.is_due(transaction):
                return False
            is_said_to_be_overtaken = event.is_said_to_be_overtaken(transaction.last_sequence)
        if is_said_to_be_overtaken:
            journey = _events_of(client, event, is_whole=True) or [event]
            place = next(place for place, each in enumerate(journey) if each.event_id == event.event_id)
            if self._last_handled(journey, event) > place:
                return False
        return self._once(event)

    def _last_handled(self, journey: list[_Event], event: _Event) -> int:
        """The place of the last event that was handled, this one left out; -1 if none was."""
        for place in range(len(journey) - 1, -1, -1):
            each = journey[place]
            if each.event_id != event.event_id:
                with self._store.transaction(each.subject, each.event_id) as transaction:
                    if transaction.is_seen:
                        return place
        return -1

    def _journey(self, event: _Event, attempt: int, client: Client, is_whole: bool) -> list[_Event]:
        """The shipment's events, this one among them; only this if the feed has no others."""
        try:
            found = _events_of(client, event, is_whole)
            if found is not None:
                return found
        except ParcelhookError as error:
            if error.is_transient:
                raise
            self._on_error(error)
            return [event]
        absent = LookupError(f"The feed has no event {event.event_id}. Does the client use the same account?")
        if attempt < _ATTEMPTS_FOR_FEED:
            raise absent
        self._on_error(absent)
        return [event]

    def _once(self, event: _Event) -> bool:
        """Returns whether the event was due."""
        with self._store.transaction(event.subject, event.event_id) as transaction:
            if not event.is_due(transaction):
                return False
            self._call(event, transaction)
            return True

    def _call(self, event: _Event, transaction: Transaction) -> None:
        callback = self._on_notification if "tracking_id" in event.notification else self._on_notice
        if callback is not None:
            context = Context(event.event_id, event.sequence, event.missing, event.source, transaction.handle)
            callback(event.notification, context)
        transaction.remember(event.sequence)

    def _is_wanted(self, event: _Event) -> bool:
        return self._interests is None or event.notification["state"] in self._interests


def _events_of(client: Client, event: _Event, is_whole: bool) -> list[_Event] | None:
    """The shipment's events in order, at least up to this one; with `is_whole` also those after it.

    None if the feed does not have that event: it is not there yet, or no longer.
    """
    found: list[_Event] = []
    has_it = False
    position: dict[str, Any] = {}
    for _ in range(_MAX_PAGES):
        page = client.events(tracking_id=event.subject, limit=_PAGE_SIZE, **position)
        some = [_fetched(each) for each in page["events"]]
        found += some
        has_it = has_it or any(each.event_id == event.event_id for each in some)
        if (has_it and not is_whole) or (position and not some):
            break
        wait = {} if has_it else {"wait_seconds": _FEED_WAIT_SECONDS}
        position = {"after": page["nextCursor"], **wait}
    return found if has_it else None


def _fetched(listed: Event) -> _Event:
    return _Event(listed["trackingId"], listed["eventId"], listed["sequence"], listed["notification"], "FEED")


def _gap_between(last: int, sequence: int | None) -> tuple[int, int] | None:
    return None if sequence is None or sequence <= last + 1 else (last + 1, sequence - 1)


def _ordinal(headers: dict[str, list[str]], name: str) -> int | None:
    values = headers.get(name, [])
    return int(values[0]) if len(values) == 1 and re.fullmatch("[1-9][0-9]{0,8}", values[0]) else None


def _log(error: Exception) -> None:
    place = "".join(traceback.format_tb(error.__traceback__))
    _logger.error("a notification was not handled: %s\n%s", type(error).__name__, place)
