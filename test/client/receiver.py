"""A receiver as a shipper would write it, whose callback fails now and then. A line to stdin makes it reconcile and
print the states that it has of each shipment, in the order in which it was told of them."""

import json
import os
import random
import sys
import threading
from datetime import datetime, timezone
from http.server import ThreadingHTTPServer

from parcelhook import Client, MemoryStore, PostgresStore, Receiver

settings = json.loads(os.environ["SETTINGS"])
chance = random.Random(settings["seed"])
started_at = datetime.fromtimestamp(settings["startedAt"] / 1000, timezone.utc)
is_reliable = threading.Event()
states: "dict[str, list[str]]" = {}


def remember(notification, context):
    if context.transaction is None:
        states.setdefault(notification["tracking_id"], []).append(notification["state"])
    else:
        context.transaction.execute(
            "insert into states (tracking_id, state) values (%s, %s)",
            (notification["tracking_id"], notification["state"]),
        )


def on_notification(notification, context):
    if context.transaction is not None:
        remember(notification, context)  # is rolled back by a failure
    if not is_reliable.is_set() and chance.random() < 0.1:
        raise RuntimeError
    if context.transaction is None:
        remember(notification, context)


def connect():
    import psycopg

    return psycopg.connect(settings["database"])


def stored_states():
    if settings["database"] is None:
        return states
    with connect() as connection:
        rows = connection.execute("select tracking_id, state from states order by id").fetchall()
    found = {}
    for tracking_id, state in rows:
        found.setdefault(tracking_id, []).append(state)
    return found


if settings["database"] is None:
    store = MemoryStore()
else:
    store = PostgresStore(connect)
    store.create_tables()
    with connect() as connection:
        connection.execute(
            "create table if not exists states (id bigint generated always as identity, tracking_id text, state text)"
        )
receiver = Receiver(
    settings["secret"], store, on_notification, client=Client(settings["url"], **settings["credentials"])
)
server = ThreadingHTTPServer(("127.0.0.1", 0), receiver.handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"port": server.server_address[1]}), flush=True)
for _ in sys.stdin:
    is_reliable.set()
    receiver.reconcile(started_at)
    print(json.dumps({"states": stored_states()}), flush=True)
