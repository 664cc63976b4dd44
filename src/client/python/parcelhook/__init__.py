"""Receives Parcelhook's notifications."""

from .client import Client
from .errors import InvalidSignature, ParcelhookError
from .receiver import Context, Receiver, Response
from .signature import verify
from .stores import MemoryStore, PostgresStore, Store, Transaction

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
