import type { Claim } from '../../outbox/types.js';
import { leftOutside } from './backlog.js';
import type { Lane } from './lanes.js';

/** Claims that wait in their lanes for a slot. */
export interface WaitingRoom {
  /** `issuedAt`: of performance.now(), before the statement that claimed it was sent; `isNew`: it recorded it too. */
  enter(lane: Lane, claim: Claim, issuedAt: number, isNew: boolean): void;
  /** Takes the first that waits in this lane. */
  leave(lane: Lane): { claim: Claim; issuedAt: number };
  /** One more was recorded just now for this lane, and left in PostgreSQL. */
  leftOutside(lane: Lane): void;
  size(): number;
  /** What was recorded just now beyond what its lane begins at once; slow lanes are not counted. */
  pressure(): number;
}

/** Lanes that are relieved are dropped when there are more of them, or when somebody asks for the pressure. */
const fewestPressed = 1_000;

/** Recorded just now and not begun. */
const newIn = ({ backlog, waitingNew }: Lane) => backlog.leftOutside + waitingNew;
const isRelieved = (lane: Lane) => newIn(lane) === 0;

export function createWaitingRoom(): WaitingRoom {
  const arrivals = new Map<Claim, { issuedAt: number; isNew: boolean }>();
  /** Lanes of which something was recorded just now and has not begun. */
  const pressed = new Set<Lane>();
  let mostPressed = fewestPressed;
  const relieve = () => {
    for (const lane of pressed) if (isRelieved(lane)) pressed.delete(lane);
  };
  const press = (lane: Lane) => {
    pressed.add(lane);
    if (pressed.size <= mostPressed) return;
    relieve();
    mostPressed = Math.max(fewestPressed, 2 * pressed.size); // not for each lane more, where all are pressed
  };

  return {
    enter: (lane, claim, issuedAt, isNew) => {
      arrivals.set(claim, { issuedAt, isNew });
      lane.waiting.push(claim);
      if (!isNew) return;
      lane.waitingNew += 1;
      press(lane);
    },
    leave: (lane) => {
      const claim = lane.waiting.shift()!;
      const { issuedAt, isNew } = arrivals.get(claim)!;
      arrivals.delete(claim);
      if (isNew) lane.waitingNew -= 1;
      return { claim, issuedAt };
    },
    leftOutside: (lane) => {
      leftOutside(lane.backlog);
      press(lane);
    },
    size: () => arrivals.size,
    pressure: () => {
      relieve();
      let sum = 0;
      for (const lane of pressed) if (!lane.slow) sum += Math.max(0, newIn(lane) - lane.limit);
      return sum;
    },
  };
}
