"""The shapes of what is sent and received, as docs/api.md and `/openapi.json` have them. New fields may be added."""

from __future__ import annotations

from typing import Any, TypedDict


class _Recipient(TypedDict):
    fullName: str
    phone: str


class RecipientInformation(_Recipient, total=False):
    email: str | None


class _Location(TypedDict):
    street: str
    number: str
    administrativeArea: str
    subAdministrativeArea: str
    country: str
    neighborhood: str
    postalCode: str


class RecipientLocation(_Location, total=False):
    intNumber: str | None
    reference: str | None
    notes: str | None
    lat: float | None
    lng: float | None


class _Parcel(TypedDict):
    packageType: str
    description: str
    contentValue: float
    valueCurrency: str
    weight: float
    weightUnit: str
    length: float
    width: float
    height: float
    dimensionsUnit: str


class Package(_Parcel, total=False):
    items: Any


class _Order(TypedDict):
    recipientLocation: RecipientLocation
    shipperTrackingId: str
    shipperDropoffDate: str
    expectedDeliveryDate: str
    recipientInformation: RecipientInformation
    package: Package


class Order(_Order, total=False):
    """The dates are ISO 8601 with an offset."""

    lotId: str | None


class OrderResult(_Order):
    trackingId: str
    shipmentId: str
    processId: str
    lotId: str | None
    dropoffLocation: dict[str, Any]


class PlacedOrder(_Order):
    """`erasedAt` is when the recipient's data was erased; None if it was not."""

    trackingId: str
    shipmentId: str
    lotId: str | None
    dropoffLocation: dict[str, Any]
    acceptedAt: str
    erasedAt: str | None


class HistoryEntry(TypedDict):
    state: str
    timestamp: int
    lat: float | None
    lng: float | None
    anomalies: Any
    evidences: list[Any]


class Tracking(TypedDict):
    """`state` is None and `history` empty until the shipment is created."""

    trackingId: str
    shipmentId: str
    shipperTrackingId: str
    state: str | None
    history: list[HistoryEntry]


class RecordedEvent(TypedDict):
    eventId: str


class Event(TypedDict):
    """`eventId` is the notification's `webhook-id`."""

    eventId: str
    sequence: int
    trackingId: str
    state: str
    recordedAt: str
    notification: dict[str, Any]


class EventPage(TypedDict):
    """`nextCursor` is never None: pass it as `after`."""

    events: list[Event]
    nextCursor: str


class _Webhook(TypedDict):
    webhookId: str
    interests: list[str]
    targetAddress: str
    status: str
    disabledReason: str | None
    name: str | None
    ordering: str
    supersede: bool
    headers: dict[str, str]
    description: str
    maxPerSecond: int | None
    notifyEmail: str | None
    createdAt: str
    updatedAt: str
    pausedBy: str | None
    unknownInterests: list[str]


class Webhook(_Webhook, total=False):
    """`secret` is there only if the webhook was made now, and you gave none."""

    secret: str
