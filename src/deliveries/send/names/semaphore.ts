/** What is given room is told how to give it back. */
type Begin = (done: () => void) => void;

export interface Semaphore {
  /** Calls `begin` once there is room for this party, perhaps at once. What is returned withdraws what still waits. */
  ask(party: string, begin: Begin): () => void;
}

/** Room for `most` things at once, `mostOfOne` of them one party's. Parties that wait get it in turn. */
export function createSemaphore(most: number, mostOfOne: number): Semaphore {
  const taken = new Map<string, number>();
  const waiting = new Map<string, Set<Begin>>();
  /** Parties that wait and are below their own bound, the next one first. */
  const turns = new Set<string>();
  let total = 0;

  const takenBy = (party: string) => taken.get(party) ?? 0;

  const queue = (party: string) => {
    if (waiting.has(party) && takenBy(party) < mostOfOne) turns.add(party);
  };

  const drop = (party: string, begin: Begin) => {
    const queued = waiting.get(party);
    queued?.delete(begin);
    if (queued?.size !== 0) return;
    waiting.delete(party);
    turns.delete(party);
  };

  const release = (party: string) => {
    total -= 1;
    const left = takenBy(party) - 1;
    if (left > 0) taken.set(party, left);
    else taken.delete(party);
    queue(party);
    next();
  };

  const next = () => {
    for (const party of turns) {
      if (total >= most) return;
      turns.delete(party);
      const [begin] = waiting.get(party)!;
      drop(party, begin!);
      total += 1;
      taken.set(party, takenBy(party) + 1);
      queue(party);
      let given = false;
      begin!(() => {
        if (!given) release(party);
        given = true;
      });
    }
  };

  return {
    ask: (party, begin) => {
      const queued = waiting.get(party) ?? new Set();
      waiting.set(party, queued.add(begin));
      queue(party);
      next();
      return () => drop(party, begin);
    },
  };
}
