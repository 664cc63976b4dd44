"""The reader of pasted headers."""

from __future__ import annotations

import json
import re
from typing import Any

_line_prefix = re.compile(r"^\s*(?:[<>*|]\s+|(?:-H|--header)[\s=]+)?")
"""Of `curl -v`, of a curl command, of a quote."""
_trailing = re.compile(r"(?<![\s\\])[\s\\]+$")
"""White space and the backslash of a shell. Without the look-behind a long run costs its square."""
_name_and_value = re.compile(r"""["']?([A-Za-z][\w-]*)["']?\s*(?::|=>|=)\s*(.*)$""", re.ASCII)


def parse_headers(text: str) -> dict[str, list[str]]:
    """The headers in a pasted text, by their names in lower case.

    Reads `Name: value` lines, also as printed by `curl -v` or written for curl, variables of CGI
    (`HTTP_WEBHOOK_ID=…`), and JSON objects and lists. A name that stands there twice with different values has both.
    """
    values: dict[str, list[str]] = {}
    for name, value in _entries_of_json(text) or _entries_of_lines(text):
        known = values.setdefault(_normal_name(name), [])
        if value not in known:
            known.append(value)
    return values


def _normal_name(name: str) -> str:
    lower = name.lower()
    return lower[5:].replace("_", "-") if lower.startswith("http_") else lower


def _entries_of_json(text: str) -> list[tuple[str, str]] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and isinstance(value.get("headers"), (dict, list)):
        value = value["headers"]
    if isinstance(value, dict):
        pairs = list(value.items())
    elif not isinstance(value, list):
        return None
    elif all(isinstance(each, list) for each in value):
        pairs = [(each[0], each[1]) for each in value if len(each) > 1]
    else:  # Node's rawHeaders: names and values by turns
        pairs = list(zip(value[::2], value[1::2]))
    return [entry for name, each in pairs for entry in _entries(name, each)]


def _entries(name: Any, value: Any) -> list[tuple[str, str]]:
    return [(str(name), str(each).strip()) for each in (value if isinstance(value, list) else [value])]


def _entries_of_lines(text: str) -> list[tuple[str, str]]:
    entries: list[tuple[str, str]] = []
    for line in re.split(r"\r\n|[\r\n]", text):
        bare = _unquoted(_trailing.sub("", _line_prefix.sub("", line)))
        found = _name_and_value.match(bare)
        if found:
            entries.append((found[1], _unquoted(re.sub(",$", "", found[2]))))
        elif entries and re.match("v[0-9]", bare):  # a signature on a line of its own
            name, value = entries[-1]
            entries[-1] = (name, f"{value} {bare}".strip())
    return entries


def _unquoted(text: str) -> str:
    bare = text.strip()
    found = re.fullmatch(r"""(["'])(.*)\1""", bare)
    return found[2] if found else bare
