"""Stores of what a receiver has handled.

A subject is a shipment's trackingId, or the `webhook-id` of a notification that belongs to no shipment. The store has
the sequence of the last event that was handled for each subject, and the receiver's position in the feed.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Callable, Protocol


class Transaction(Protocol):
    """Exclusive for one subject. What it changes counts once its `with` block ends without an error."""

    sequence: int
    """Of the last event that was handled; 0 if there is none."""
    connection: Any
    """The database connection in whose transaction the change is made, for the callback's own statements; or None."""

    def advance(self, sequence: int, event_id: str) -> None: ...


class Store(Protocol):
    def transaction(self, subject: str) -> AbstractContextManager[Transaction]: ...

    def cursor(self) -> str | None: ...

    def set_cursor(self, cursor: str) -> None: ...


class _MemoryTransaction:
    connection = None

    def __init__(self, sequence: int) -> None:
        self.sequence = sequence
        self.is_changed = False

    def advance(self, sequence: int, event_id: str) -> None:
        self.sequence = sequence
        self.is_changed = True


class MemoryStore:
    """For one process that may forget everything at its end.

    Beyond `max_shipments` it forgets the ones that have not changed for the longest time.
    """

    def __init__(self, max_shipments: int = 100_000) -> None:
        self._max = max_shipments
        self._sequences: OrderedDict[str, int] = OrderedDict()
        self._busy: dict[str, list[Any]] = {}
        self._lock = threading.Lock()
        self._cursor: str | None = None

    @contextmanager
    def transaction(self, subject: str) -> Iterator[_MemoryTransaction]:
        with self._exclusively(subject):
            with self._lock:
                transaction = _MemoryTransaction(self._sequences.get(subject, 0))
            yield transaction
            if not transaction.is_changed:
                return
            with self._lock:
                self._sequences[subject] = transaction.sequence
                self._sequences.move_to_end(subject)
                while len(self._sequences) > self._max:
                    self._sequences.popitem(last=False)

    def cursor(self) -> str | None:
        return self._cursor

    def set_cursor(self, cursor: str) -> None:
        self._cursor = cursor

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
    def __init__(self, connection: Any, cursor: Any, subject: str) -> None:
        self.connection = connection
        self.is_changed = False
        self._cursor = cursor
        self._subject = subject
        cursor.execute(
            "insert into parcelhook_received (subject, sequence, event_id) values (%s, 0, '') on conflict do nothing",
            (subject,),
        )
        cursor.execute("select sequence from parcelhook_received where subject = %s for update", (subject,))
        self.sequence = int(cursor.fetchone()[0])

    def advance(self, sequence: int, event_id: str) -> None:
        self._cursor.execute(
            "update parcelhook_received set sequence = %s, event_id = %s, received_at = now() where subject = %s",
            (sequence, event_id, self._subject),
        )
        self.sequence = sequence
        self.is_changed = True


class PostgresStore:
    """For any number of processes. A callback's statements on its connection commit together with the store's.

    `connect` gives a DB-API connection of which nobody else makes use, not in autocommit mode; `close()` ends it or
    returns it to its pool: `lambda: psycopg.connect(url)`, or SQLAlchemy's `engine.raw_connection`. The parameters'
    style is `%s`, as in psycopg, psycopg2 and pg8000.
    """

    ddl = """
create table if not exists parcelhook_received (
  subject text primary key,      -- a shipment's trackingId, or a webhook-id
  sequence integer not null,     -- of the last event that was handled
  event_id text not null,
  received_at timestamptz not null default now()
);
create table if not exists parcelhook_feed (
  id integer primary key check (id = 1),
  cursor text not null
);
"""

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect

    def create_tables(self) -> None:
        """Runs `ddl`: creates the tables that are missing."""
        with self._cursor_of(self._connect()) as (connection, cursor):
            for statement in self.ddl.split(";"):
                if statement.strip():
                    cursor.execute(statement)
            connection.commit()

    @contextmanager
    def transaction(self, subject: str) -> Iterator[_PostgresTransaction]:
        with self._cursor_of(self._connect()) as (connection, cursor):
            transaction = _PostgresTransaction(connection, cursor, subject)
            yield transaction
            if transaction.is_changed:
                connection.commit()

    def cursor(self) -> str | None:
        with self._cursor_of(self._connect()) as (_connection, cursor):
            cursor.execute("select cursor from parcelhook_feed where id = 1")
            row = cursor.fetchone()
            return None if row is None else str(row[0])

    def set_cursor(self, cursor: str) -> None:
        with self._cursor_of(self._connect()) as (connection, statement):
            statement.execute(
                "insert into parcelhook_feed (id, cursor) values (1, %s)"
                " on conflict (id) do update set cursor = excluded.cursor",
                (cursor,),
            )
            connection.commit()

    @staticmethod
    @contextmanager
    def _cursor_of(connection: Any) -> Iterator[Any]:
        """Rolls back what was not committed."""
        try:
            if getattr(connection, "autocommit", False):
                raise ValueError("PostgresStore needs connections that are not in autocommit mode.")
            cursor = connection.cursor()
            try:
                yield connection, cursor
            finally:
                cursor.close()
                connection.rollback()
        finally:
            connection.close()
