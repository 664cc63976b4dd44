from __future__ import annotations

import base64
import unittest
from datetime import datetime, timedelta, timezone
from email.message import Message

from parcelhook import InvalidSignature, verify

from .support import other_secret, secret, signed

body = '{"state":"CREATED","label_id":"Pédido 1"}'.encode()


class Verify(unittest.TestCase):
    def refused(self, headers: object, raw_body: object = body, **options: object) -> str:
        with self.assertRaises(InvalidSignature) as caught:
            verify(headers, raw_body, **{"secret": secret, **options})  # type: ignore[arg-type]
        self.assertEqual(caught.exception.code, "INVALID_SIGNATURE")
        return str(caught.exception)

    def test_accepts_the_example_of_standard_webhooks(self) -> None:
        headers = {
            "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "webhook-timestamp": "1614265330",
            "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        }
        at = datetime.fromtimestamp(1614265330, timezone.utc)
        given = verify(headers, '{"test": 2432232314}', "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", now=at)
        self.assertEqual(given, {"test": 2432232314})

    def test_returns_the_notification_for_each_form_of_headers_and_body(self) -> None:
        headers, _ = signed("e1", body)
        message = Message()
        for name, value in headers.items():
            message[name] = value
        for form in (headers, message, list(headers.items()), {name.upper(): value for name, value in headers.items()}):
            for raw in (body, bytearray(body), memoryview(body), body.decode()):
                self.assertEqual(verify(form, raw, secret)["label_id"], "Pédido 1")

    def test_accepts_any_matching_pair_of_secret_and_signature(self) -> None:
        headers, _ = signed("e1", body, (other_secret, secret))
        verify(headers, body, secret)
        verify(headers, body, other_secret)
        headers, _ = signed("e1", body)
        verify(headers, body, [other_secret, secret])
        self.refused(headers, secret=other_secret)

    def test_reads_secrets_as_node_does(self) -> None:
        headers, _ = signed("e1", body, ("whsec_-_-_+/==",))
        verify(headers, body, "+/+/+/")
        for empty in ("", "whsec_", "whsec_=", []):
            with self.assertRaises(ValueError):
                verify(headers, body, empty)

    def test_refuses_what_was_changed_or_is_missing(self) -> None:
        headers, _ = signed("e1", body)
        self.assertIn("no signature matches", self.refused(headers, body + b" "))
        self.assertIn("no signature matches", self.refused({**headers, "Webhook-Id": "e2"}))
        without_version = headers["webhook-signature"][3:]
        self.assertIn("no signature matches", self.refused({**headers, "webhook-signature": without_version}))
        self.assertIn("no signature matches", self.refused({**headers, "webhook-signature": "v1,\udcff\u2019"}))
        self.assertIn("no signature matches", self.refused({**headers, "Webhook-Id": "\ud800"}))
        for name in headers:
            absent = {other: value for other, value in headers.items() if other != name}
            expected = f"header {name.lower()} is missing"
            self.assertEqual(self.refused(absent), expected)
            self.assertEqual(self.refused({**absent, name: ""}), expected)
            self.assertEqual(self.refused([*headers.items(), (name, "another")]), expected)

    def test_refuses_timestamps_that_are_old_ahead_or_none(self) -> None:
        headers, _ = signed("e1", body)
        at = datetime.fromtimestamp(int(headers["webhook-timestamp"]), timezone.utc)
        for seconds in (-300, 0, 300):
            verify(headers, body, secret, now=at + timedelta(seconds=seconds))
        for seconds in (-301, 301):
            self.assertIn("300 s away", self.refused(headers, now=at + timedelta(seconds=seconds)))
        self.refused(headers, now=at + timedelta(seconds=11), tolerance_seconds=10)
        self.refused(headers, tolerance_seconds=float("nan"))
        for text in ("soon", "-1", "1.5", "١٢٣", "1" * 13, " 1", "1\n"):
            self.assertIn("not a number", self.refused({**headers, "webhook-timestamp": text}))

    def test_refuses_bodies_that_are_no_json_object(self) -> None:
        for text in (b"", b"[]", b"1", b"{", b'{"a":NaN}', b"[" * 100_000, b"9" * 10_000):
            headers, _ = signed("e1", text)
            self.assertIn("not JSON", self.refused(headers, text))

    def test_says_nothing_of_the_secret(self) -> None:
        headers, _ = signed("e1", body)
        text = self.refused(headers, body + b"x")
        self.assertNotIn(base64.b64encode(bytes(range(32))).decode()[:8], text)


if __name__ == "__main__":
    unittest.main()
