"""Signatures of notifications, per Standard Webhooks (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, Union

from .errors import InvalidSignature

Headers = Union[Mapping[str, str], Mapping[str, list[str]], Iterable[tuple[str, str]], Iterable[tuple[bytes, bytes]]]
"""Any mapping of a framework, or pairs; of bytes, as in ASGI's scope. Names are case-insensitive."""
Body = Union[bytes, bytearray, memoryview, str]
Secret = Union[str, Sequence[str]]


def verify(
    headers: Headers,
    raw_body: Body,
    secret: Secret,
    tolerance_seconds: float = 300,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Returns the notification in a request if its signature and its timestamp are valid.

    Otherwise raises InvalidSignature: respond with 400 and ignore the request. `raw_body` is the body as received: JSON
    that was parsed and serialized again has other bytes. One matching secret of several is enough, so that a rotation
    leaves no gap. The same `webhook-id` may come again: remember it to handle each event once. Raises ValueError for an
    empty secret.
    """
    values = header_values(headers)
    event_id, timestamp, given = (_required(values, name) for name in signed_headers)
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        raise InvalidSignature("webhook-timestamp is not a number of seconds")
    if not abs(_seconds(now) - int(timestamp)) <= tolerance_seconds:
        raise InvalidSignature(f"webhook-timestamp is more than {tolerance_seconds:g} s away from the local time")
    body = bytes_of(raw_body)
    expected = [sign(each, event_id, timestamp, body).encode() for each in secrets_of(secret)]
    signatures = [each.encode(errors="replace") for each in given.split(" ")]
    if not any(hmac.compare_digest(one, other) for one in expected for other in signatures):
        raise InvalidSignature("no signature matches: wrong secret or changed body")
    return _parsed(body)


signed_headers = ("webhook-id", "webhook-timestamp", "webhook-signature")


def sign(secret: str, event_id: str, timestamp: str, body: bytes) -> str:
    """`v1,<base64>`: HMAC-SHA256 of id, timestamp and body, keyed with the base64 after `whsec_`."""
    content = b".".join((event_id.encode(errors="replace"), timestamp.encode(), body))
    digest = hmac.new(key_of(secret), content, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def key_of(secret: str) -> bytes:
    """Reads base64 as Node does: both alphabets, with or without padding, anything else left out."""
    text = re.sub("^whsec_", "", secret).translate(str.maketrans("-_", "+/")).split("=")[0]
    digits = re.sub("[^A-Za-z0-9+/]", "", text)
    if len(digits) % 4 == 1:
        digits = digits[:-1]
    # Anyone could sign with an empty key.
    if not digits:
        raise ValueError("A webhook secret is missing or empty.")
    return base64.b64decode(digits + "=" * (-len(digits) % 4))


def secrets_of(secret: Secret) -> list[str]:
    secrets = [secret] if isinstance(secret, str) else list(secret or ())
    if not secrets:
        raise ValueError("A webhook secret is missing or empty.")
    return secrets


def header_values(headers: Headers) -> dict[str, list[str]]:
    """Every value that is not empty, by the header's name in lower case."""
    pairs = headers.items() if isinstance(headers, Mapping) or hasattr(headers, "items") else headers
    values: dict[str, list[str]] = {}
    for name, given in pairs:
        for value in map(_text, given if isinstance(given, (list, tuple)) else [given]):
            if isinstance(value, str) and value != "":
                values.setdefault(_text(name).lower(), []).append(value)
    return values


def _text(part: Any) -> Any:
    return part.decode("latin-1") if isinstance(part, bytes) else part


def bytes_of(raw_body: Body) -> bytes:
    return raw_body.encode(errors="replace") if isinstance(raw_body, str) else bytes(raw_body)


def _required(values: dict[str, list[str]], name: str) -> str:
    found = values.get(name, [])
    if len(found) != 1:
        raise InvalidSignature(f"header {name} is missing")
    return found[0]


def _seconds(now: datetime | None) -> int:
    return int((now or datetime.now(timezone.utc)).timestamp())


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body.decode("utf-8-sig", errors="replace"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise InvalidSignature("the signature is valid, but the body is not JSON")
    return parsed
