"""Failures of this package. Their messages and fields hold no key, password, token or secret."""

from __future__ import annotations

from collections.abc import Sequence

Detail = tuple[str, str]
"""One of a response's `error.details`: the path of a wrong field, and what would be right."""


class ParcelhookError(Exception):
    """`code` is one of the API's, or `UNREACHABLE`, `TIMEOUT`, `UNEXPECTED_ANSWER` or `INVALID_SIGNATURE`."""

    def __init__(
        self,
        message: str,
        code: str,
        status: int | None = None,
        request_id: str | None = None,
        details: Sequence[Detail] = (),
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.request_id = request_id
        self.details = tuple(details)
        self.retry_after_seconds = retry_after_seconds

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed later."""
        return self.code in ("UNREACHABLE", "TIMEOUT") or self.status in (429, 502, 503, 504)


class InvalidSignature(ParcelhookError):
    """The request is not a notification of Parcelhook, or was changed: respond with 400 and ignore it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "INVALID_SIGNATURE")
