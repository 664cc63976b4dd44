"""The signature doctor: why a notification does not verify."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime, timezone

from ..signature import Body as RawBody
from ..signature import Headers, bytes_of, header_values, signed_headers
from .body import is_consumed, is_service_form, service_form
from .findings import (
    Finding,
    changed_body,
    consumed_body,
    digests_in,
    finding,
    malformed_secret,
    malformed_signatures,
    missing_header,
    wrong_time,
)
from .headers import parse_headers
from .match import Body, Match, find_match, mistake_in, possible_starts, read_body
from .secret import SecretReading, read_secret

_MAX_VALUES = 4
"""A pasted text may hold the headers of several requests."""
_MAX_SIGNATURES = 64
"""During a rotation a request has two."""
_MAX_SKEW_SECONDS = 5
"""Between the clocks of the service's own processes."""


@dataclass(frozen=True)
class Diagnosis:
    ok: bool
    """Whether the request verifies, with this secret and at this time. Findings are hints then."""
    explained: bool
    """Whether a signature matches, be it after the faults in `findings` were put right."""
    findings: list[Finding]


def diagnose(
    headers: str | Headers,
    raw_body: RawBody,
    secret: str | None,
    previous_secret: str | None = None,
    computed: str | None = None,
    tolerance_seconds: float = 300,
    now: datetime | None = None,
) -> Diagnosis:
    """Names what keeps a notification from verifying. Sends nothing anywhere.

    It tries the likely faults, several at once, until a signature matches. `headers` are those of the request that was
    refused; text is read by `parse_headers`. `raw_body` is the body as the receiver has it, `secret` the one that it
    verifies with, `previous_secret` the one before the last rotation, `computed` the signature that the receiver's own
    code computed, and `now` when the notification arrived.
    """
    values = parse_headers(headers) if isinstance(headers, str) else header_values(headers)
    values = header_values(values)
    ids = values.get("webhook-id", [])[:_MAX_VALUES]
    timestamps = values.get("webhook-timestamp", [])[:_MAX_VALUES]
    signatures = values.get("webhook-signature", [])[:_MAX_VALUES]
    digests = [digest for value in signatures for digest in digests_in(value)][:_MAX_SIGNATURES]
    secret = secret or ""
    current = read_secret(secret, digests)
    readings = [current, read_secret(previous_secret, digests)] if previous_secret else [current]
    body = read_body(bytes_of(raw_body))
    match = find_match(possible_starts(ids, timestamps), readings, body.originals, digests)
    findings: list[Finding] = []
    if not values:
        findings.append(finding("NO_HEADERS", True))
    for name in signed_headers:
        if values and name not in values:
            findings.append(missing_header(name))
    now_seconds = math.floor((now or datetime.now(timezone.utc)).timestamp())
    for timestamp in timestamps[:1]:
        findings += wrong_time(timestamp, now_seconds, tolerance_seconds)
    findings += malformed_signatures(signatures, match is not None)
    if match is None:
        findings += _suspicions(values, ids, timestamps, digests, body, current)
        return Diagnosis(False, False, findings)
    findings += _faults(match, body, current)
    if computed:
        text = secret if match.reading is current else previous_secret or ""
        findings.append(Finding("WRONG_COMPUTATION", mistake_in(computed, match.signed, text.strip()), True))
    return Diagnosis(all(each.is_hint for each in findings), True, findings)


def _faults(match: Match, body: Body, current: SecretReading) -> list[Finding]:
    is_current = match.reading is current
    findings = malformed_secret(match.reading, True)
    if not is_current:
        findings.append(finding("PREVIOUS_SECRET", True))
    elif match.place > 0 and match.start.fault is None:
        findings.append(finding("ROTATION_UNDER_WAY", True))
    if not match.reading.has_prefix:
        findings.append(finding("SECRET_WITHOUT_PREFIX", True))
    if match.start.fault is not None:
        findings.append(match.start.fault)
    changes = match.original.changes()
    if changes:
        findings.append(changed_body(changes, body.given, match.original.body, True))
    return findings


def _suspicions(
    headers: dict[str, list[str]],
    ids: list[str],
    timestamps: list[str],
    digests: list[str],
    body: Body,
    secret: SecretReading,
) -> list[Finding]:
    """Without a match only what is plain to see is certain."""
    findings = malformed_secret(secret, secret.key is None)
    if is_consumed(body.text):
        findings.append(consumed_body(body.text))
    elif not is_service_form(body.text):
        sent = service_form(body.text)
        change = "it is not a JSON object" if sent is None else "it is not as Parcelhook writes its JSON"
        original = body.given if sent is None else sent.encode(errors="replace")
        findings.append(changed_body([change], body.given, original, False))
    is_complete = ids and timestamps and digests
    if not is_complete or any(each.certain for each in findings):
        return findings
    if not (_has_given_length(headers, body) and _is_after_recording(ids[0], timestamps[0])):
        findings.append(finding("OTHER_DELIVERY", False))
    if not re.fullmatch("[!-~]{1,255}", ids[0]):
        findings.append(finding("ID_ALTERED", False))
    return [*findings, finding("WRONG_SECRET", False)]


def _has_given_length(headers: dict[str, list[str]], body: Body) -> bool:
    """Whether the body has the length that its header says, if there is one."""
    lengths = headers.get("content-length")
    return lengths is None or lengths[0].strip() == str(len(body.given))


def _is_after_recording(event_id: str, timestamp: str) -> bool:
    """An attempt begins after its event was recorded. An event's id that the service made holds that time (UUIDv7)."""
    form = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
    if not re.fullmatch(form, event_id, re.IGNORECASE) or not re.fullmatch("[0-9]{1,20}", timestamp):
        return True
    recorded_ms = int(event_id[:8] + event_id[9:13], 16)
    return int(timestamp) >= recorded_ms // 1000 - _MAX_SKEW_SECONDS
