"""Findings of a diagnosis: causes, and sentences that say what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .body import Difference, first_difference
from .js import SPACES
from .secret import SecretReading, secret_messages


@dataclass(frozen=True)
class Finding:
    cause: str
    """NO_HEADERS, HEADER_MISSING, TIMESTAMP_MALFORMED, CLOCK_OFF, SECRET_MALFORMED, SIGNATURE_MALFORMED, BODY_CHANGED,
    BODY_CONSUMED, ID_ALTERED, OTHER_DELIVERY, PREVIOUS_SECRET, WRONG_SECRET or WRONG_COMPUTATION; or one of two hints,
    with which a request verifies: ROTATION_UNDER_WAY and SECRET_WITHOUT_PREFIX."""
    message: str
    """A sentence that says what to do. It holds no secret."""
    certain: bool
    """Whether it is proven or only likely."""
    header: str | None = None
    value: str | None = None
    """Of the malformed header."""
    clock_ahead_seconds: int | None = None
    """How far the receiver's clock is ahead of the timestamp; negative: behind."""
    problem: str | None = None
    """Of the secret, such as WHITESPACE."""
    changes: tuple[str, ...] = ()
    """Each thing that was done to the body, in order."""
    difference: Difference | None = None
    """The body's first byte that differs."""

    @property
    def is_hint(self) -> bool:
        return self.cause in ("ROTATION_UNDER_WAY", "SECRET_WITHOUT_PREFIX")


_messages = {
    "NO_HEADERS": "There are no headers: give those of the request, with webhook-id, webhook-timestamp and"
    " webhook-signature.",
    "ID_ALTERED": "webhook-id was changed: sign and verify with it exactly as it came in the header.",
    "OTHER_DELIVERY": "The headers and the body seem to belong to different requests: take all of them from the same"
    " attempt.",
    "PREVIOUS_SECRET": "Only the secret from before the rotation matches: let the receiver accept both until the"
    " overlap has ended.",
    "WRONG_SECRET": "No signature was made with this secret for these headers and this body. Check that the secret"
    " belongs to this webhook and is the newest one. Check that headers and body come from the same attempt.",
    "ROTATION_UNDER_WAY": "Your secret makes the second of two signatures: it is the one from before a rotation, so put"
    " in the new one before the overlap ends, and compare with every signature.",
    "SECRET_WITHOUT_PREFIX": "The secret lacks `whsec_`: it works without it, but libraries may require it.",
}


def finding(cause: str, certain: bool) -> Finding:
    return Finding(cause, _messages[cause], certain)


def missing_header(header: str) -> Finding:
    message = (
        f"The header {header} is missing: check that nothing before your code, such as a proxy, removes or renames it."
    )
    return Finding("HEADER_MISSING", message, True, header=header)


def consumed_body(text: str) -> Finding:
    """`text`: one of those for which `is_consumed` holds."""
    bare = text.strip(SPACES)
    message = (
        f"The body is `{bare}`, which Parcelhook never sends: something read the real one before,"
        " so take the raw bytes before any body parser."
        if bare
        else "There is no body. Give the bytes as they arrived. If your code has none either, a body parser has read"
        " them: take them before it."
    )
    return Finding("BODY_CONSUMED", message, True)


def malformed_secret(reading: SecretReading, certain: bool) -> list[Finding]:
    return [
        Finding("SECRET_MALFORMED", secret_messages[problem], certain, problem=problem) for problem in reading.problems
    ]


def changed_body(changes: list[str], given: bytes, sent: bytes, certain: bool) -> Finding:
    difference = first_difference(given, sent)
    where = f", from byte {difference.offset} on" if difference else ""
    message = (
        f"The body {'differs' if certain else 'seems to differ'} from what was sent{where}: {', '.join(changes)}."
        " Verify the bytes as they arrived, before any parser."
    )
    return Finding("BODY_CHANGED", message, certain, changes=tuple(changes), difference=difference)


def malformed_signatures(values: list[str], has_match: bool) -> list[Finding]:
    """`values`: of the header; `has_match`: whether one of its signatures was found to match."""
    findings = []
    for value in values:
        if re.fullmatch("v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*", value):
            continue
        is_whole = len(digests_in(value)) > 0
        if not is_whole:
            message = (
                "webhook-signature holds no complete signature: copy it again, with `v1,` and 44 characters for"
                " each."
            )
        elif "v1," in value:
            message = (
                "webhook-signature was changed on the way:"
                " pass it on as it came, each signature as `v1,…`, separated by spaces."
            )
        else:
            message = (
                "webhook-signature lacks `v1,`: pass the header on as it came, and remove `v1,` only where you compare."
            )
        findings.append(Finding("SIGNATURE_MALFORMED", message, has_match or not is_whole, value=value))
    return findings


def digests_in(value: str) -> list[str]:
    """The Base64 of each signature in a header's value, without its version."""
    parts = (re.sub("^v[0-9]+[a-z]?=", "", part) for part in re.split("[\\s,\"']+", value))
    return [part.ljust(44, "=") for part in parts if re.fullmatch("[A-Za-z0-9+/]{43}=?", part)]


def wrong_time(value: str, now_seconds: int, tolerance_seconds: float) -> list[Finding]:
    if not re.fullmatch("[0-9]{1,12}", value):
        message = (
            "webhook-timestamp is in milliseconds: it was sent in seconds, so pass it on unchanged."
            if is_milliseconds(value)
            else "webhook-timestamp is not a number of seconds: pass it on as it came."
        )
        return [Finding("TIMESTAMP_MALFORMED", message, True, value=value)]
    ahead_seconds = now_seconds - int(value)
    if abs(ahead_seconds) <= tolerance_seconds:
        return []
    allowed = f"({tolerance_seconds:g} s are allowed)"
    message = (
        f"Your clock is {ahead_seconds} s ahead of webhook-timestamp {allowed}:"
        " set the clock if the request came just now, and refuse the request if it is that old."
        if ahead_seconds > 0
        else f"Your clock is {-ahead_seconds} s behind webhook-timestamp {allowed}: set the clock."
    )
    return [Finding("CLOCK_OFF", message, True, clock_ahead_seconds=ahead_seconds)]


def is_milliseconds(timestamp: str) -> bool:
    return re.fullmatch("[0-9]{13}", timestamp) is not None
