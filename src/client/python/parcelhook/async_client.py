"""`Client` for asyncio and trio, on httpx: `pip install 'parcelhook[async]'`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from . import _calls
from ._calls import Call
from .errors import ParcelhookError
from .types import EventPage, Order, OrderResult, PlacedOrder, RecordedEvent, Tracking, Webhook

try:
    import anyio
    import httpx
except ImportError as absent:
    raise ImportError("AsyncClient needs httpx: pip install 'parcelhook[async]'") from absent


class AsyncClient(_calls.Access):
    """Has the options and the methods of `Client`. `async with` closes its connections, and so does `close()`."""

    async def place_order(self, order: Order, *, idempotency_key: str | None = None) -> OrderResult:
        """Hands over an order, which is committed when this returns. The same key, or a retry, gives one shipment."""
        return cast(OrderResult, await self._call(_calls.order_call(order, idempotency_key)))

    async def get_order(self, tracking_id: str) -> PlacedOrder:
        """The order as it was placed."""
        return cast(PlacedOrder, await self._call(_calls.read_order_call(tracking_id)))

    async def track(self, tracking_id: str) -> Tracking:
        """A shipment's state and history."""
        return cast(Tracking, await self._call(_calls.track_call(tracking_id)))

    async def wait_for(
        self, tracking_id: str, state: str | Sequence[str], *, timeout_seconds: float = 60
    ) -> Tracking:
        """Returns once the shipment has been in the state, or in one of them.

        Raises `CONFLICT` if it has ended in another, and `TIMEOUT` after `timeout_seconds`.
        """
        wait = _calls.Wait(tracking_id, state, timeout_seconds)
        while not wait.is_over(tracking := await self.track(tracking_id)):
            wait.catalogue = wait.catalogue or (await self._call(_calls.STATES))["states"]
            await anyio.sleep(wait.next_pause_seconds(tracking))
        return tracking

    async def cancel(self, tracking_id: str) -> RecordedEvent:
        """Records `CANCELLED`. Raises `CONFLICT` if the shipment's state does not allow it any more."""
        return cast(RecordedEvent, await self._call(_calls.cancel_call(tracking_id)))

    async def events(
        self,
        after: str | None = None,
        from_time: datetime | None = None,
        tracking_id: str | None = None,
        limit: int | None = None,
        wait_seconds: float = 0,
    ) -> EventPage:
        """One page of the feed, oldest first. With `wait_seconds` (at most 30), an empty page comes only after that."""
        call = _calls.events_call(after, from_time, tracking_id, limit, wait_seconds)
        return cast(EventPage, await self._call(call))

    async def subscribe(
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
        """Creates the webhook of this name, or changes it where it differs, as `Client.subscribe` does."""
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
        return cast(Webhook, await self._call(call))

    async def request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> dict[str, Any]:
        """Any other endpoint, by its path from `/v1/`; returns `data`. A POST is sent once."""
        return await self._call(_calls.any_call(method, path, query, body))

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def _open(self) -> None:
        self._http = httpx.AsyncClient(follow_redirects=False, timeout=None)
        self._login_lock = anyio.Lock()

    async def _call(self, call: Call) -> dict[str, Any]:
        ends_at = self._ends_at(call)
        failures = 0
        is_renewed = False
        while True:
            bearer = None
            try:
                bearer = await self._authorization(ends_at)
                return await self._send(call, bearer, ends_at)
            except ParcelhookError as error:
                if error.status == 401 and bearer is not None and not is_renewed and not self._is_program:
                    is_renewed = True
                    self._end(bearer)
                    continue
                wait = self._wait_after(error, failures, call, ends_at)
                failures += 1
            await anyio.sleep(wait)

    async def _authorization(self, ends_at: float) -> str:
        with anyio.move_on_after(max(0.0, ends_at - time.monotonic())):
            async with self._login_lock:
                started_at = time.monotonic()
                return self._session() or self._begin(
                    await self._send(_calls.LOGIN, self._basic, ends_at), started_at
                )
        raise self._timeout_error(self._total_timeout)

    async def _send(self, call: Call, authorization: str, ends_at: float) -> dict[str, Any]:
        target, headers, content = self._request_of(call, authorization)
        seconds = self._try_seconds(call, ends_at)
        try:
            with anyio.fail_after(seconds):
                async with self._http.stream(call.method, target, headers=headers, content=content) as response:
                    body = bytearray()
                    async for chunk in response.aiter_raw():
                        body += chunk
                        self._check_size(len(body), response.status_code)
                    return self._data_of(response.status_code, response.headers, bytes(body))
        except TimeoutError:
            raise self._timeout_error(seconds) from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise self._unreachable_error(error) from None
