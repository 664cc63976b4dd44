/**
 * What a replay sends of a webhook's event: what never was owed, what failed, what is held, what waits for a retry, and
 * what another replay owed that was cancelled.
 * Needs `d` (the delivery in the log) and `o` (in the outbox), one of them or both null, whether webhook `w` is
 * `callable`, and the parameter with the status asked for.
 */
export const missed = (status: string) => `case
    when d.delivery_id is not null then d.status = 'FAILED' and coalesce(${status}::text = 'FAILED', true)
    when o.delivery_id is null then ${status}::text is null
    when o.withdrawn then coalesce(${status}::text = 'FAILED', true)
    when o.status = 'SENDING' or o.trigger = 'REPLAY' then false
    when o.waits_turn or o.due_at <= now() and not w.callable then coalesce(${status}::text = 'HELD', true)
    else o.status = 'RETRY' and o.due_at > now() and coalesce(${status}::text = 'PENDING', true)
  end`;

/** The delivery of event `e` to webhook `webhookId` in the log, as `d`, and in the outbox, as `o`. */
export const deliveryOf = (event: string, webhookId: string, condition = 'true') => `
  left join lateral (
    select shipper_id, delivery_id, status from deliveries
     where ${condition} and shipper_id = ${event}.shipper_id and delivery_id = delivery_id(${event}.event_id, ${webhookId})
     limit 1) d on true
  left join lateral (
    select shipper_id, delivery_id, status, trigger, waits_turn, due_at, replay_id, withdrawn from outbox
     where ${condition} and shipper_id = ${event}.shipper_id and delivery_id = delivery_id(${event}.event_id, ${webhookId})
     limit 1) o on true`;

/** Events of a shipper, or of one shipment if that is not null, that fulfil a condition on their id, oldest first. */
export const eventsIn = (
  condition: string,
  of: { shipperId: string; shipmentId: string; limit: string },
) => `(select shipper_id, event_id, shipment_id, sequence, state, erasure from events
        where ${of.shipmentId}::uuid is null and shipper_id = ${of.shipperId} and shipment_id is not null and ${condition}
        order by event_id limit ${of.limit})
      union all
      (select * from (
         select shipper_id, event_id, shipment_id, sequence, state, erasure from events
          where shipment_id = ${of.shipmentId} offset 0) of_shipment
        where ${condition} order by event_id limit ${of.limit})`;
