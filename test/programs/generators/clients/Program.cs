using System.Collections.Generic;
using Org.OpenAPITools.Api;
using Org.OpenAPITools.Client;
using Org.OpenAPITools.Model;

string Setting(string name) => System.Environment.GetEnvironmentVariable(name)!;
var key = Setting("PARCELHOOK_KEY");
var configuration = new Configuration
{
    BasePath = Setting("PARCELHOOK_URL"),
    AccessToken = Setting("PARCELHOOK_TOKEN"),
};

var created = new WebhooksApi(configuration).CreateWebhook(
    new WebhookRegistration(
        interests: new List<string> { "DELIVERED" },
        targetAddress: "https://example.com/hooks/generated"),
    key);
var accepted = new ShipmentsApi(configuration).IntegrateOrder(
    new Order(
        recipientLocation: new OrderRecipientLocation(
            street: "Avenida Reforma",
            number: "222",
            administrativeArea: "Ciudad de México",
            subAdministrativeArea: "Cuauhtémoc",
            country: "MX",
            neighborhood: "Juárez",
            postalCode: "06600",
            lat: 19.427,
            lng: -99.1677),
        shipperTrackingId: "ORDER-1001",
        shipperDropoffDate: new System.DateTime(2030, 1, 15, 10, 0, 0, System.DateTimeKind.Utc),
        expectedDeliveryDate: new System.DateTime(2030, 1, 17, 18, 0, 0, System.DateTimeKind.Utc),
        recipientInformation: new OrderRecipientInformation(fullName: "Ana Torres", phone: "5512345678"),
        package: new OrderPackage(
            packageType: "UNIT",
            description: "Books",
            contentValue: 1234567.89,
            valueCurrency: "MXN",
            weight: 1.2,
            weightUnit: "KG",
            length: 30,
            width: 20,
            height: 10,
            dimensionsUnit: "CM",
            items: new[] { new Dictionary<string, string> { ["title"] = "Pedro Páramo" } })),
    key);
System.Console.WriteLine(
    $"{{\"webhookId\": \"{created.Data.WebhookId}\", \"trackingId\": \"{accepted.Data.TrackingId}\"}}");
