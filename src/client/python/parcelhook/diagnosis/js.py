"""JSON as JavaScript reads and writes it: the service is written in it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

SPACES = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
"""White space."""
_MAX_INDEX = 2**32 - 2


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def object_of(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Keys that are indexes come first, in their order."""
    value = dict(pairs)
    indexes = [name for name in value if re.fullmatch("0|[1-9][0-9]{0,9}", name) and int(name) <= _MAX_INDEX]
    if not indexes:
        return value
    names = [*sorted(indexes, key=int), *(name for name in value if name not in indexes)]
    return {name: value[name] for name in names}


def parsed(text: str) -> Any:
    """None if it is no JSON."""
    try:
        # Every number is a double.
        return json.loads(text, object_pairs_hook=object_of, parse_int=float, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def written(value: Any, comma: str = ",", colon: str = ":", indent: str = "", margin: str = "") -> str:
    inner = margin + indent
    if indent:
        comma, colon = ",", ": "

    def write(each: Any) -> str:
        return written(each, comma, colon, indent, inner)

    if isinstance(value, dict):
        items = [_text(name) + colon + write(each) for name, each in value.items()]
        return _enclosed("{", items, "}", comma, indent, margin)
    if isinstance(value, list):
        return _enclosed("[", [write(each) for each in value], "]", comma, indent, margin)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value)


def _enclosed(start: str, items: list[str], end: str, comma: str, indent: str, margin: str) -> str:
    if not items:
        return start + end
    if not indent:
        return start + comma.join(items) + end
    inner = "\n" + margin + indent
    return start + inner + ("," + inner).join(items) + "\n" + margin + end


def _text(text: str) -> str:
    """Lone surrogates are escaped; all others are written as they are."""
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "null"
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    # The value is 0.<digits> times ten to the power of `point`.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return sign + digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + power
