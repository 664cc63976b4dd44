"""Places and follows orders, declares webhooks, and reads the feed of events."""

from __future__ import annotations

import http.client
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from . import _calls
from ._calls import Call
from .errors import ParcelhookError
from .types import EventPage, Order, OrderResult, PlacedOrder, RecordedEvent, Tracking, Webhook


class Client(_calls.Access):
    """Uses the `token` that was made for the program, which needs no key; without one, logs in as a user, on first use
    and again when that log-in expires. Safe to share between threads. `AsyncClient` has the same methods.

    `timeout_seconds` limits one try, `total_timeout_seconds` a whole call with its login, its tries and the waits
    between them: by default less than the 15 s that Parcelhook waits for a receiver. Follows no redirects, since
    another server must not get the credentials.
    """

    def place_order(self, order: Order, *, idempotency_key: str | None = None) -> OrderResult:
        """Hands over an order, which is committed when this returns. The same key, or a retry, gives one shipment."""
        return cast(OrderResult, self._call(_calls.order_call(order, idempotency_key)))

    def get_order(self, tracking_id: str) -> PlacedOrder:
        """The order as it was placed."""
        return cast(PlacedOrder, self._call(_calls.read_order_call(tracking_id)))

    def track(self, tracking_id: str) -> Tracking:
        """A shipment's state and history."""
        return cast(Tracking, self._call(_calls.track_call(tracking_id)))

    def wait_for(self, tracking_id: str, state: str | Sequence[str], *, timeout_seconds: float = 60) -> Tracking:
        """Returns once the shipment has been in the state, or in one of them.

        Raises `CONFLICT` if it has ended in another, and `TIMEOUT` after `timeout_seconds`.
        """
        wait = _calls.Wait(tracking_id, state, timeout_seconds)
        while not wait.is_over(tracking := self.track(tracking_id)):
            wait.catalogue = wait.catalogue or self._call(_calls.STATES)["states"]
            time.sleep(wait.next_pause_seconds(tracking))
        return tracking

    def cancel(self, tracking_id: str) -> RecordedEvent:
        """Records `CANCELLED`. Raises `CONFLICT` if the shipment's state does not allow it any more."""
        return cast(RecordedEvent, self._call(_calls.cancel_call(tracking_id)))

    def events(
        self,
        after: str | None = None,
        from_time: datetime | None = None,
        tracking_id: str | None = None,
        limit: int | None = None,
        wait_seconds: float = 0,
    ) -> EventPage:
        """One page of the feed, oldest first. With `wait_seconds` (at most 30), an empty page comes only after that."""
        call = _calls.events_call(after, from_time, tracking_id, limit, wait_seconds)
        return cast(EventPage, self._call(call))

    def subscribe(
        self,
        *,
        name: str,
        target_address: str | None = None,
        interests: Sequence[str] | None = None,
        ordering: str | None = None,
        supersede: bool | None = None,
        headers: dict[str, str] | None = None,
        description: str | None = None,
        max_per_second: int | None = None,
        notify_email: str | None = None,
        secret: str | None = None,
    ) -> Webhook:
        """Creates the webhook of this name, or changes it where it differs. Call it when a receiver's program starts.

        None leaves a setting as it is; a new webhook needs `target_address` and `interests`. `status` never changes.
        The webhook that is returned has its `secret` only if it was made now, and you gave none.
        """
        call = _calls.subscribe_call(
            name,
            targetAddress=target_address,
            interests=interests,
            ordering=ordering,
            supersede=supersede,
            headers=headers,
            description=description,
            maxPerSecond=max_per_second,
            notifyEmail=notify_email,
            secret=secret,
        )
        return cast(Webhook, self._call(call))

    def request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> dict[str, Any]:
        """Any other endpoint, by its path from `/v1/`; returns `data`. A POST is sent once."""
        return self._call(_calls.any_call(method, path, query, body))

    def close(self) -> None:
        """Nothing is kept open; `AsyncClient` has connections to close."""

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _open(self) -> None:
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._login_lock = threading.Lock()

    def _call(self, call: Call) -> dict[str, Any]:
        ends_at = self._ends_at(call)
        failures = 0
        is_renewed = False
        while True:
            bearer = None
            try:
                bearer = self._authorization(ends_at)
                return self._send(call, bearer, ends_at)
            except ParcelhookError as error:
                if error.status == 401 and bearer is not None and not is_renewed and not self._is_program:
                    is_renewed = True
                    with self._login_lock:
                        self._end(bearer)
                    continue
                wait = self._wait_after(error, failures, call, ends_at)
                failures += 1
            time.sleep(wait)

    def _authorization(self, ends_at: float) -> str:
        if not self._login_lock.acquire(timeout=max(0.0, ends_at - time.monotonic())):
            raise self._timeout_error(self._total_timeout)
        try:
            started_at = time.monotonic()
            return self._session() or self._begin(self._send(_calls.LOGIN, self._basic, ends_at), started_at)
        finally:
            self._login_lock.release()

    def _send(self, call: Call, authorization: str, ends_at: float) -> dict[str, Any]:
        target, headers, content = self._request_of(call, authorization)
        seconds = self._try_seconds(call, ends_at)
        try_ends_at = time.monotonic() + seconds
        try:
            request = urllib.request.Request(target, content, headers, method=call.method)
            try:
                response = self._opener.open(request, timeout=seconds)
            except urllib.error.HTTPError as refusal:
                response = refusal
            with response:
                body = self._read(response, try_ends_at, seconds)
                return self._data_of(response.status, response.headers, body)
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None)
            reason = reason if isinstance(reason, Exception) else error
            if isinstance(reason, (TimeoutError, socket.timeout)):  # two classes before Python 3.10
                raise self._timeout_error(seconds) from None
            raise self._unreachable_error(reason) from None

    def _read(self, response: Any, ends_at: float, seconds: float) -> bytes:
        chunks: list[bytes] = []
        size_bytes = 0
        while True:
            chunk = response.read1(65536)
            if not chunk:
                return b"".join(chunks)
            size_bytes += len(chunk)
            self._check_size(size_bytes, response.status)
            if time.monotonic() > ends_at:
                raise self._timeout_error(seconds)
            chunks.append(chunk)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any) -> None:
        return None
