import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.ShipmentsApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.Order;
import org.openapitools.client.model.OrderPackage;
import org.openapitools.client.model.OrderRecipientInformation;
import org.openapitools.client.model.OrderRecipientLocation;
import org.openapitools.client.model.WebhookRegistration;

public class Main {
  public static void main(String[] args) throws Exception {
    String key = System.getenv("PARCELHOOK_KEY");
    String token = System.getenv("PARCELHOOK_TOKEN");
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("PARCELHOOK_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));

    var created =
        new WebhooksApi(client)
            .createWebhook(
                new WebhookRegistration()
                    .interests(List.of("DELIVERED"))
                    .targetAddress("https://example.com/hooks/generated"),
                key);
    var accepted =
        new ShipmentsApi(client)
            .integrateOrder(
                new Order()
                    .recipientLocation(
                        new OrderRecipientLocation()
                            .street("Avenida Reforma")
                            .number("222")
                            .administrativeArea("Ciudad de México")
                            .subAdministrativeArea("Cuauhtémoc")
                            .country("MX")
                            .neighborhood("Juárez")
                            .postalCode("06600")
                            .lat(19.427)
                            .lng(-99.1677))
                    .shipperTrackingId("ORDER-1001")
                    .shipperDropoffDate(OffsetDateTime.parse("2030-01-15T10:00:00Z"))
                    .expectedDeliveryDate(OffsetDateTime.parse("2030-01-17T18:00:00Z"))
                    .recipientInformation(
                        new OrderRecipientInformation().fullName("Ana Torres").phone("5512345678"))
                    ._package(
                        new OrderPackage()
                            .packageType("UNIT")
                            .description("Books")
                            .contentValue(1234567.89)
                            .valueCurrency("MXN")
                            .weight(1.2)
                            .weightUnit("KG")
                            .length(30.0)
                            .width(20.0)
                            .height(10.0)
                            .dimensionsUnit("CM")
                            .items(List.of(Map.of("title", "Pedro Páramo")))),
                key,
                null,
                null);
    System.out.printf(
        "{\"webhookId\": \"%s\", \"trackingId\": \"%s\"}%n",
        created.getData().getWebhookId(), accepted.getData().getTrackingId());
  }
}
