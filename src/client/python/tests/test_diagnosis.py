from __future__ import annotations

import json
import random
import re
import time
import unittest
from datetime import datetime, timedelta, timezone
from typing import Any

from parcelhook import Diagnosis, InvalidSignature, diagnose, parse_headers, verify
from parcelhook.diagnosis.js import parsed, written
from parcelhook.signature import sign

from .support import notification, other_secret, secret

now = datetime(2026, 11, 22, 12, tzinfo=timezone.utc)
now_seconds = int(now.timestamp())
milliseconds = f"{(now_seconds - 1) * 1000:012x}"
event_id = f"{milliseconds[:8]}-{milliseconds[8:]}-7abc-8def-0123456789ab"
sent = {**notification("PH1", "CREATED"), "label_id": "Pédido <1>/a", "lat": 19.43, "anomalies": {"wet": True}}
body = json.dumps(sent, separators=(",", ":"), ensure_ascii=False)
previous_secret = "whsec_" + "A" * 43 + "="


def signed(text: str = body, secrets: tuple[str, ...] = (secret,)) -> dict[str, str]:
    signatures = " ".join(sign(each, event_id, str(now_seconds), text.encode()) for each in secrets)
    return {"webhook-id": event_id, "webhook-timestamp": str(now_seconds), "webhook-signature": signatures}


signature = signed()["webhook-signature"]


def without(name: str) -> dict[str, str]:
    return {other: value for other, value in signed().items() if other != name}


def diagnosed(**changed: Any) -> Diagnosis:
    return diagnose(**{"headers": signed(), "raw_body": body, "secret": secret, "now": now, **changed})


def causes(**changed: Any) -> list[str]:
    """`cause`, or `cause problem`; in brackets if it is only likely."""
    texts = []
    for finding in diagnosed(**changed).findings:
        text = f"{finding.cause} {finding.problem}" if finding.problem else finding.cause
        texts.append(text if finding.certain else f"[{text}]")
    return texts


class Diagnosing(unittest.TestCase):
    def test_finds_nothing_in_a_good_notification(self) -> None:
        self.assertEqual(diagnosed(), Diagnosis(True, True, []))

    def test_names_the_cause(self) -> None:
        cases: list[tuple[dict[str, Any], list[str]]] = [
            ({"headers": without("webhook-id")}, ["HEADER_MISSING"]),
            ({"headers": ""}, ["NO_HEADERS"]),
            ({"headers": "host: localhost"}, ["HEADER_MISSING"] * 3),
            ({"headers": {**signed(), "webhook-timestamp": "soon"}}, ["TIMESTAMP_MALFORMED", "[WRONG_SECRET]"]),
            ({"headers": {**signed(), "webhook-timestamp": f"{now_seconds}000"}}, ["TIMESTAMP_MALFORMED"]),
            ({"now": now + timedelta(seconds=301)}, ["CLOCK_OFF"]),
            ({"now": now - timedelta(seconds=301)}, ["CLOCK_OFF"]),
            ({"secret": " "}, ["SECRET_MALFORMED EMPTY"]),
            ({"secret": signature[3:]}, ["SECRET_MALFORMED SIGNATURE"]),
            ({"secret": f"{secret}\n"}, ["SECRET_MALFORMED WHITESPACE"]),
            ({"secret": f"SECRET={secret}"}, ["SECRET_MALFORMED TEXT_BEFORE"]),
            ({"secret": secret * 2}, ["SECRET_MALFORMED PASTED_TWICE"]),
            ({"secret": secret[:26]}, ["[SECRET_MALFORMED TOO_SHORT]", "[WRONG_SECRET]"]),
            ({"secret": secret[6:]}, ["SECRET_WITHOUT_PREFIX"]),
            ({"secret": other_secret}, ["[WRONG_SECRET]"]),
            ({"headers": signed(body, (other_secret, secret))}, ["ROTATION_UNDER_WAY"]),
            ({"secret": other_secret, "previous_secret": secret}, ["PREVIOUS_SECRET"]),
            ({"headers": {**signed(), "webhook-signature": signature[3:]}}, ["SIGNATURE_MALFORMED"]),
            ({"headers": {**signed(), "webhook-id": event_id.upper()}}, ["ID_ALTERED"]),
            ({"headers": {**signed(body + " "), "content-length": "1"}}, ["[OTHER_DELIVERY]", "[WRONG_SECRET]"]),
            ({"raw_body": ""}, ["BODY_CONSUMED"]),
            ({"raw_body": "{}"}, ["BODY_CONSUMED"]),
            ({"raw_body": body.replace(',"evidences":[]', "")}, ["BODY_CHANGED"]),
            ({"raw_body": b"\xff"}, ["[BODY_CHANGED]", "[WRONG_SECRET]"]),
            ({"computed": signature[3:]}, ["WRONG_COMPUTATION"]),
        ]
        for changed, expected in cases:
            with self.subTest(changed=changed):
                self.assertEqual(causes(**changed), expected)

    def test_names_how_a_body_was_written_again_and_the_first_byte_that_differs(self) -> None:
        ways = [
            (json.dumps(sent), "as Python’s json.dumps does, letters beyond ASCII"),
            (json.dumps(sent, ensure_ascii=False, indent=2), "indented by 2 spaces"),
            (json.dumps(sent, sort_keys=True), "keys sorted"),
            (body + "\n", "white space was added at its end"),
            (body.encode("latin-1"), "it was written as Latin-1"),
            (json.dumps(body), "as a JSON string"),
        ]
        for raw_body, way in ways:
            (finding,) = diagnosed(raw_body=raw_body).findings
            self.assertEqual((finding.cause, finding.certain), ("BODY_CHANGED", True))
            self.assertIn(way, finding.message)
        (finding,) = diagnosed(raw_body=json.dumps(sent)).findings
        assert finding.difference is not None
        self.assertEqual(finding.difference.offset, body.index(":") + 1)
        self.assertIn('"state": "', finding.difference.given)

    def test_says_how_far_the_clock_is_off(self) -> None:
        (finding,) = diagnosed(now=now - timedelta(seconds=400)).findings
        self.assertEqual(finding.clock_ahead_seconds, -400)
        self.assertIn("400 s behind", finding.message)

    def test_is_ok_exactly_if_verify_takes_the_request(self) -> None:
        for given in (secret, other_secret):
            for text in (body, body + "\n"):
                for seconds in (0, 301):
                    at = now + timedelta(seconds=seconds)
                    try:
                        verify(signed(), text, given, now=at)
                        is_taken = True
                    except InvalidSignature:
                        is_taken = False
                    diagnosis = diagnosed(raw_body=text, secret=given, now=at)
                    self.assertEqual(diagnosis.ok, is_taken)
                    self.assertEqual(diagnosis.findings == [], is_taken)

    def test_raises_nothing_and_shows_no_secret_whatever_it_is_given(self) -> None:
        chance = random.Random(1)
        letters = "\0\n\r\t\"'\\,:={}[]<>-_/+%&#;0aé€😀\ud800\ufeff "

        def text() -> str:
            return "".join(chance.choice(letters) for _ in range(chance.randrange(40)))

        for _ in range(300):
            headers = chance.choice([text(), {"webhook-id": text(), "webhook-timestamp": text()}])
            given = secret + text()
            diagnosis = diagnosed(headers=headers, raw_body=text(), secret=given, computed=text())
            for finding in diagnosis.findings:
                self.assertNotIn(secret[6:], finding.message)
                self.assertTrue(re.fullmatch(r"[A-Zw][^\n]*\.", finding.message))

    def test_takes_no_longer_for_a_request_made_to_keep_it_busy(self) -> None:
        length = 200_000  # the square of it takes minutes
        for changed in (
            {"raw_body": f"x{' ' * length}x"},
            {"headers": f"webhook-id: {' ' * length}x"},
            {"headers": {**signed(), "webhook-id": f"x{'>' * length}x"}},
            {"raw_body": '{"tracking_id":' + "[" * 500 + "]" * 500 + "}"},
            {"raw_body": '{"tracking_id":' + "[" * length + "]" * length + "}"},
        ):
            diagnosis = diagnosed(**changed)
            self.assertFalse(diagnosis.explained)
            self.assertNotEqual(diagnosis.findings, [])

    def test_takes_no_longer_for_long_ids_and_many_signatures(self) -> None:
        ids = ["Ab" * 100_000 + end for end in ("", '"', " ", "x")]
        signatures = " ".join(f"v1,{place:A>43}=" for place in range(20_000))
        times = [str(now_seconds + more) for more in range(4)]
        raw_body = '\ufeff {"webhook_id":1,"tracking_id":"&amp;lt;\u00c3\u00a9"} \r\n'
        for changed in ({"webhook-id": ids}, {"webhook-signature": signatures}):
            headers = {**signed(), "webhook-id": ["a", "B", "cD", '"e'], "webhook-timestamp": times, **changed}
            before = time.process_time()
            diagnosis = diagnosed(headers=headers, raw_body=raw_body, previous_secret=previous_secret)
            self.assertLess(time.process_time() - before, 0.5)
            self.assertFalse(diagnosis.explained)


class Pasted(unittest.TestCase):
    def test_reads_headers_in_every_form(self) -> None:
        pairs = list(signed().items())
        forms = [
            "\r\n".join(f"{name.upper()}:{value}" for name, value in pairs),
            "> POST /hook HTTP/1.1\n" + "\n".join(f"> {name}: {value}" for name, value in pairs),
            "curl http://localhost \\\n" + "\n".join(f"  -H '{name}: {value}' \\" for name, value in pairs),
            "\n".join(f"HTTP_{name.upper().replace('-', '_')}={value}" for name, value in pairs),
            json.dumps({"headers": dict(pairs), "body": ""}),
            json.dumps(pairs),
            json.dumps([text for pair in pairs for text in pair]),
            "{\n" + "\n".join(f"  '{name}': '{value}'," for name, value in pairs) + "\n}",
        ]
        for form in forms:
            found = parse_headers(form)
            self.assertEqual({name: found.get(name) for name, _ in pairs}, {name: [value] for name, value in pairs})
        self.assertEqual(parse_headers("a: 1\nA: 2\nb: 3\nb: 3"), {"a": ["1", "2"], "b": ["3"]})


class JavaScript(unittest.TestCase):
    def test_writes_json_as_javascript_does(self) -> None:
        forms = [
            ("[1.0,1e21,1e20,1e-7,1e-6,-0.0,123.5]", "[1,1e+21,100000000000000000000,1e-7,0.000001,0,123.5]"),
            ('{"b":1,"10":2,"9":3}', '{"9":3,"10":2,"b":1}'),
            ('"\\ud800\\u00e9\\u007f\\/"', '"\\ud800é\x7f/"'),
        ]
        for given, expected in forms:
            self.assertEqual(written(parsed(given)), expected)
        self.assertIsNone(parsed("[NaN]"))


if __name__ == "__main__":
    unittest.main()
