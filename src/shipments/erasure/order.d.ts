import type { Order } from '../order.js';
/**
 * The order without what tells of its recipient: name, phone, e-mail, address, and free text. What stays are
 * identifiers, dates, measures and the country. It still has the form of an order.
 */
export declare const eraseOrder: (order: Order) => Order;
