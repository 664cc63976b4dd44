import type { Command } from 'commander';
import * as z from 'zod';
import { Refused, Unreachable, type Send, confirm, example, settingsOf, yesOption } from '../command.js';
import { openSource, startProgress } from './events.js';
import { readLines, type Line } from './load.js';
import { aligned, write, type Io } from '../terminal.js';

const id = z.uuid();
const erasure = z.discriminatedUnion('action', [
  z.object({ action: z.literal('SHIPMENT_ERASED'), at: z.string(), shipperId: id, shipmentId: id }),
  z.object({ action: z.literal('SHIPPER_REMOVED'), at: z.string(), shipperId: id }),
  z.object({ action: z.literal('USER_REMOVED'), at: z.string(), shipperId: id, userId: id }),
]);
type Erasure = z.output<typeof erasure>;

const perPage = 250;
/** Requests under way at once: each waits half a second, during which an attempt may still begin. */
const atOnce = 8;
const maxLineBytes = 4_096;

export function addErasureCommands(program: Command, io: Io, finish: (code: number) => void): void {
  const erasures = program
    .command('erasures')
    .description('export what was erased and removed, and repeat it after a restore');
  erasures
    .command('export')
    .description(
      'print the erased shipments and the removed shippers and users: one JSON object per line, with ids and times only',
    )
    .option('--from <time>', 'only at this time or later, such as 2026-11-21T12:00:00Z or 2026-11-21')
    .addHelpText('after', example('--silent erasures export > ledger.new && mv ledger.new erasures.ndjson'))
    .action(async ({ from }: { from?: string }, command: Command) => {
      const lines = await exportErasures(settingsOf(command, io).send, from, (line) =>
        write(io.stdout, line),
      );
      await write(io.stderr, `${lines} exported\n`);
    });
  erasures
    .command('replay')
    .description('repeat the erasures and removals of an exported ledger; running this again does no harm')
    .argument('<file>', 'the exported ledger; - for standard input, with --yes')
    .option(...yesOption)
    .addHelpText('after', example('erasures replay erasures.ndjson'))
    .action(async (file: string, { yes }: { yes?: true }, command: Command) => {
      const { send, json } = settingsOf(command, io);
      const source = await openSource(file, io);
      await confirm(io, `Erase and remove for good what ${file} names?`, yes);
      const counts = await replayErasures(send, source, io);
      await write(io.stdout, json ? `${JSON.stringify(counts, null, 2)}\n` : aligned(counts));
      finish(counts.refused > 0 ? 1 : 0);
    });
}

async function exportErasures(
  send: Send,
  from: string | undefined,
  print: (line: string) => Promise<void>,
): Promise<number> {
  let lines = 0;
  for (const { shape } of erasure.options) {
    const [action] = shape.action.values;
    let cursor: unknown;
    do {
      const query = { action, outcome: 'DONE', from, cursor, limit: perPage };
      const page = await send('get', '/operator/v1/audit', { query });
      for (const entry of page.entries as unknown[]) {
        await print(`${JSON.stringify(erasure.parse(entry))}\n`);
        lines += 1;
      }
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
  return lines;
}

interface Replayed {
  read: number;
  erased: number;
  /** Lines of the ledger whose shipment, shipper or user is not in the database. */
  absent: number;
  refused: number;
}

async function replayErasures(
  send: Send,
  { chunks, sizeBytes }: Awaited<ReturnType<typeof openSource>>,
  io: Io,
): Promise<Replayed> {
  const counts: Replayed = { read: 0, erased: 0, absent: 0, refused: 0 };
  const progress = startProgress(io.stderr, sizeBytes, ['erased', 'absent', 'refused']);

  const refuse = async (number: number, message: string) => {
    counts.refused += 1;
    progress.clear();
    await write(io.stderr, `line ${number}: ${message}\n`);
  };
  const one = async ({ number, bytes }: Line) => {
    const text = bytes?.toString().trim();
    if (text === '') return;
    counts.read += 1;
    const parsed = erasure.safeParse(jsonOrNull(text));
    if (!parsed.success) return refuse(number, 'is not a line of an exported ledger');
    try {
      await repeat(send, parsed.data);
      counts.erased += 1;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.code === 'NOT_FOUND') counts.absent += 1;
      else await refuse(number, error.message);
    }
  };

  let lines: Line[] = [];
  const settle = async () => {
    await Promise.all(lines.map(one));
    progress.update(lines.at(-1)!.endByte, counts);
    lines = [];
  };
  try {
    for await (const line of readLines(chunks, maxLineBytes)) {
      lines.push(line);
      if (lines.length === atOnce) await settle();
    }
    if (lines.length > 0) await settle();
  } catch (error) {
    if (error instanceof Unreachable) error.message += '\nIt is safe to replay the ledger again.';
    throw error;
  } finally {
    progress.stop();
  }
  return counts;
}

function jsonOrNull(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return null;
  }
}

const safely = { repeatable: true, timeoutMs: 30_000 };

function repeat(send: Send, erasure: Erasure): Promise<unknown> {
  switch (erasure.action) {
    case 'SHIPMENT_ERASED':
      return send('post', '/operator/v1/shipments/{shipmentId}/erase', {
        path: { shipmentId: erasure.shipmentId },
        body: {},
        ...safely,
      });
    case 'SHIPPER_REMOVED':
      return send('delete', '/operator/v1/shippers/{shipperId}', {
        path: { shipperId: erasure.shipperId },
        ...safely,
      });
    case 'USER_REMOVED':
      return send('delete', '/operator/v1/users/{userId}', { path: { userId: erasure.userId }, ...safely });
  }
}
