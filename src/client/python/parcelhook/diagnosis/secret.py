"""The reader of a pasted secret."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from .js import SPACES

secret_messages = {
    "EMPTY": "The secret is empty: set it to the `whsec_…` that was shown when the webhook was created or its secret"
    " rotated.",
    "SIGNATURE": "The secret is a signature (`v1,…`) copied from a request: use the `whsec_…` of the webhook instead.",
    "TOKEN": "The secret is an API token (`phk_…`): use the `whsec_…` of the webhook instead.",
    "ACCESS_TOKEN": "The secret is an access token of a login (`eyJ…`): use the `whsec_…` of the webhook instead.",
    "ACCOUNT_KEY": "The secret is an account key (`ak_…`): use the `whsec_…` of the webhook instead.",
    "ID": "The secret is an id: use the webhook's `whsec_…` instead.",
    "MASKED": "The secret is a placeholder or masked: put in the real one, or rotate the secret if nobody has it any"
    " more.",
    "ESCAPED": "The secret is URL-encoded (`%2B`, `%3D`): decode it before you use it.",
    "WHITESPACE": "The secret has white space in it, perhaps a line break at its end: remove it.",
    "QUOTED": "The secret has quotation marks around it: remove them.",
    "TEXT_BEFORE": "The secret has other text before `whsec_`, such as the name of a variable: remove it.",
    "PREFIX_TWICE": "The secret has `whsec_` twice at its start: remove one.",
    "PASTED_TWICE": "The secret was pasted twice: remove one copy.",
    "URL_SAFE": "The secret has `-` or `_` where Base64 has `+` or `/`: copy it again exactly as it was shown.",
    "NOT_BASE64": "What follows `whsec_` in the secret is not Base64: copy it again exactly as it was shown.",
    "PADDING": "The secret lacks the `=` at its end: copy it again exactly as it was shown.",
    "TOO_SHORT": "The secret is shorter than any that Parcelhook issues: a part is missing, so copy it again.",
}

_MIN_BYTES = 24
"""The contract's bounds of a secret given by its owner are 24 to 64 bytes; the service makes 32."""


@dataclass
class SecretReading:
    problems: list[str]
    """All that must be put right in the text: keys of `secret_messages`."""
    has_prefix: bool
    key: bytes | None
    """None if no key can be made out."""


def read_secret(text: str, digests: list[str]) -> SecretReading:
    """Reads a secret as its owner meant it. `digests`: the Base64 of the request's signatures."""
    problems: list[str] = []
    secret = text

    def without(problem: str) -> SecretReading:
        return SecretReading([*problems, problem], True, None)

    def clean(problem: str, cleaned: str) -> str:
        if cleaned != secret:
            problems.append(problem)
        return cleaned

    if text.strip(SPACES) == "":
        return without("EMPTY")
    secret = clean("ESCAPED", _unescaped(secret))
    secret = clean("WHITESPACE", re.sub(f"[{SPACES}\u200b-\u200d\u2060]", "", secret))
    secret = clean("QUOTED", re.sub("^[\"'`“”‘’]+|[\"'`“”‘’]+$", "", secret))
    if re.match("v[0-9]+[a-z]?,", secret) or secret in digests:
        return without("SIGNATURE")
    if secret.startswith("phk_"):
        return without("TOKEN")
    if secret.startswith("ak_"):
        return without("ACCOUNT_KEY")
    if re.match(r"eyJ[\w-]+\.[\w-]+\.", secret, re.ASCII):
        return without("ACCESS_TOKEN")
    if re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", secret, re.IGNORECASE):
        return without("ID")
    if re.search(r"[•*…<>]|\.\.\.", secret):
        return without("MASKED")
    secret = clean("PASTED_TWICE", re.sub(r"^(whsec_.+)\1$", r"\1", secret))
    secret = clean("TEXT_BEFORE", re.sub("^.*?[\"'`=:]+(?=whsec_)", "", secret))
    secret = clean("PREFIX_TWICE", re.sub("^(whsec_)+(?=whsec_)", "", secret))
    has_prefix = secret.startswith("whsec_")
    secret = re.sub("^whsec_", "", secret)
    secret = clean("URL_SAFE", secret.translate(str.maketrans("-_", "+/")))
    key = _bytes_of_base64(secret)
    if key is None:
        return without("NOT_BASE64")
    if len(secret) % 4 != 0:
        problems.append("PADDING")
    if len(key) < _MIN_BYTES:
        problems.append("TOO_SHORT")
    return SecretReading(problems, has_prefix, key)


def _unescaped(text: str) -> str:
    try:
        return unquote_to_bytes(text).decode() if re.search("%[0-9a-fA-F]{2}", text) else text
    except ValueError:
        return text


def _bytes_of_base64(text: str) -> bytes | None:
    """None if it is not Base64 or is empty. Its padding may be missing."""
    digits = text.rstrip("=")
    if not re.fullmatch("[A-Za-z0-9+/]{2,}={0,2}", text) or len(digits) % 4 == 1:
        return None
    return base64.b64decode(digits + "=" * (-len(digits) % 4))
