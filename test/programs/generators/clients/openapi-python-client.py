import datetime
import json
import os

from generated import AuthenticatedClient
from generated.api.shipments import integrate_order
from generated.api.webhooks import create_webhook
from generated.models import (
    CreateWebhookResponse201,
    IntegrateOrderResponse201,
    Order,
    OrderPackage,
    OrderRecipientInformation,
    OrderRecipientLocation,
    WebhookRegistration,
)

client = AuthenticatedClient(base_url=os.environ["PARCELHOOK_URL"], token=os.environ["PARCELHOOK_TOKEN"])
key = os.environ["PARCELHOOK_KEY"]

created = create_webhook.sync(
    client=client,
    key=key,
    body=WebhookRegistration(interests=["DELIVERED"], target_address="https://example.com/hooks/generated"),
)
accepted = integrate_order.sync(
    client=client,
    key=key,
    body=Order(
        recipient_location=OrderRecipientLocation(
            street="Avenida Reforma",
            number="222",
            administrative_area="Ciudad de México",
            sub_administrative_area="Cuauhtémoc",
            country="MX",
            neighborhood="Juárez",
            postal_code="06600",
            lat=19.427,
            lng=-99.1677,
        ),
        shipper_tracking_id="ORDER-1001",
        shipper_dropoff_date=datetime.datetime(2030, 1, 15, 10, tzinfo=datetime.timezone.utc),
        expected_delivery_date=datetime.datetime(2030, 1, 17, 18, tzinfo=datetime.timezone.utc),
        recipient_information=OrderRecipientInformation(full_name="Ana Torres", phone="5512345678"),
        package=OrderPackage(
            package_type="UNIT",
            description="Books",
            content_value=1234567.89,
            value_currency="MXN",
            weight=1.2,
            weight_unit="KG",
            length=30,
            width=20,
            height=10,
            dimensions_unit="CM",
            items=[{"title": "Pedro Páramo"}],
        ),
    ),
)
assert isinstance(created, CreateWebhookResponse201), created
assert isinstance(accepted, IntegrateOrderResponse201), accepted
print(json.dumps({"webhookId": str(created.data.webhook_id), "trackingId": accepted.data.tracking_id}))
