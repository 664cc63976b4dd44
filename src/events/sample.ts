import { sampleShipment } from '../deliveries/log/notification-docs.js';
import { renderNotification } from './notification.js';

/** A notification that nobody takes for a real one, in the form of the specification. */
export const renderSample = (state: string, timestampMs: number): string =>
  renderNotification(sampleShipment, { state }, timestampMs);
