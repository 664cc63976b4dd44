"""The search for what makes one of the signatures, and the wrong ways of computing one."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Callable

from .body import possible_originals
from .findings import Finding, finding, is_milliseconds
from .js import SPACES
from .secret import SecretReading


@dataclass(frozen=True)
class Original:
    body: bytes
    changes: Callable[[], list[str]]


@dataclass(frozen=True)
class Body:
    given: bytes
    text: str
    originals: list[Original]
    """All that may have been sent, the body as given first."""


def read_body(given: bytes) -> Body:
    try:
        text, first = given.decode(), []
    except UnicodeDecodeError:
        text, first = given.decode("latin-1"), ["it was written as Latin-1"]
    originals = [
        Original(original.text.encode(errors="replace"), original.changes)
        for original in possible_originals(text, first)
    ]
    return Body(given, text, [Original(given, list), *originals])


@dataclass(frozen=True)
class Start:
    prefix: str
    """`<webhook-id>.<webhook-timestamp>.`"""
    fault: Finding | None


_MAX_PREFIX_CHARACTERS = 1_024
"""An id has at most 255 characters."""


def possible_starts(ids: list[str], timestamps: list[str]) -> list[Start]:
    """All that may have been signed before the body: the headers as given, mixed, or put right."""
    starts = [
        Start(f"{each}.{timestamp}.", None if i + t == 0 else finding("OTHER_DELIVERY", True))
        for i, each in enumerate(ids)
        for t, timestamp in enumerate(timestamps)
    ]
    for timestamp in timestamps[:1]:
        if is_milliseconds(timestamp):
            starts += [Start(f"{each}.{timestamp[:-3]}.", None) for each in ids]  # `wrong_time` reports it
        for each in ids:
            bare = re.sub("^[\"'<{]+|(?<![\"'>}])[\"'>}]+$", "", each)
            for other in (each.strip(SPACES), each.lower(), each.upper(), bare, _with_dashes(each)):
                if other != each:
                    starts.append(Start(f"{other}.{timestamp}.", finding("ID_ALTERED", True)))
    return starts[:1] + [start for start in starts[1:] if len(start.prefix) <= _MAX_PREFIX_CHARACTERS]


def _with_dashes(event_id: str) -> str:
    form = "^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$"
    return re.sub(form, r"\1-\2-\3-\4-\5", event_id, flags=re.IGNORECASE).lower()


@dataclass(frozen=True)
class Signed:
    key: bytes
    prefix: str
    body: bytes

    def digest(self) -> str:
        """In Base64."""
        content = self.prefix.encode(errors="replace") + self.body
        return base64.b64encode(hmac.new(self.key, content, hashlib.sha256).digest()).decode()


@dataclass(frozen=True)
class Match:
    reading: SecretReading
    start: Start
    original: Original
    place: int
    """Of the matching signature among those given, from 0."""
    signed: Signed


_MAX_SIGNED_BYTES = 25_165_824
"""Of all that is signed in a search, together: a body of 2 KiB may be signed in 12,000 ways."""


def find_match(
    starts: list[Start], readings: list[SecretReading], originals: list[Original], digests: list[str]
) -> Match | None:
    """The combination of the fewest faults that makes one of the signatures; None if none of those tried does."""
    if not digests:
        return None
    signed_bytes = 0
    for original, start in _by_faults(originals, starts):
        for reading in readings:
            if reading.key is None:
                continue
            signed_bytes += len(start.prefix) + len(original.body)
            if signed_bytes > _MAX_SIGNED_BYTES:
                return None
            signed = Signed(reading.key, start.prefix, original.body)
            digest = signed.digest()
            if digest in digests:
                return Match(reading, start, original, digests.index(digest), signed)
    return None


def _by_faults(originals: list[Original], starts: list[Start]) -> Iterator[tuple[Original, Start]]:
    """Every pair: first those in which the body or the start is as given."""
    for original in originals:
        for start in starts[:1]:
            yield original, start
    for start in starts[1:]:
        yield originals[0], start
    for original in originals[1:]:
        for start in starts[1:]:
            yield original, start


_signed_text = "`<webhook-id>.<webhook-timestamp>.<body>`"


def mistake_in(computed: str, signed: Signed, secret: str) -> str:
    """Says in a sentence what is wrong with the signature that a receiver's code computed, or with how it compares.

    `signed` is what makes the right one.
    """
    right = signed.digest()
    bare = re.sub("^v1,", "", computed.strip())
    if bare == right and bare == computed.strip():
        return (
            "Your code computes the right signature but leaves `v1,` on the one in the header:"
            " compare with what follows `v1,`."
        )
    if bare == right:
        return (
            "Your code computes the right signature:"
            " compare it with each part of the header, which are separated by spaces."
        )
    as_text, without_prefix = secret.encode(errors="replace"), re.sub("^whsec_", "", secret).encode(errors="replace")
    timestamp = signed.prefix[:-1].rpartition(".")[2]
    mistakes = [
        (
            Signed(as_text, signed.prefix, signed.body),
            "Your code uses the secret as text: Base64-decode what follows `whsec_`, and use those bytes as the key.",
        ),
        (
            Signed(without_prefix, signed.prefix, signed.body),
            "Your code removes `whsec_` but does not Base64-decode the rest:"
            " decode it, and use those bytes as the key.",
        ),
        (
            Signed(signed.key, "", signed.body),
            f"Your code signs the body alone: sign {_signed_text}, joined by full stops.",
        ),
        (
            Signed(signed.key, f"{timestamp}.", signed.body),
            f"Your code leaves out `webhook-id`: sign {_signed_text}.",
        ),
    ]
    for mistake, message in mistakes:
        if _is_same(bare, mistake.digest()):
            return message
    if _is_same(bare, right):
        return "Your code writes the right signature in another form: write it in Base64."
    return (
        "Your code computes another signature: take HMAC-SHA256 of"
        " `<webhook-id>.<webhook-timestamp>.<body as received>`, and write it in Base64."
    )


def _is_same(given: str, digest: str) -> bool:
    """In Base64, that for URLs, without padding, or in hexadecimal."""
    plain = given.translate(str.maketrans("-_", "+/")).rstrip("=")
    return given.lower() == base64.b64decode(digest).hex() or plain == digest.rstrip("=")
