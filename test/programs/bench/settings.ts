import type { Shape } from './shapes.js';

export interface Settings {
  quick: boolean;
  hasRedis: boolean;
  /** Forms of deployment to measure; undefined: all. */
  shapes: ReadonlySet<string> | undefined;
  webhooks: number;
  clients: number;
  /** Orders in a closed loop, and shipments for which events are recorded. */
  orders: number;
  burst: number;
  rateSeconds: number;
  /** Orders a second, instead of the usual loads at fixed rates. */
  orderRates: number[] | undefined;
  hangSeconds: number;
  idleSeconds: number;
  idleSettleSeconds: number;
  /** The starts after the very first one. */
  starts: number;
}

export const warmUpOrders = ({ orders }: Settings): number => Math.max(300, Math.round(orders / 4));

export function chosen({ shapes, quick, hasRedis }: Settings, all: Shape[], ofQuick: Shape[]): Shape[] {
  const wanted = shapes ? all.filter(({ key }) => shapes.has(key)) : quick ? ofQuick : all;
  return wanted.filter(({ queue }) => hasRedis || queue === 'postgres');
}
