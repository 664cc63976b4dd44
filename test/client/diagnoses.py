"""Reads inputs of `diagnose` as JSON, and prints its diagnoses under the names that they have in Node."""

import json
import sys
from datetime import datetime, timezone

from parcelhook import diagnose


def in_node(finding):
    difference = finding.difference and vars(finding.difference)
    fields = {
        "header": finding.header,
        "value": finding.value,
        "clockAheadSeconds": finding.clock_ahead_seconds,
        "problem": finding.problem,
    }
    if finding.cause == "BODY_CHANGED":
        fields.update(changes=list(finding.changes), difference=difference)
    given = {name: value for name, value in fields.items() if value is not None or name == "difference"}
    return {"cause": finding.cause, "certain": finding.certain, "message": finding.message, **given}


diagnoses = [
    diagnose(
        given["headers"],
        given["rawBody"],
        given["secret"],
        previous_secret=given["previousSecret"],
        computed=given["computed"],
        now=datetime.fromtimestamp(given["nowSeconds"], timezone.utc),
    )
    for given in json.load(sys.stdin)
]
found = [
    {"ok": each.ok, "explained": each.explained, "findings": [in_node(finding) for finding in each.findings]}
    for each in diagnoses
]
print(json.dumps(found))
