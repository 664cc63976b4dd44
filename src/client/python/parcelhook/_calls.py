"""What both clients share: what they send, and how they read the response."""

from __future__ import annotations

import base64
import json
import math
import random
import re
import time
import urllib.parse
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from .errors import ParcelhookError
from .types import Order, Tracking

MAX_RESPONSE_BYTES = 32 * 1024 * 1024
_FIRST_BACKOFF_SECONDS = 0.25
_MAX_BACKOFF_SECONDS = 10.0
_MARGIN_SECONDS = 60.0
_FIRST_PAUSE_SECONDS = 0.25
_MAX_PAUSE_SECONDS = 2.0


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    extra_seconds: float = 0
    """How much longer than usual the response may take."""
    is_repeatable: bool = True
    """Whether it has the same effect when it is sent again."""


LOGIN = Call("GET", "/v1/login")
STATES = Call("GET", "/v1/states")


def events_call(
    after: str | None, from_time: datetime | None, tracking_id: str | None, limit: int | None, wait_seconds: float
) -> Call:
    if from_time is not None and from_time.tzinfo is None:
        raise ValueError("from_time needs a time zone.")
    query = {
        "after": after,
        "from": None if from_time is None else from_time.isoformat(),
        "trackingId": tracking_id,
        "limit": limit,
        "wait": f"{int(wait_seconds * 1000)}ms" if wait_seconds > 0 else None,
    }
    return Call("GET", "/v1/events", query, extra_seconds=wait_seconds)


def subscribe_call(name: str, **settings: Any) -> Call:
    if not isinstance(name, str) or name in ("", ".", ".."):
        raise ValueError("name is required, and cannot be . or ..")
    body = {field: value for field, value in settings.items() if value is not None}
    return Call("PUT", f"/v1/webhooks/by-name/{_quoted(name)}", body=body)


def order_call(order: Order, idempotency_key: str | None) -> Call:
    key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
    if not isinstance(key, str) or not re.fullmatch("[!-~]([ -~]{0,253}[!-~])?", key):
        raise ValueError(
            "idempotency_key must be 1 to 255 printable ASCII characters, without a space at either end."
        )
    return Call("POST", "/v1/shipments", body=order, headers={"idempotency-key": key})


def track_call(tracking_id: str) -> Call:
    return Call("GET", f"/v1/shipment-tracking/{_id(tracking_id)}")


def read_order_call(tracking_id: str) -> Call:
    return Call("GET", f"/v1/shipments/{_id(tracking_id)}")


def cancel_call(tracking_id: str) -> Call:
    return Call("POST", f"/v1/shipments/{_id(tracking_id)}/cancel", is_repeatable=False)


def any_call(method: str, path: str, query: Mapping[str, Any] | None, body: Any) -> Call:
    if not path.startswith("/v1/"):
        raise ValueError("path must begin with /v1/.")
    return Call(method, path, query or {}, body, is_repeatable=method != "POST")


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="")


def _id(tracking_id: str) -> str:
    if not isinstance(tracking_id, str) or tracking_id in ("", ".", ".."):
        raise ValueError("tracking_id is required.")
    return _quoted(tracking_id)


class Wait:
    """Of a shipment for one of some states: asks more and more rarely until it had one, or can have none in time."""

    catalogue: list[dict[str, Any]] | None = None
    """The states of the service. Only a wait that goes on needs them."""

    def __init__(self, tracking_id: str, states: str | Sequence[str], timeout_seconds: float) -> None:
        self._tracking_id = tracking_id
        self._states = [states] if isinstance(states, str) else list(states)
        self._timeout = timeout_seconds
        self._ends_at = time.monotonic() + timeout_seconds
        self._pause = _FIRST_PAUSE_SECONDS

    def is_over(self, tracking: Tracking) -> bool:
        return any(entry["state"] in self._states for entry in tracking["history"])

    def next_pause_seconds(self, tracking: Tracking) -> float:
        """Raises if a pause would be in vain."""
        wanted = " or ".join(self._states)
        state = tracking["state"]
        if any(one["state"] == state and one["terminal"] for one in self.catalogue or ()):
            raise ParcelhookError(
                f"{self._tracking_id} cannot become {wanted} any more: it is {state}, which is final.", "CONFLICT"
            )
        if time.monotonic() + self._pause >= self._ends_at:
            raise ParcelhookError(
                f"{self._tracking_id} was not {wanted} within {self._timeout:g} s: it is {state or 'not created yet'}.",
                "TIMEOUT",
            )
        pause = self._pause
        self._pause = min(pause * 1.5, _MAX_PAUSE_SECONDS)
        return pause


class Access:
    """The options of a client, with its requests and its session. Its owner sends them, one log-in at a time."""

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
        self._base = f"{parsed.scheme}://{parsed.netloc.rpartition('@')[2]}{parsed.path.rstrip('/')}"
        self._key = key
        self._basic = "Basic " + base64.b64encode(f"{email}:{password}".encode()).decode()
        self._timeout = timeout_seconds
        self._total_timeout = total_timeout_seconds
        self._retries = retries
        self._is_program = token is not None
        self._bearer: str | None = None if token is None else f"Bearer {token}"
        self._renew_at = 0.0 if token is None else math.inf
        self._open()

    def _open(self) -> None:
        """Makes what the client sends with."""
        raise NotImplementedError

    def _ends_at(self, call: Call) -> float:
        return time.monotonic() + self._total_timeout + call.extra_seconds

    def _wait_after(self, error: ParcelhookError, failures: int, call: Call, ends_at: float) -> float:
        """The seconds until the next try. Raises the error if there is none."""
        wait = max(_backoff_seconds(failures), error.retry_after_seconds or 0)
        retries = self._retries if call.is_repeatable else 0
        if not error.is_transient or failures >= retries or time.monotonic() + wait >= ends_at:
            raise error
        return wait

    def _session(self) -> str | None:
        """None if a log-in is due."""
        return self._bearer if time.monotonic() < self._renew_at else None

    def _begin(self, data: dict[str, Any], started_at: float) -> str:
        """Takes the response to a log-in."""
        token = data.get("token")
        try:
            lifetime = float(data.get("expiresIn", ""))
        except (TypeError, ValueError):
            lifetime = -1
        if not isinstance(token, str) or not re.fullmatch("[!-~]+", token) or not lifetime >= 0:
            raise ParcelhookError(
                f"The login response from {self._base} has no valid token.", "UNEXPECTED_ANSWER", status=200
            )
        self._bearer = f"Bearer {token}"
        self._renew_at = started_at + lifetime - min(_MARGIN_SECONDS, lifetime / 10)
        return self._bearer

    def _end(self, bearer: str) -> None:
        if self._bearer == bearer:
            self._bearer = None

    def _request_of(self, call: Call, authorization: str) -> tuple[str, dict[str, str], bytes | None]:
        """Address, headers, content."""
        given = {name: value for name, value in call.query.items() if value is not None}
        if self._key is not None:
            given["key"] = self._key
        target = f"{self._base}{call.path}" + (f"?{urllib.parse.urlencode(given)}" if given else "")
        headers = {
            "accept": "application/json",
            "accept-encoding": "identity",
            "authorization": authorization,
            "user-agent": "parcelhook-python",
            **call.headers,
        }
        if call.body is None:
            return target, headers, None
        return target, {**headers, "content-type": "application/json"}, json.dumps(call.body).encode()

    def _try_seconds(self, call: Call, ends_at: float) -> float:
        seconds = min(self._timeout + call.extra_seconds, ends_at - time.monotonic())
        if seconds <= 0:
            raise self._timeout_error(self._total_timeout)
        return seconds

    def _check_size(self, size_bytes: int, status: int) -> None:
        if size_bytes > MAX_RESPONSE_BYTES:
            raise ParcelhookError(
                f"The response from {self._base} exceeds {MAX_RESPONSE_BYTES} bytes.",
                "UNEXPECTED_ANSWER",
                status=status,
            )

    def _data_of(self, status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        try:
            parsed = json.loads(body)
        except (ValueError, RecursionError):
            parsed = None
        parsed = parsed if isinstance(parsed, dict) else {}
        data = parsed.get("data")
        if 200 <= status < 300 and isinstance(data, dict):
            return {**data, "processId": parsed["processId"]} if "processId" in parsed else data
        failure = parsed.get("error")
        retry_after_seconds = _retry_after_seconds(headers.get("retry-after"))
        if isinstance(failure, dict) and isinstance(parsed.get("status"), str):
            details = [
                (str(each["path"]), str(each["message"]))
                for each in failure.get("details") or ()
                if isinstance(each, dict) and "path" in each and "message" in each
            ]
            raise ParcelhookError(
                _with_first(str(failure.get("message")), details),
                parsed["status"],
                status,
                failure.get("requestId"),
                details,
                retry_after_seconds,
            )
        raise ParcelhookError(
            f"{self._base} returned {status}, but not in Parcelhook's format.",
            "UNEXPECTED_ANSWER",
            status,
            headers.get("x-request-id"),
            retry_after_seconds=retry_after_seconds,
        )

    def _timeout_error(self, seconds: float) -> ParcelhookError:
        return ParcelhookError(f"{self._base} did not respond within {seconds:g} s.", "TIMEOUT")

    def _unreachable_error(self, reason: BaseException) -> ParcelhookError:
        """Its own message may hold the URL, and the URL the key."""
        return ParcelhookError(f"{self._base} cannot be reached ({type(reason).__name__}).", "UNREACHABLE")


def _with_first(message: str, details: Sequence[tuple[str, str]]) -> str:
    """The message with the first of its details: `The request is not valid: package.weight is required (and 2 more).`"""
    if not details:
        return message
    path, text = details[0]
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    whole = f"{re.sub('(; see details)?[.]$', '', message)}: {path} {text}{more}"
    return whole if whole.endswith((".", "?")) else f"{whole}."


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
