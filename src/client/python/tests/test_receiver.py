from __future__ import annotations

import functools
import json
import logging
import random
import threading
import unittest
from datetime import datetime, timezone
from typing import Any

from parcelhook import Context, MemoryStore, ParcelhookError, Receiver

from .support import ListFeed, event, event_id, in_threads, other_secret, request_of, secret, signed

start = datetime(2026, 11, 25, tzinfo=timezone.utc)


class Recorder:
    """A callback; the states it was called with, by shipment. `fails` is called first."""

    def __init__(self) -> None:
        self.states: dict[str, list[str]] = {}
        self.contexts: list[Context] = []
        self.fails: Any = lambda notification: None

    def __call__(self, notification: dict[str, Any], context: Context) -> None:
        self.fails(notification)
        self.states.setdefault(notification["tracking_id"], []).append(notification["state"])
        self.contexts.append(context)


def states(count: int) -> list[str]:
    return [f"STATE_{sequence}" for sequence in range(1, count + 1)]


class Receiving(unittest.TestCase):
    def setUp(self) -> None:
        self.recorder = Recorder()
        self.feed = ListFeed()

    def receiver(self, **options: Any) -> Receiver:
        return Receiver(**{"secret": secret, "store": MemoryStore(), "on_notification": self.recorder, **options})

    def with_feed(self, *events: dict[str, Any], **options: Any) -> Receiver:
        self.feed.log += events
        return self.receiver(client=self.feed, **options)

    def test_handles_each_event_once(self) -> None:
        receiver = self.receiver()
        for _ in range(3):
            self.assertEqual(receiver.receive(*request_of(event("A", 1))).status, 204)
        self.assertEqual(self.recorder.states, {"A": states(1)})
        self.assertEqual(self.recorder.contexts, [Context("A-1", 1)])

    def test_handles_once_what_has_no_sequence(self) -> None:
        receiver = self.receiver()
        headers, body = request_of(event("A", 1))
        del headers["Parcelhook-Sequence"]
        for _ in range(2):
            self.assertEqual(receiver.receive(headers, body).status, 204)
        self.assertEqual(self.recorder.contexts, [Context("A-1", None)])

    def test_refuses_what_is_not_signed(self) -> None:
        headers, body = request_of(event("A", 1))
        response = self.receiver(secret=[other_secret]).receive(headers, body)
        self.assertEqual(response, (400, "no signature matches: wrong secret or changed body"))
        self.assertEqual(self.recorder.states, {})

    def test_echoes_a_challenge_but_handles_a_notification_that_has_its_header(self) -> None:
        receiver = self.receiver()
        challenge = {"webhook-challenge": "echo-me"}
        self.assertEqual(receiver.receive(*signed("c1", b"{}", **challenge)), (200, "echo-me"))
        headers, body = request_of(event("A", 1))
        self.assertEqual(receiver.receive({**headers, **challenge}, body).status, 204)
        self.assertEqual(self.recorder.states, {"A": states(1)})

    def test_refuses_an_empty_secret_at_once(self) -> None:
        for empty in ("", "whsec_", []):
            with self.assertRaises(ValueError):
                self.receiver(secret=empty)

    def test_drops_an_overtaken_state_without_a_feed(self) -> None:
        receiver = self.receiver()
        for sequence in (1, 3, 2, 4, 1):
            listed = {**event("A", sequence), "eventId": event_id(sequence)}
            self.assertEqual(receiver.receive(*request_of(listed)).status, 204)
        self.assertEqual(self.recorder.states, {"A": ["STATE_1", "STATE_3", "STATE_4"]})
        self.assertEqual([context.missing for context in self.recorder.contexts], [None, (2, 2), None])

    def test_drops_no_later_state_for_a_sequence_that_was_changed_on_the_way(self) -> None:
        receiver = self.receiver()
        for shipment, id_of in (("A", event_id), ("B", lambda sequence: f"own-{sequence}")):
            for sequence, said in ((1, 999_999_999), (2, 2), (1, 3), (3, 3)):
                listed = {**event(shipment, sequence), "eventId": id_of(sequence)}
                self.assertEqual(receiver.receive(*request_of(listed, said)).status, 204)
        self.assertEqual(self.recorder.states, {"A": states(3), "B": states(3)})

    def test_handles_what_is_said_to_be_overtaken_unless_the_feed_has_a_later_one_that_was(self) -> None:
        log = [event("A", sequence) for sequence in (1, 2, 3, 4)]
        receiver = self.with_feed(*log)
        for place, said in ((0, 1), (2, 2), (1, 2), (3, 1)):
            self.assertEqual(receiver.receive(*request_of(log[place], said)).status, 204)
        self.assertEqual(self.recorder.states, {"A": ["STATE_1", "STATE_3", "STATE_4"]})
        self.assertEqual(receiver.reconcile(start), 0)

    def test_fills_a_gap_from_the_feed_in_order(self) -> None:
        log = [event(shipment, sequence) for sequence in range(1, 7) for shipment in "AB"]
        receiver = self.with_feed(*log)
        for sequence in (1, 5, 3, 6):
            self.assertEqual(receiver.receive(*request_of(event("A", sequence))), (204, ""))
        self.assertEqual(self.recorder.states, {"A": states(6)})
        sources = [context.source for context in self.recorder.contexts]
        self.assertEqual(sources, ["REQUEST", "FEED", "FEED", "FEED", "REQUEST", "REQUEST"])
        self.assertEqual({query["tracking_id"] for query in self.feed.queries}, {"A"})

    def test_reads_no_feed_where_nothing_is_missing(self) -> None:
        receiver = self.with_feed(*[event("A", sequence) for sequence in (1, 2, 3)])
        for sequence in (1, 2, 2, 1, 3):
            receiver.receive(*request_of(event("A", sequence)))
        self.assertEqual(self.feed.queries, [])

    def test_skips_what_the_log_no_longer_holds(self) -> None:
        receiver = self.with_feed(event("A", 4), event("A", 5))
        self.assertEqual(receiver.receive(*request_of(event("A", 5))).status, 204)
        self.assertEqual(self.recorder.states, {"A": ["STATE_4", "STATE_5"]})
        self.assertEqual([context.missing for context in self.recorder.contexts], [(1, 3), None])

    def test_asks_to_be_sent_again_what_the_feed_does_not_show_yet(self) -> None:
        errors: list[Exception] = []
        receiver = self.with_feed(event("A", 1), on_error=errors.append)
        self.assertEqual(receiver.receive(*request_of(event("A", 3))).status, 500)
        self.assertEqual(self.recorder.states, {})
        self.assertIn("has no event A-3", str(errors))
        self.feed.log += [event("A", 2), event("A", 3)]
        self.assertEqual(receiver.receive(*request_of(event("A", 3))).status, 204)
        self.assertEqual(self.recorder.states, {"A": states(3)})

    def test_waits_for_no_feed_that_never_has_the_event_or_refuses(self) -> None:
        errors: list[Exception] = []
        receiver = self.with_feed(on_error=errors.append)
        headers, body = request_of(event("A", 3))
        self.assertEqual(receiver.receive({**headers, "Parcelhook-Attempt": "3"}, body).status, 204)
        self.feed.refusal = ParcelhookError("No.", "FORBIDDEN", status=403)
        self.assertEqual(receiver.receive(*request_of(event("A", 6))).status, 204)
        self.assertEqual([context.missing for context in self.recorder.contexts], [(1, 2), (4, 5)])
        self.assertEqual(len(errors), 2)
        self.feed.refusal = ParcelhookError("No.", "UNAVAILABLE", status=503)
        self.assertEqual(receiver.receive(*request_of(event("A", 9))).status, 500)

    def test_counts_as_handled_only_what_the_callback_ended_without_an_error(self) -> None:
        receiver = self.with_feed(*[event("A", sequence) for sequence in (1, 2, 3)])

        def fail(notification: dict[str, Any]) -> None:
            if notification["state"] == "STATE_2":
                raise RuntimeError(notification["label_id"])

        self.recorder.fails = fail
        with self.assertLogs("parcelhook", logging.DEBUG) as logs:
            response = receiver.receive(*request_of(event("A", 3)))
        self.assertEqual(response, (500, "The notification was not handled."))
        self.assertEqual(self.recorder.states, {"A": states(1)})
        text = "\n".join(logs.output)
        self.assertIn("a notification was not handled: RuntimeError", text)
        self.assertIn("test_receiver.py", text)
        self.assertNotIn("ORDER-1", text)
        self.recorder.fails = lambda notification: None
        receiver.receive(*request_of(event("A", 3)))
        self.assertEqual(self.recorder.states, {"A": states(3)})

    def test_handles_one_event_of_a_shipment_at_a_time_and_other_shipments_meanwhile(self) -> None:
        receiver = self.receiver()
        both_inside = threading.Barrier(2, timeout=20)
        busy: set[str] = set()

        def enter(notification: dict[str, Any]) -> None:
            shipment = notification["tracking_id"]
            self.assertNotIn(shipment, busy)
            busy.add(shipment)
            both_inside.wait()
            busy.discard(shipment)

        self.recorder.fails = enter
        requests = [request_of(event(shipment, 1)) for shipment in "AB" for _ in range(4)]
        responses = in_threads([functools.partial(receiver.receive, *each) for each in requests])
        self.assertEqual({response.status for response in responses}, {204})
        self.assertEqual(self.recorder.states, {"A": states(1), "B": states(1)})

    def test_fetches_its_interests_alone(self) -> None:
        receiver = self.with_feed(
            *[event("A", sequence) for sequence in (1, 2, 3, 4)], interests=["STATE_1", "STATE_3"]
        )
        receiver.receive(*request_of(event("A", 3)))
        receiver.reconcile(start)
        self.assertEqual(self.recorder.states, {"A": ["STATE_1", "STATE_3"]})
        self.assertEqual([context.missing for context in self.recorder.contexts], [None, None])

    def test_passes_notices_and_tests_to_their_own_callbacks_or_ignores_them(self) -> None:
        tests: list[dict[str, Any]] = []
        notices: list[tuple[dict[str, Any], Context]] = []
        notice = {"state": "WEBHOOK_FAILING", "webhook_id": "w"}
        sent = signed("n1", json.dumps(notice).encode(), **{"Parcelhook-Sequence": "1"})
        self.assertEqual(self.receiver().receive(*sent).status, 204)
        receiver = self.receiver(on_notice=lambda *given: notices.append(given), on_test=tests.append)
        for _ in range(2):
            self.assertEqual(receiver.receive(*sent).status, 204)
        self.assertEqual(notices, [(notice, Context("n1", None))])
        for number in range(2):
            test = signed(f"t{number}", request_of(event("TEST", 1))[1], **{"Parcelhook-Sequence": "1"})
            self.assertEqual(receiver.receive(*test).status, 204)
            self.assertEqual(self.receiver().receive(*test).status, 204)
        self.assertEqual(len(tests), 2)
        self.assertEqual(self.recorder.states, {})

    def test_reconciles_what_no_later_notification_shows_to_be_missing(self) -> None:
        log = [event(shipment, sequence) for sequence in (1, 2, 3) for shipment in "AB"]
        receiver = self.with_feed(*log)
        receiver.receive(*request_of(event("A", 1)))
        self.assertEqual(receiver.reconcile(start), 5)
        self.assertEqual(self.recorder.states, {"A": states(3), "B": states(3)})
        self.assertEqual(self.feed.queries[0]["from_time"], start)
        self.feed.log.append(event("A", 4))
        self.assertEqual(receiver.reconcile(start), 1)
        self.assertEqual(receiver.reconcile(start), 0)
        with self.assertRaises(ValueError):
            self.receiver().reconcile(start)

    def test_reconciles_again_from_the_event_that_failed(self) -> None:
        receiver = self.with_feed(*[event("A", sequence) for sequence in (1, 2, 3)])

        def fail(notification: dict[str, Any]) -> None:
            if notification["state"] == "STATE_3":
                raise RuntimeError

        self.recorder.fails = fail
        with self.assertRaises(RuntimeError):
            receiver.reconcile(start)
        self.recorder.fails = lambda notification: None
        self.assertEqual(receiver.reconcile(start), 1)
        self.assertEqual(self.recorder.states, {"A": states(3)})

    def test_is_right_in_the_end_whatever_was_doubled_shuffled_dropped_and_replayed(self) -> None:
        for seed in range(20):
            with self.subTest(seed=seed):
                chance = random.Random(seed)
                self.recorder, self.feed = Recorder(), ListFeed()
                log = [event(shipment, sequence) for sequence in range(1, 9) for shipment in "ABC"]
                receiver = self.with_feed(*log, on_error=lambda _error: None)
                self.recorder.fails = lambda _notification, chance=chance: 1 // int(chance.random() > 0.1)
                sent = [each for each in log for _ in range(chance.choice([0, 1, 1, 2]))]
                chance.shuffle(sent)
                in_threads([functools.partial(receiver.receive, *request_of(each)) for each in sent])
                self.recorder.fails = lambda _notification: None
                receiver.reconcile(start)
                self.assertEqual(self.recorder.states, {shipment: states(8) for shipment in "ABC"})


class Memory(unittest.TestCase):
    def test_forgets_the_longest_unchanged_shipment_beyond_its_bound(self) -> None:
        store = MemoryStore(max_shipments=2)
        for sequence, subject in enumerate("ABAC", 1):
            with store.transaction(subject, f"e{sequence}") as transaction:
                transaction.remember(sequence)
        known = {}
        for subject in "ABC":
            with store.transaction(subject, "e1") as transaction:
                known[subject] = (transaction.is_seen, transaction.last_sequence)
        self.assertEqual(known, {"A": (True, 3), "B": (False, 0), "C": (False, 4)})
        self.assertEqual(store._busy, {})


if __name__ == "__main__":
    unittest.main()
