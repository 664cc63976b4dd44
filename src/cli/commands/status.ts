import { facts, items, fitted, sectionsText, toSecond, type Section, type Data } from '../terminal.js';

const data = (value: unknown): Data => (value ?? {}) as Data;

/** `200000+` means more than were counted. */
const orMore = ({ isMore, ...others }: Data): Data =>
  isMore === true ? { ...others, deliveries: `${String(others.deliveries)}+` } : others;

const nameChars = 22;
const cut = (value: unknown): unknown =>
  typeof value === 'string' && value.length > nameChars ? `${value.slice(0, nameChars - 1)}…` : value;

const process = ({ role, host, version, commit, startedAt, seenAt, isAlive }: Data): Data => ({
  ...{ role, host, version },
  commit: typeof commit === 'string' ? commit.slice(0, 8) : commit,
  started: toSecond(startedAt),
  state: isAlive === false ? `seen ${String(toSecond(seenAt)).slice(11)}` : 'alive',
});

const circuit = ({ failingSince, nextProbeAt, ...ids }: Data): Data => ({
  ...{ ...ids, failingSince: toSecond(failingSince), nextProbeAt: toSecond(nextProbeAt) },
});

const queue = ([name, counts]: [string, unknown]): Data => ({ name, ...data(counts) });

/**
 * The status for people: the parts that were not read come first, names before ids, and what waits for us before what
 * waits for others.
 */
export function statusText(status: Data, width: number): string {
  const { processes, backlog, unread, queues, lag, uncalled, storedBytes, ...others } = status;
  const { openCircuits, circuits, clocks, replays, versions, ...rest } = others;
  const { waiting, ...counts } = data(backlog);
  const { shippers, ...sums } = data(uncalled);
  const { shippers: storing, ...limits } = data(storedBytes);
  const lines = (values: Data) => (Object.keys(values).length > 0 ? facts(values, width - 2) : '');
  const table = (columns: string[], rows: Data[]) =>
    rows.length > 0 ? fitted(rows, columns, 1, width - 2) : '';
  const named = (rows: unknown) => items(rows).map((row) => ({ ...orMore(row), name: cut(row.name) }));
  const sections: Section[] = [
    ['Not read', lines(data(unread))],
    [
      'Processes',
      table(['role', 'host', 'version', 'commit', 'started', 'state'], items(processes).map(process)),
    ],
    ['Deliveries that wait for us', lines(counts)],
    ['Deliveries that wait for others', lines(data(waiting))],
    ['Lag', lines(data(lag))],
    [
      'Queues',
      table(['name', 'waiting', 'active', 'delayed', 'error'], Object.entries(data(queues)).map(queue)),
    ],
    ['Owed to webhooks that are not called', lines(orMore(sums))],
    ['Shippers owed the most', table(['name', 'deliveries', 'webhooks', 'shipperId'], named(shippers))],
    [
      'Bytes stored today',
      lines(limits) + table(['name', 'bytes', 'isLimited', 'shipperId'], named(storing)),
    ],
    [
      `Open circuits${openCircuits === undefined ? '' : `: ${JSON.stringify(openCircuits)}`}`,
      table(['webhookId', 'failingSince', 'nextProbeAt', 'shipperId'], items(circuits).map(circuit)),
    ],
    [
      'Wrong clocks',
      table(
        ['host', 'role', 'aheadSeconds', 'seenAt'],
        items(clocks).map((clock) => ({ ...clock, seenAt: toSecond(clock.seenAt) })),
      ),
    ],
    [
      'Replays',
      table(
        ['status', 'done', 'total', 'createdAt', 'replayId', 'webhookId'],
        items(replays).map((replay) => ({ ...replay, createdAt: toSecond(replay.createdAt) })),
      ),
    ],
    ['Versions', lines(data(versions))],
    ['Others', lines(rest)],
  ];
  return sectionsText(sections);
}
