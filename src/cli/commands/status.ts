import type { Data } from '../client.js';
import { items, aligned, fitted } from '../terminal.js';

type Section = [title: string, text: string];

const data = (value: unknown): Data => (value ?? {}) as Data;

/** The time to the second: `2026-11-21T12:00:00Z`. */
const time = (value: unknown): unknown =>
  typeof value === 'string' ? value.replace(/(\.\d+)?\+00:00$/, 'Z') : value;

/** `200000+` means more than were counted. */
const orMore = ({ isMore, ...others }: Data): Data =>
  isMore === true ? { ...others, deliveries: `${String(others.deliveries)}+` } : others;

const nameChars = 22;
const cut = (value: unknown): unknown =>
  typeof value === 'string' && value.length > nameChars ? `${value.slice(0, nameChars - 1)}…` : value;

const process = ({ role, host, version, commit, startedAt, seenAt, isAlive }: Data): Data => ({
  ...{ role, host, version },
  commit: typeof commit === 'string' ? commit.slice(0, 8) : commit,
  started: time(startedAt),
  state: isAlive === false ? `seen ${String(time(seenAt)).slice(11)}` : 'alive',
});

const circuit = ({ webhookId, shipperId, failingSince, nextProbeAt }: Data): Data => ({
  ...{ failingSince: time(failingSince), nextProbeAt: time(nextProbeAt), webhookId, shipperId },
});

const queue = ([name, counts]: [string, unknown]): Data => ({ name, ...data(counts) });

/**
 * The status for people: the parts that were not read come first, names before ids, and what waits for us before what
 * waits for others.
 */
export const statusText =
  (width: number) =>
  (status: Data): string => {
    const { processes, backlog, unread, queues, lag, uncalled, storedBytes, ...others } = status;
    const { openCircuits, circuits, clocks, replays, versions, ...rest } = others;
    const { waiting, oldestSendableSeconds, ...counts } = data(backlog);
    const { shippers, ...sums } = data(uncalled);
    const { shippers: storing, ...limits } = data(storedBytes);
    const lines = (values: Data) => (Object.keys(values).length > 0 ? aligned(values) : '');
    const table = (columns: string[], rows: Data[]) =>
      rows.length > 0 ? fitted({ name: 'rows', columns, headColumns: 2, width: width - 2 })({ rows }) : '';
    const named = (rows: unknown) => items(rows).map((row) => ({ ...orMore(row), name: cut(row.name) }));
    const seconds = (value: unknown) => (typeof value === 'number' ? { oldest: `${value} s` } : {});
    const sections: Section[] = [
      ['Not read', lines(data(unread))],
      [
        'Processes',
        table(['role', 'host', 'version', 'commit', 'started', 'state'], items(processes).map(process)),
      ],
      ['Deliveries that wait for us', lines({ ...counts, ...seconds(oldestSendableSeconds) })],
      ['Deliveries that wait for others', lines(data(waiting))],
      ['Lag', lines(data(lag))],
      [
        'Queues',
        table(['name', 'waiting', 'active', 'delayed', 'error'], Object.entries(data(queues)).map(queue)),
      ],
      ['Owed to webhooks that are not called', lines(orMore(sums))],
      ['Shippers owed the most', table(['name', 'deliveries', 'webhooks', 'shipperId'], named(shippers))],
      ['Stored today', lines(limits) + table(['name', 'bytes', 'isLimited', 'shipperId'], named(storing))],
      [
        `Open circuits${openCircuits === undefined ? '' : `: ${JSON.stringify(openCircuits)}`}`,
        table(['failingSince', 'nextProbeAt', 'webhookId', 'shipperId'], items(circuits).map(circuit)),
      ],
      [
        'Wrong clocks',
        table(
          ['host', 'role', 'aheadSeconds', 'seenAt'],
          items(clocks).map((clock) => ({ ...clock, seenAt: time(clock.seenAt) })),
        ),
      ],
      [
        'Replays',
        table(
          ['status', 'done', 'total', 'createdAt', 'replayId', 'webhookId'],
          items(replays).map((replay) => ({ ...replay, createdAt: time(replay.createdAt) })),
        ),
      ],
      ['Versions', lines(data(versions))],
      ['Others', lines(rest)],
    ];
    return sections
      .filter(([, text]) => text !== '')
      .map(([title, text]) => `${title}\n${text.replaceAll(/^(?=.)/gm, '  ')}`)
      .join('\n');
  };
