import type { Lane, Lanes, Shipper } from './lanes.js';

/**
 * The attempts in flight that an operator allows single shippers in this process. The lanes of such a shipper claim no
 * more than may start and nothing as it is recorded, and take turns for pages.
 */
export class ShipperLimits {
  /** `queueUpAlone` is called after each change of a lane. */
  constructor(
    readonly lanes: Lanes,
    readonly queueUpAlone: (lane: Lane) => void,
  ) {}

  /** Shippers that are left out have no limit. */
  set(limits: ReadonlyMap<string, number>): void {
    const before = this.lanes.limits;
    this.lanes.limits = limits;
    for (const shipper of this.#known([...before.keys(), ...limits.keys()])) {
      const max = limits.get(shipper.id);
      if (shipper.limit?.max === max) continue;
      shipper.setLimit(max);
      for (const lane of shipper.lanes) this.queueUpAlone(lane);
    }
  }

  /** The lanes of shippers that have as many attempts as they may: their claims are given back. */
  full(): Lane[] {
    if (this.lanes.limits.size === 0) return [];
    return this.#known(this.lanes.limits.keys()).flatMap((shipper) =>
      shipper.isAtLimit ? [...shipper.lanes] : [],
    );
  }

  /** Called after an attempt or a page of the lane. Lanes of its shipper that waited for room come first. */
  queueUp(lane: Lane): void {
    const waiting = lane.shipper?.limit?.waiting;
    if (waiting) {
      const others = [...waiting];
      waiting.clear();
      others.forEach(this.queueUpAlone);
    }
    this.queueUpAlone(lane);
  }

  #known(shipperIds: Iterable<string>): Shipper[] {
    return [...shipperIds].flatMap((id) => this.lanes.shipper(id) ?? []);
  }
}
