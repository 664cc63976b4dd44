import { useState } from 'preact/hooks';
import type { PlacedOrder } from '../../../client/api/types.js';
import { Code } from '../../parts/Id.js';
import { Fact, LoadError, Loading } from '../../parts/Page.js';
import { Time } from '../../parts/Time.js';
import { useRead } from '../../poll.js';

/** The order as it was placed. It has personal data, so it is not read until it is opened. */
export function OrderCard({ trackingId }: { trackingId: string }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="panel order" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        <h2>Order</h2>
      </summary>
      {isOpen && <Placed trackingId={trackingId} />}
    </details>
  );
}

function Placed({ trackingId }: { trackingId: string }) {
  const { data: order, error } = useRead<PlacedOrder>(`/v1/shipments/${trackingId}`);
  if (!order) return error ? <LoadError error={error} /> : <Loading />;
  const { erasedAt, dropoffLocation: dropoff, package: parcel } = order;
  return (
    <>
      {erasedAt && (
        <p>
          The recipient's data and the contents were erased on <Time at={erasedAt} isExact />.
        </p>
      )}
      <dl class="facts">
        {erasedAt ? <Fact name="Country">{order.recipientLocation.country}</Fact> : <Recipient {...order} />}
        <Fact name="Package">
          {lines(
            parcel.packageType,
            !erasedAt && parcel.description,
            `${parcel.contentValue} ${parcel.valueCurrency}`,
            `${parcel.weight} ${parcel.weightUnit}`,
            `${parcel.length} × ${parcel.width} × ${parcel.height} ${parcel.dimensionsUnit}`,
          )}
          {parcel.items != null && (
            <Code text={JSON.stringify(parcel.items, null, 2)} label="Copy the items" wrap />
          )}
        </Fact>
        <Fact name="Drop-off">
          {lines(
            `${dropoff.street} ${[dropoff.number, dropoff.intNumber].filter(Boolean).join(', ')}`,
            dropoff.neighborhood,
            `${dropoff.zipCode} ${dropoff.subAdministrativeArea}`,
            `${dropoff.administrativeArea}, ${dropoff.country}`,
          )}
          <Time at={order.shipperDropoffDate} isExact />
        </Fact>
        <Fact name="Delivery expected">
          <Time at={order.expectedDeliveryDate} isExact />
        </Fact>
        {order.lotId && <Fact name="Lot">{order.lotId}</Fact>}
        <Fact name="Accepted">
          <Time at={order.acceptedAt} isExact />
        </Fact>
      </dl>
    </>
  );
}

function Recipient({
  recipientInformation: person,
  recipientLocation: place,
}: Pick<PlacedOrder, 'recipientInformation' | 'recipientLocation'>) {
  return (
    <>
      <Fact name="Recipient">{lines(person.fullName, person.phone, person.email)}</Fact>
      <Fact name="Address">
        {lines(
          `${place.street} ${[place.number, place.intNumber].filter(Boolean).join(', ')}`,
          place.neighborhood,
          `${place.postalCode} ${place.subAdministrativeArea}`,
          `${place.administrativeArea}, ${place.country}`,
          place.lat !== null && place.lng !== null && `${place.lat}, ${place.lng}`,
        )}
      </Fact>
      {place.reference && <Fact name="Landmark">{place.reference}</Fact>}
      {place.notes && <Fact name="Notes">{place.notes}</Fact>}
    </>
  );
}

const lines = (...texts: (string | null | undefined | false)[]) =>
  texts.flatMap((text, index) => (text ? [<span key={index}>{text}</span>] : []));
