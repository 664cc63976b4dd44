import type { Answered } from './boards/ask.js';

/** The movement of lines, by `board › panel`, over a whole run. */
export interface Movement {
  note(board: string, answered: Answered[]): void;
  /** Those that never moved. */
  still(): { panel: string; hadFigures: boolean }[];
}

interface Seen {
  moved: boolean;
  hadFigures: boolean;
  /** The last value of the previous scene. */
  last: string | null;
}

/** A panel moves if a line of it changes within a scene, or if it ends with other figures in one scene than in another. */
export function createMovement(): Movement {
  const seen = new Map<string, Seen>();
  return {
    note: (board, answered) => {
      for (const one of answered) {
        const name = `${board} › ${one.panel.title}`;
        const before = seen.get(name) ?? { moved: false, hadFigures: false, last: null };
        const last = lastOf(one);
        seen.set(name, {
          moved:
            before.moved ||
            one.lines.some(changes) ||
            (last !== null && before.last !== null && last !== before.last),
          hadFigures: before.hadFigures || last !== null,
          last: last ?? before.last,
        });
      }
    },
    still: () =>
      [...seen].flatMap(([panel, { moved, hadFigures }]) => (moved ? [] : [{ panel, hadFigures }])),
  };
}

const isFigure = (value: number | null): value is number => value !== null && Number.isFinite(value);

const changes = ({ values }: Answered['lines'][number]): boolean => {
  const figures = values.filter(isFigure);
  return figures.some((figure) => figure !== figures[0]);
};

/** Null where there is no figure at all. */
function lastOf({ lines, table }: Answered): string | null {
  if (table) return JSON.stringify(table.rows);
  const figures = lines.flatMap(({ name, values }) => {
    const last = values.filter(isFigure).at(-1);
    return last === undefined ? [] : [[name, last]];
  });
  return figures.length > 0 ? JSON.stringify(figures) : null;
}

/** Panels that may stand still in every scene, and why. */
const mayStandStill: [panel: RegExp, reason: string][] = [
  [/› Watchdog$/, 'it fires always'],
  [/› (Partitions ahead|Retention behind)$/, 'whole days, and no scene lasts one'],
  [/› Late results$/, 'no worker hangs for longer than its lease'],
  [/› Oldest expired claim$/, 'another worker takes it up between two readings'],
  [/^receivers › Failing$/, 'the circuit opens between two readings'],
  [/› (Attempted late|Error budget left)$/, 'a scene ends before what is late is attempted'],
  [/› Brought back by the sweeper$/, 'events create orders sooner, and leases outlast most scenes'],
  [/› Waiting for a connection$/, 'a pool runs out only under more load than that of a scene'],
  [/› (Free on the disks|Since the last verified backup)$/, 'no scene has node_exporter'],
  [/› (Kept by replication slots|Archive failing for|Standbys behind)$/, 'the embedded PostgreSQL has none'],
  [/› Draining$/, 'it shows 1 for the seconds that a process drains, and nothing else'],
];

/** The panels that never moved and have no reason. */
export const unexplained = (still: { panel: string }[], list = mayStandStill): string[] =>
  still.map(({ panel }) => panel).filter((panel) => !list.some(([pattern]) => pattern.test(panel)));
