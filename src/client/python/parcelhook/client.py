"""Reads the feed of events, `GET /v1/events`, and declares webhooks."""

from __future__ import annotations

import base64
import http.client
import json
import math
import random
import re
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from .errors import ParcelhookError

MAX_RESPONSE_BYTES = 32 * 1024 * 1024
_FIRST_BACKOFF_SECONDS = 0.25
_MAX_BACKOFF_SECONDS = 10.0
_MARGIN_SECONDS = 60.0


class Client:
    """Uses the `token` that was made for the program, which needs no key; without one, logs in as a user, on first use
    and again when that log-in expires. Safe to share between threads.

    `timeout_seconds` limits one try, `total_timeout_seconds` a whole call with its login, its tries and the waits
    between them: by default less than the 15 s that Parcelhook waits for a receiver. Follows no redirects, since
    another server must not get the credentials.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        email: str | None = None,
        password: str | None = None,
        timeout_seconds: float = 5,
        total_timeout_seconds: float = 10,
        retries: int = 3,
        *,
        token: str | None = None,
    ) -> None:
        parsed = urllib.parse.urlsplit(url)
        if parsed.scheme not in ("http", "https") or not parsed.hostname:
            raise ValueError("url must be the address of the service, such as https://parcelhook.example.com")
        user = (("key", key), ("email", email), ("password", password))
        if token is None and all(value is None for _, value in user):
            raise ValueError("token is required, or key, email and password.")
        if token is not None:
            if any(value is not None for _, value in user):
                raise ValueError("Give either token, or key, email and password.")
            if not isinstance(token, str) or not re.fullmatch("[!-~]+", token):
                raise ValueError("token must be printable ASCII without spaces.")
        for name, value in () if token is not None else user:
            if not isinstance(value, str) or not value:
                raise ValueError(f"{name} is required.")
        self._origin = f"{parsed.scheme}://{parsed.netloc.rpartition('@')[2]}"
        self._base = self._origin + parsed.path.rstrip("/")
        self._key = key
        self._basic = "Basic " + base64.b64encode(f"{email}:{password}".encode()).decode()
        self._timeout = timeout_seconds
        self._total_timeout = total_timeout_seconds
        self._retries = retries
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._login_lock = threading.Lock()
        self._is_program = token is not None
        self._bearer: str | None = None if token is None else f"Bearer {token}"
        self._renew_at = 0.0 if token is None else math.inf

    def events(
        self,
        after: str | None = None,
        from_time: datetime | None = None,
        tracking_id: str | None = None,
        limit: int | None = None,
        wait_seconds: float = 0,
    ) -> dict[str, Any]:
        """One page of the feed, oldest first: `{"events": [...], "nextCursor": ...}`.

        Each event has `eventId` (the notification's `webhook-id`), `sequence`, `trackingId`, `state`, `recordedAt` and
        `notification`. `nextCursor` is never None: pass it as `after`. With `wait_seconds` (at most 30), an empty page
        comes only after that time.
        """
        if from_time is not None and from_time.tzinfo is None:
            raise ValueError("from_time needs a time zone.")
        query = {
            "after": after,
            "from": None if from_time is None else from_time.isoformat(),
            "trackingId": tracking_id,
            "limit": limit,
            "wait": f"{int(wait_seconds * 1000)}ms" if wait_seconds > 0 else None,
        }
        return self._request("GET", "/v1/events", query, extra_seconds=wait_seconds)

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
    ) -> dict[str, Any]:
        """Creates the webhook of this name, or changes it where it differs. Call it when a receiver's program starts.

        None leaves a setting as it is; a new webhook needs `target_address` and `interests`. `status` never changes.
        The webhook that is returned has its `secret` only if it was made now, and you gave none.
        """
        if not isinstance(name, str) or name in ("", ".", ".."):
            raise ValueError("name is required, and cannot be . or ..")
        given = {
            "targetAddress": target_address,
            "interests": interests,
            "ordering": ordering,
            "supersede": supersede,
            "headers": headers,
            "description": description,
            "maxPerSecond": max_per_second,
            "notifyEmail": notify_email,
            "secret": secret,
        }
        body = {field: value for field, value in given.items() if value is not None}
        return self._request("PUT", f"/v1/webhooks/by-name/{urllib.parse.quote(name, safe='')}", {}, body)

    def _request(
        self,
        method: str,
        path: str,
        query: dict[str, Any],
        body: dict[str, Any] | None = None,
        extra_seconds: float = 0,
    ) -> dict[str, Any]:
        """Repeats it if it may succeed later, so it must have the same effect then."""
        ends_at = time.monotonic() + self._total_timeout + extra_seconds
        failures = 0
        is_renewed = False
        while True:
            bearer = None
            try:
                bearer = self._authorization(ends_at)
                return self._send(method, path, query, bearer, self._timeout + extra_seconds, ends_at, body)
            except ParcelhookError as error:
                if error.status == 401 and bearer is not None and not is_renewed and not self._is_program:
                    is_renewed = True
                    self._discard(bearer)
                    continue
                wait = max(_backoff_seconds(failures), error.retry_after_seconds or 0)
                failures += 1
                if not error.is_transient or failures > self._retries or time.monotonic() + wait >= ends_at:
                    raise
            time.sleep(wait)

    def _authorization(self, ends_at: float) -> str:
        if not self._login_lock.acquire(timeout=max(0.0, ends_at - time.monotonic())):
            raise self._timeout_error(self._total_timeout)
        try:
            started_at = time.monotonic()
            if self._bearer is None or started_at >= self._renew_at:
                self._bearer = None
                data = self._send("GET", "/v1/login", {}, self._basic, self._timeout, ends_at)
                self._bearer, lifetime = _session_of(data, self._base)
                self._renew_at = started_at + lifetime - min(_MARGIN_SECONDS, lifetime / 10)
            return self._bearer
        finally:
            self._login_lock.release()

    def _discard(self, bearer: str) -> None:
        with self._login_lock:
            if self._bearer == bearer:
                self._bearer = None

    def _send(
        self,
        method: str,
        path: str,
        query: dict[str, Any],
        authorization: str,
        timeout: float,
        ends_at: float,
        body: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        given = {name: value for name, value in query.items() if value is not None}
        if self._key is not None:
            given["key"] = self._key
        target = f"{self._base}{path}" + (f"?{urllib.parse.urlencode(given)}" if given else "")
        headers = {"accept": "application/json", "authorization": authorization, "user-agent": "parcelhook-python"}
        content = None
        if body is not None:
            content = json.dumps(body).encode()
            headers["content-type"] = "application/json"
        try_seconds = min(timeout, ends_at - time.monotonic())
        if try_seconds <= 0:
            raise self._timeout_error(self._total_timeout)
        try_ends_at = time.monotonic() + try_seconds
        try:
            request = urllib.request.Request(target, content, headers, method=method)
            try:
                response = self._opener.open(request, timeout=try_seconds)
            except urllib.error.HTTPError as refusal:
                response = refusal
            with response:
                return self._data_of(response, self._read(response, try_ends_at, try_seconds))
        except (OSError, http.client.HTTPException, ValueError) as error:
            # The error's own message may hold the URL, and the URL the key.
            reason = getattr(error, "reason", None)
            reason = reason if isinstance(reason, Exception) else error
            if isinstance(reason, (TimeoutError, socket.timeout)):  # two classes before Python 3.10
                raise self._timeout_error(try_seconds) from None
            raise ParcelhookError(f"{self._base} cannot be reached ({type(reason).__name__}).", "UNREACHABLE") from None

    def _read(self, response: Any, ends_at: float, seconds: float) -> bytes:
        chunks: list[bytes] = []
        size_bytes = 0
        while True:
            chunk = response.read1(65536)
            if not chunk:
                return b"".join(chunks)
            size_bytes += len(chunk)
            if size_bytes > MAX_RESPONSE_BYTES:
                raise ParcelhookError(
                    f"The response from {self._base} exceeds {MAX_RESPONSE_BYTES} bytes.",
                    "UNEXPECTED_ANSWER",
                    status=response.status,
                )
            if time.monotonic() > ends_at:
                raise self._timeout_error(seconds)
            chunks.append(chunk)

    def _data_of(self, response: Any, body: bytes) -> dict[str, Any]:
        try:
            parsed = json.loads(body)
        except (ValueError, RecursionError):
            parsed = None
        parsed = parsed if isinstance(parsed, dict) else {}
        data = parsed.get("data")
        if 200 <= response.status < 300 and isinstance(data, dict):
            return data
        failure = parsed.get("error")
        shared = {
            "status": response.status,
            "retry_after_seconds": _retry_after_seconds(response.headers.get("retry-after")),
        }
        if isinstance(failure, dict) and isinstance(parsed.get("status"), str):
            details = [
                (str(each["path"]), str(each["message"]))
                for each in failure.get("details") or ()
                if isinstance(each, dict) and "path" in each and "message" in each
            ]
            raise ParcelhookError(
                str(failure.get("message")),
                parsed["status"],
                request_id=failure.get("requestId"),
                details=details,
                **shared,
            )
        raise ParcelhookError(
            f"{self._base} returned {response.status}, but not in Parcelhook's format.",
            "UNEXPECTED_ANSWER",
            request_id=response.headers.get("x-request-id"),
            **shared,
        )

    def _timeout_error(self, seconds: float) -> ParcelhookError:
        return ParcelhookError(f"{self._base} did not respond within {seconds:g} s.", "TIMEOUT")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any) -> None:
        return None


def _session_of(data: dict[str, Any], base: str) -> tuple[str, float]:
    token = data.get("token")
    try:
        lifetime = float(data.get("expiresIn", ""))
    except (TypeError, ValueError):
        lifetime = -1
    if not isinstance(token, str) or not re.fullmatch("[!-~]+", token) or not lifetime >= 0:
        raise ParcelhookError(f"The login response from {base} has no valid token.", "UNEXPECTED_ANSWER", status=200)
    return f"Bearer {token}", lifetime


def _backoff_seconds(failures: int) -> float:
    """Doubles with each failure. Half of it is random, so that clients do not return all at once after an outage."""
    return min(_FIRST_BACKOFF_SECONDS * float(2**failures), _MAX_BACKOFF_SECONDS) * (0.5 + random.random() / 2)


def _retry_after_seconds(text: str | None) -> float | None:
    """`Retry-After` is a number of seconds, or a date."""
    if not text:
        return None
    if re.fullmatch("[0-9]{1,9}", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
