import datetime
import json
import os

from openapi_client import (
    ApiClient,
    Configuration,
    Order,
    OrderPackage,
    OrderRecipientInformation,
    OrderRecipientLocation,
    ShipmentsApi,
    WebhookRegistration,
    WebhooksApi,
)

key = os.environ["PARCELHOOK_KEY"]
configuration = Configuration(host=os.environ["PARCELHOOK_URL"], access_token=os.environ["PARCELHOOK_TOKEN"])

with ApiClient(configuration) as client:
    created = WebhooksApi(client).create_webhook(
        WebhookRegistration(interests=["DELIVERED"], targetAddress="https://example.com/hooks/generated"),
        key=key,
    )
    accepted = ShipmentsApi(client).integrate_order(
        Order(
            recipientLocation=OrderRecipientLocation(
                street="Avenida Reforma",
                number="222",
                administrativeArea="Ciudad de México",
                subAdministrativeArea="Cuauhtémoc",
                country="MX",
                neighborhood="Juárez",
                postalCode="06600",
                lat=19.427,
                lng=-99.1677,
            ),
            shipperTrackingId="ORDER-1001",
            shipperDropoffDate=datetime.datetime(2030, 1, 15, 10, tzinfo=datetime.timezone.utc),
            expectedDeliveryDate=datetime.datetime(2030, 1, 17, 18, tzinfo=datetime.timezone.utc),
            recipientInformation=OrderRecipientInformation(fullName="Ana Torres", phone="5512345678"),
            package=OrderPackage(
                packageType="UNIT",
                description="Books",
                contentValue=1234567.89,
                valueCurrency="MXN",
                weight=1.2,
                weightUnit="KG",
                length=30,
                width=20,
                height=10,
                dimensionsUnit="CM",
                items=[{"title": "Pedro Páramo"}],
            ),
        ),
        key=key,
    )
print(json.dumps({"webhookId": str(created.data.webhook_id), "trackingId": accepted.data.tracking_id}))
