"""Places orders with Parcelhook, and receives its notifications."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .client import Client
from .errors import InvalidSignature, ParcelhookError
from .receiver import Context, Receiver, Response
from .signature import verify
from .stores import MemoryStore, PostgresStore, Store, Transaction

if TYPE_CHECKING:
    from .async_client import AsyncClient as AsyncClient

__version__ = "0.1.0"

__all__ = [
    "Client",
    "Context",
    "InvalidSignature",
    "MemoryStore",
    "ParcelhookError",
    "PostgresStore",
    "Receiver",
    "Response",
    "Store",
    "Transaction",
    "verify",
]


def __getattr__(name: str) -> Any:
    """`AsyncClient` needs httpx, which nothing else here does."""
    if name == "AsyncClient":
        from .async_client import AsyncClient

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
