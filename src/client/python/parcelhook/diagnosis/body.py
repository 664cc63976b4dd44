"""The forms that software writes JSON in, and the way back to the bytes that were sent."""

from __future__ import annotations

import functools
import html
import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Callable

from .js import SPACES, object_of, parsed, written

_MAX_TEXTS = 32
"""Enough for every pair of steps that a text can show signs of."""
_MAX_CHARACTERS = 1_572_864
"""Of all texts together: a notification of 256 KiB gets six, one of a usual size as many as it shows signs of."""


@dataclass(frozen=True)
class OriginalBody:
    text: str
    changes: Callable[[], list[str]]
    """Each thing that was done to it, in order."""


def _of_json_string(text: str) -> str | None:
    value = parsed(text)
    return value if isinstance(value, str) else None


def _of_latin1(text: str) -> str | None:
    if not re.search("[\x80-\xff]", text):
        return None
    try:
        return text.encode("latin-1").decode()
    except ValueError:
        return None


_entity = re.compile(r"&(?:#x[0-9a-f]+|#[0-9]+|amp|lt|gt|quot|apos|nbsp);", re.IGNORECASE)

_steps: list[tuple[str, Callable[[str], str | None]]] = [
    ("a byte order mark was put before it", lambda text: re.sub("^\ufeff", "", text)),
    ("it was written as a JSON string", _of_json_string),
    ("its line endings became CRLF", lambda text: text.replace("\r\n", "\n")),
    ("white space was added at its end", lambda text: text.rstrip(SPACES)),
    ("white space was added at its start", lambda text: text.lstrip(SPACES)),
    ("it was escaped for HTML", lambda text: _entity.sub(lambda found: html.unescape(found[0]), text)),
    ("it was read as Latin-1 and written as UTF-8", _of_latin1),
    ("its accents were composed (Unicode NFC)", lambda text: unicodedata.normalize("NFD", text)),
    ("its accents were decomposed (Unicode NFD)", lambda text: unicodedata.normalize("NFC", text)),
]
"""In the order in which they are undone; None if it was not done to this text."""


def possible_originals(given: str, given_changes: list[str]) -> list[OriginalBody]:
    """Every text that may have been sent, most likely first.

    The given one, with steps undone, and each of these as the service writes what it holds. `given_changes`: what is
    known to have been done to the given one.
    """
    texts: list[tuple[str, list[str]]] = [(given, given_changes)]
    sources = {given: texts[:]}
    characters = len(given)
    for change, undo in _steps:
        for text, changes in texts[:_MAX_TEXTS]:
            undone = undo(text)
            if undone is None or undone in sources or characters + len(undone) > _MAX_CHARACTERS:
                continue
            characters += len(undone)
            texts.append((undone, [change, *changes]))
            sources[undone] = texts[-1:]
    for text, changes in texts:
        for form in _service_forms(text):
            sources.setdefault(form, []).append((text, changes))
    return [OriginalBody(text, functools.partial(_changes_of, text, found)) for text, found in sources.items()]


def _changes_of(original: str, sources: list[tuple[str, list[str]]]) -> list[str]:
    """By the source that explains most."""
    for text, changes in sources:
        if text == original:
            return changes
        way = _how_written(text, original)
        if way is not None:
            return [way, *changes]
    return ["its JSON was written again", *sources[0][1]]


def is_service_form(text: str) -> bool:
    """Whether the service could have sent these bytes."""
    return text in _service_forms(text)


def service_form(text: str) -> str | None:
    """Of a body that is an object; otherwise None."""
    return next(iter(_service_forms(text)), None)


def is_consumed(text: str) -> bool:
    """No body of the service: something has read the stream before, or written an object without its content."""
    empty = ("", "{}", "[]", '""', "null", "None", "undefined", "[object Object]", '{"type":"Buffer","data":[]}')
    return text.strip(SPACES) in empty


_notification_fields = (
    "state",
    "label_id",
    "anomalies",
    "evidences",
    "tracking_id",
    "shipper_tracking_id",
    "timestamp",
    "lat",
    "lng",
)


def _service_forms(text: str) -> list[str]:
    """As the service writes them.

    A notification's fields in its order, those that were left out put back; compact; and as PostgreSQL writes a notice.
    None of what is nested so deep that it cannot be written.
    """
    value = parsed(text)
    try:
        return _written_forms(value) if isinstance(value, dict) else []
    except RecursionError:
        return []


def _written_forms(value: dict[str, Any]) -> list[str]:
    forms = [written(value)]
    if "tracking_id" in value:
        fields = {"anomalies": None, "evidences": [], "lat": None, "lng": None, **value}
        if value.get("label_id") is None and "shipper_tracking_id" in value:
            fields["label_id"] = value["shipper_tracking_id"]
        forms.append(written({name: fields[name] for name in _notification_fields if name in fields}))
    if "webhook_id" in value:
        names = ("state", "webhook_id", "target_address", "reason", "timestamp")
        forms.append("{" + ", ".join(f'"{name}" : {written(value.get(name))}' for name in names) + "}")
    return forms


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def _ascii(text: str) -> str:
    return re.sub("[^\0-\x7e]", _escaped, text)


def _units(text: str) -> bytes:
    """Sorts as JavaScript compares texts: by the units of UTF-16."""
    return text.encode("utf-16-be", errors="surrogatepass")


_orders: list[tuple[str, Callable[[str], Any] | None]] = [
    ("", None),
    (", keys sorted", _units),
    (", keys in the order of PostgreSQL’s jsonb", lambda key: (len(_units(key)), _units(key))),
]

_layouts: list[tuple[str, Callable[[Any], str]]] = [
    ("without spaces", written),
    ("indented by 2 spaces", lambda value: written(value, indent="  ")),
    ("indented by 4 spaces", lambda value: written(value, indent="    ")),
    ("indented by tabs", lambda value: written(value, indent="\t")),
    (
        "with a space after `,` and `:`, as Python’s json.dumps does",
        lambda value: written(value, comma=", ", colon=": "),
    ),
]

_escapes: list[tuple[str, Callable[[str], str]]] = [
    ("", lambda text: text),
    (", letters beyond ASCII as \\u…", _ascii),
    (", slashes as \\/", lambda text: text.replace("/", "\\/")),
    (
        ", slashes as \\/ and letters beyond ASCII as \\u…, as PHP does",
        lambda text: _ascii(text.replace("/", "\\/")),
    ),
    (
        ", < > & as \\u…, as Go does",
        lambda text: re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text),
    ),
]


def _how_written(text: str, original: str) -> str | None:
    """The way in which `text` was written from the content of `original`; None if it is not a known one."""
    value = parsed(original)
    # Sorting leaves the length as it is, and an escape makes it longer.
    escaped_length = text.count("\\/") + 6 * text.count("\\u")
    fitting = [
        (layout, write) for layout, write in _layouts if 0 <= len(text) - len(write(value)) <= escaped_length
    ]
    for order, sort in _orders if fitting else []:
        ordered = value if sort is None else _with_sorted_keys(value, sort)
        for layout, write in fitting:
            form = write(ordered)
            for escaping, escape in _escapes:
                if escape(form) == text:
                    return f"its JSON was written again {layout}{order}{escaping}"
    return None


def _with_sorted_keys(value: Any, sort: Callable[[str], Any]) -> Any:
    if isinstance(value, list):
        return [_with_sorted_keys(each, sort) for each in value]
    if not isinstance(value, dict):
        return value
    return object_of((key, _with_sorted_keys(value[key], sort)) for key in sorted(value, key=sort))


@dataclass(frozen=True)
class Difference:
    offset: int
    """In bytes, from 0."""
    given: str
    """Some text from there on and a little before, of the given body; `sent`: of the one that was sent."""
    sent: str


_BEFORE = 12
_AFTER = 24


def first_difference(given: bytes, sent: bytes) -> Difference | None:
    """The first byte that differs; None if there is none."""
    if given == sent:
        return None
    pairs = enumerate(zip(given, sent))
    offset = next((place for place, (one, other) in pairs if one != other), min(len(given), len(sent)))
    first, end = max(0, offset - _BEFORE), offset + _AFTER
    return Difference(offset, given[first:end].decode(errors="replace"), sent[first:end].decode(errors="replace"))
