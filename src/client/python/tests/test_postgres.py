"""Runs with psycopg on the empty database of TEST_DATABASE_URL."""

from __future__ import annotations

import functools
import os
import random
import unittest
from typing import Any

from parcelhook import Context, PostgresStore, Receiver

from .support import ListFeed, event, in_threads, request_of, secret

try:
    import psycopg
except ImportError:
    psycopg = None  # type: ignore[assignment]

url = os.environ.get("TEST_DATABASE_URL", "")


@unittest.skipIf(psycopg is None, "psycopg is not installed")
@unittest.skipIf(url == "", "TEST_DATABASE_URL is not set")
class Postgres(unittest.TestCase):
    def setUp(self) -> None:
        self.store = PostgresStore(lambda: psycopg.connect(url))
        self.rows("drop table if exists parcelhook_received, states")
        self.rows("create table states (id bigint generated always as identity, shipment text, state text)")
        self.store.create_tables()
        self.store.create_tables()

    def rows(self, statement: str) -> list[Any]:
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    @staticmethod
    def write(notification: dict[str, Any], context: Context) -> None:
        context.transaction.execute(
            "insert into states (shipment, state) values (%s, %s)",
            (notification["tracking_id"], notification["state"]),
        )

    def stored(self) -> list[Any]:
        return self.rows("select subject, last_sequence, event_ids from parcelhook_received order by subject")

    def test_commits_the_callbacks_statements_with_its_own(self) -> None:
        receiver = Receiver(secret, self.store, self.write)
        for _ in range(2):
            receiver.receive(*request_of(event("A", 1)))
        self.assertEqual(self.rows("select shipment, state from states"), [("A", "STATE_1")])
        self.assertEqual(self.stored(), [("A", 1, ["A-1"])])

    def test_rolls_both_back_when_the_callback_fails(self) -> None:
        def fail_afterwards(*given: Any) -> None:
            self.write(*given)
            raise RuntimeError

        with self.assertLogs("parcelhook"):
            response = Receiver(secret, self.store, fail_afterwards).receive(*request_of(event("A", 1)))
        self.assertEqual(response.status, 500)
        self.assertEqual(self.rows("select * from states"), [])
        self.assertEqual(self.stored(), [])

    def test_remembers_the_last_thousand_ids_of_a_shipment(self) -> None:
        known = "array(select 'e' || number from generate_series(0, 999) as number)"
        self.rows(f"insert into parcelhook_received (subject, event_ids) values ('A', {known})")
        for number in (1000, 1001):
            with self.store.transaction("A", f"e{number}") as transaction:
                transaction.remember(None)
        for number, is_seen in ((1, False), (2, True), (1001, True)):
            with self.store.transaction("A", f"e{number}") as transaction:
                self.assertEqual(transaction.is_seen, is_seen)

    def test_refuses_a_table_that_is_no_name(self) -> None:
        with self.assertRaises(ValueError):
            PostgresStore(lambda: None, table="a; drop table b")

    def test_refuses_connections_that_commit_each_statement(self) -> None:
        store = PostgresStore(lambda: psycopg.connect(url, autocommit=True))
        with self.assertRaises(ValueError), store.transaction("A", "e"):
            pass

    def test_keeps_the_order_between_processes(self) -> None:
        log = [event(shipment, sequence) for sequence in range(1, 7) for shipment in "AB"]
        chance = random.Random(1)
        sent = [*log, *log]
        chance.shuffle(sent)
        # Receivers share nothing but the database, as processes do.
        receivers = [Receiver(secret, self.store, self.write, client=ListFeed(*log)) for _ in range(4)]
        calls = [functools.partial(receivers[place % 4].receive, *request_of(each)) for place, each in enumerate(sent)]
        self.assertEqual({response.status for response in in_threads(calls)}, {204})
        for shipment in "AB":
            written = self.rows(f"select state from states where shipment = '{shipment}' order by id")
            self.assertEqual(written, [(f"STATE_{sequence}",) for sequence in range(1, 7)])


if __name__ == "__main__":
    unittest.main()
