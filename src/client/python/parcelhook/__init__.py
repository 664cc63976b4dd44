"""Receives Parcelhook's notifications."""

from .client import Client
from .diagnosis import Diagnosis, diagnose
from .diagnosis.body import Difference
from .diagnosis.findings import Finding
from .diagnosis.headers import parse_headers
from .errors import InvalidSignature, ParcelhookError
from .receiver import Context, Receiver, Response
from .signature import verify
from .stores import MemoryStore, PostgresStore, Store, Transaction

__version__ = "0.1.0"

__all__ = [
    "Client",
    "Context",
    "Diagnosis",
    "Difference",
    "Finding",
    "InvalidSignature",
    "MemoryStore",
    "ParcelhookError",
    "PostgresStore",
    "Receiver",
    "Response",
    "Store",
    "Transaction",
    "diagnose",
    "parse_headers",
    "verify",
]
