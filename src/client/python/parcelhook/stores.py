"""Stores: a receiver's memory of what it has handled."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Callable, Protocol


class Transaction(Protocol):
    """Exclusive for one subject. The event is remembered once its `with` block ends without an error."""

    is_seen: bool
    """Whether the event was handled before."""
    last_sequence: int
    """The highest sequence handled of the shipment; 0 if none is known."""
    newest_event_id: str | None
    """The latest id handled of the shipment, of those that tell (`is_time_ordered`)."""
    handle: Any
    """What the callback gets to write with, such as a database connection."""

    def remember(self, sequence: int | None) -> None: ...


class Store(Protocol):
    """`subject` is a shipment's trackingId; for a notice `event:` and its id, for it belongs to no shipment."""

    def transaction(self, subject: str, event_id: str) -> AbstractContextManager[Transaction]: ...


def is_time_ordered(event_id: str) -> bool:
    """Whether the service made the id: such ids ascend (UUIDv7). Those that its operator chose tell no time."""
    return re.fullmatch("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", event_id) is not None


_MAX_IDS = 1_000
"""The ids remembered of one shipment, far more than a journey has events."""
_LOCK_TIMEOUT_MS = 10_000
"""The longest wait for another process that handles an event of the same shipment. Beyond it the request is retried."""


class _MemoryTransaction:
    handle = None

    def __init__(self, ids: list[str], last_sequence: int, event_id: str) -> None:
        self.is_seen = event_id in ids
        self.last_sequence = last_sequence
        self.newest_event_id = max(filter(is_time_ordered, ids), default=None)
        self.ids = ids
        self.is_changed = False
        self._event_id = event_id

    def remember(self, sequence: int | None) -> None:
        self.ids = [*self.ids, self._event_id][-_MAX_IDS:]
        self.last_sequence = max(self.last_sequence, sequence or 0)
        self.is_changed = True


class MemoryStore:
    """For tests and trials, and for one process: it forgets everything at the process's end.

    Beyond `max_shipments` it forgets the shipment whose last event is longest ago.
    """

    def __init__(self, max_shipments: int = 100_000) -> None:
        self._max = max_shipments
        self._known: OrderedDict[str, tuple[list[str], int]] = OrderedDict()
        self._busy: dict[str, list[Any]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def transaction(self, subject: str, event_id: str) -> Iterator[_MemoryTransaction]:
        with self._exclusively(subject):
            with self._lock:
                transaction = _MemoryTransaction(*self._known.get(subject, ([], 0)), event_id)
            yield transaction
            if not transaction.is_changed:
                return
            with self._lock:
                self._known[subject] = (transaction.ids, transaction.last_sequence)
                self._known.move_to_end(subject)
                while len(self._known) > self._max:
                    self._known.popitem(last=False)

    @contextmanager
    def _exclusively(self, subject: str) -> Iterator[None]:
        with self._lock:
            entry = self._busy.setdefault(subject, [threading.Lock(), 0])
            entry[1] += 1
        try:
            with entry[0]:
                yield
        finally:
            with self._lock:
                entry[1] -= 1
                if entry[1] == 0:
                    del self._busy[subject]


class _PostgresTransaction:
    def __init__(self, connection: Any, statements: Any, table: str, subject: str, event_id: str) -> None:
        self.handle = connection
        self.is_changed = False
        self._statements = statements
        self._table = table
        self._subject = subject
        self._event_id = event_id
        statements.execute(f"set local lock_timeout = {_LOCK_TIMEOUT_MS}")
        statements.execute(
            f"insert into {table} as t (subject) values (%s)"
            " on conflict (subject) do update set subject = excluded.subject"
            " returning %s::text = any (event_ids), last_sequence,"
            """ (select max(id collate "C") from unnest(event_ids) id where id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7')""",
            (subject, event_id),
        )
        self.is_seen, self.last_sequence, self.newest_event_id = statements.fetchone()

    def remember(self, sequence: int | None) -> None:
        self._statements.execute(
            f"update {self._table}"
            " set last_sequence = greatest(last_sequence, %s::bigint), handled_at = now(),"
            f" event_ids = (event_ids || %s::text)[greatest(1, cardinality(event_ids) + 2 - {_MAX_IDS}):]"
            " where subject = %s",
            (sequence or 0, self._event_id, self._subject),
        )
        self.is_changed = True


class PostgresStore:
    """In your own PostgreSQL, for any number of processes, with one row for each shipment.

    What the callback writes with `context.transaction`, the connection, is committed together with the mark that its
    event was handled, or neither is. The callback must not commit. `connect` returns a DB-API connection that nobody
    else uses, not in autocommit mode; its `close()` ends it or returns it to a pool: `lambda: psycopg.connect(url)`,
    or SQLAlchemy's `engine.raw_connection`. Parameters are written `%s`, as psycopg, psycopg2 and pg8000 have them.

    `ddl` has the table's definition, for your own migrations. Delete rows whose `handled_at` is longer ago than
    Parcelhook stores its log (30 days): none of them comes again.
    """

    def __init__(self, connect: Callable[[], Any], table: str = "parcelhook_received") -> None:
        if not re.fullmatch(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?", table):
            raise ValueError("table must be a name in lower case, with or without its schema.")
        self._connect = connect
        self._table = table
        self.ddl = f"""\
create table if not exists {table} (
  subject text primary key,
  last_sequence bigint not null default 0,
  event_ids text[] not null default '{{}}',
  handled_at timestamptz not null default now()
);
"""

    def create_tables(self) -> None:
        """Creates the table where there is none."""
        with self._connected() as (connection, statements):
            # Two processes that create it at once would collide.
            statements.execute("select pg_advisory_xact_lock(hashtext(%s))", (self._table,))
            statements.execute(self.ddl)
            connection.commit()

    @contextmanager
    def transaction(self, subject: str, event_id: str) -> Iterator[_PostgresTransaction]:
        with self._connected() as (connection, statements):
            transaction = _PostgresTransaction(connection, statements, self._table, subject, event_id)
            yield transaction
            if transaction.is_changed:
                connection.commit()

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """Rolls back what was not committed."""
        connection = self._connect()
        try:
            if getattr(connection, "autocommit", False):
                raise ValueError("PostgresStore needs connections that are not in autocommit mode.")
            statements = connection.cursor()
            try:
                yield connection, statements
            finally:
                connection.rollback()
                statements.close()
        finally:
            connection.close()
