/**
 * `npm run bench`: the real service as child processes on its real engines, measured from order to receipt.
 * Ratios to the ceiling of the same run are what count; absolute figures drift with the machine.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { startRedis } from '../redis.js';
import { measure, type Figures } from './measure.js';
import { startReceiverProcess } from './processes.js';

// The exit handlers of the service's processes run only on a proper exit.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const program = new Command('bench')
  .description('Measures orders accepted, deliveries, latency, CPU and memory on the machine it runs on.')
  .option('--queue <postgres|redis|both>', 'queue backend', 'both')
  .option('--orders <n>', 'orders in the throughput phases', '3000')
  .option('--webhooks <n>', 'webhooks of the shipper in the delivery phase', '5')
  .option('--profile <folder>', "write the service's CPU profile there (it costs some speed)")
  .option('--json', 'print JSON only')
  .option('--out <file>', 'write the JSON to a file too')
  .parse();
const options = program.opts<{
  queue: string;
  orders: string;
  webhooks: string;
  profile?: string;
  json?: boolean;
  out?: string;
}>();

const folder = mkdtempSync(join(tmpdir(), 'parcelhook-bench-'));
const say = (line: string) => options.json ?? process.stderr.write(`${line}\n`);
const queues = options.queue === 'both' ? ['postgres', 'redis'] : [options.queue];
const results: Figures[] = [];
try {
  for (const queue of queues) {
    const redis = queue === 'redis' ? await startRedis(folder) : null;
    if (queue === 'redis' && !redis) {
      say('no redis-server or valkey-server on PATH: the Redis half is left out');
      continue;
    }
    say(`queue on ${queue} …`);
    results.push(
      await measure({
        queue,
        redis,
        dataDir: join(folder, `data-${queue}`),
        orders: Number(options.orders),
        webhooks: Number(options.webhooks),
        profileDir: options.profile,
        say,
      }),
    );
    await redis?.stop();
  }
  const ceiling = await measureCeiling();
  const report = { node: process.version, cpu: cpuName(), ceiling, results };
  if (options.out) writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
  if (options.json) console.log(JSON.stringify(report, null, 2));
  else printTable(report);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measureCeiling(): Promise<{ perSecond: number; cpuUs: number }> {
  const receiver = await startReceiverProcess();
  const poster = fileURLToPath(new URL('./poster.ts', import.meta.url));
  const printed = execFileSync(process.execPath, ['--import', 'tsx', poster, receiver.url, '30000', '100'], {
    encoding: 'utf8',
  });
  receiver.stop();
  return JSON.parse(printed) as { perSecond: number; cpuUs: number };
}

function cpuName(): string {
  return /model name\s*: (.+)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown';
}

function printTable({
  ceiling,
  results: rows,
}: {
  ceiling: { perSecond: number; cpuUs: number };
  results: Figures[];
}) {
  const round = (n: number) => Math.round(n * 10) / 10;
  for (const row of rows) {
    const lines: [string, string][] = [
      ['start to ready', `${round(row.startMs)} ms`],
      ['orders accepted', `${Math.round(row.acceptPerSecond)}/s`],
      ['deliveries, order to receipt', `${Math.round(row.deliveriesPerSecond)}/s`],
      ['of the bare poster', `${round((row.deliveriesPerSecond / ceiling.perSecond) * 100)} %`],
      ['latency when idle', `p50 ${round(row.idleMs.p50)} ms, p99 ${round(row.idleMs.p99)} ms`],
      ['latency at half load', `p50 ${round(row.halfLoadMs.p50)} ms, p99 ${round(row.halfLoadMs.p99)} ms`],
      [
        'CPU per delivery',
        Object.entries(row.cpuUsPerDelivery)
          .map(([name, us]) => `${name} ${Math.round(us)} µs`)
          .join(', '),
      ],
      ['RSS', `${row.rssIdleMb} MB at start, ${row.rssPeakMb} MB after load`],
    ];
    console.log(`\nqueue on ${row.queue}`);
    for (const [name, value] of lines) console.log(`  ${name.padEnd(30)}${value}`);
  }
  console.log(
    `\nceiling (bare node:http poster)   ${Math.round(ceiling.perSecond)}/s, ${Math.round(ceiling.cpuUs)} µs`,
  );
}
