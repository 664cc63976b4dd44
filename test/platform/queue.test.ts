import { afterEach, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, dropDatabase } from '../support/database.js';

const databaseUrl = process.env.TEST_DATABASE_URL ?? '';
const moduleOf = (name: string) => new URL(`../../src/platform/${name}.ts`, import.meta.url).href;

/** A separate process, because it might hang. */
const program = (url: string) => `
  import { createQueueEngine } from '${moduleOf('queue/engine')}';
  import { createLogger } from '${moduleOf('telemetry/logger')}';
  const logger = createLogger('silent');
  const engine = createQueueEngine({ databaseUrl: '${url}', redisUrl: undefined, prefix: 't', logger });
  await engine.prepare();
  console.log('prepared');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  const producer = engine.producer('q');
  const consumer = engine.consume('q', 2, async ({ name }) => console.log('consumed', name));
  const timer = setInterval(() => producer.add([{ name: 'job', id: 'j' + Date.now() }]).then(
    () => console.log('added'), () => console.log('refused')), 200);
  await new Promise((resolve) => process.stdin.once('data', resolve));
  clearInterval(timer);
  await consumer.close();
  await engine.close();
  console.log('closed');
  process.exit(0);`;

describe('the queue on PostgreSQL', () => {
  let child: ChildProcess | undefined;
  let proxy: Server | undefined;

  afterEach(async () => {
    child?.kill('SIGKILL');
    proxy?.close();
    await dropDatabase(databaseUrl, 'queue_opening');
  });

  test('opened while PostgreSQL does not respond, it keeps the process alive, and works as soon as PostgreSQL responds', async () => {
    const target = new URL(await createDatabase(databaseUrl, 'queue_opening', null));
    const upstreamPort = Number(target.port);
    let responses = true;
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      if (!responses) return;
      const upstream = connect(upstreamPort, target.hostname).on('error', () => undefined);
      sockets.push(upstream);
      socket.pipe(upstream).pipe(socket);
    });
    proxy = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    target.port = String((server.address() as { port: number }).port);

    let output = '';
    const args = ['--import', 'tsx', '--input-type=module', '-e', program(target.href)];
    const running = (child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] }));
    running.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const exited = once(running, 'exit');
    const until = async (text: RegExp) => {
      for (const end = Date.now() + 12_000; !text.test(output); await sleep(20))
        if (Date.now() > end) throw new Error(`no ${text} within 12 s in ${output}`);
    };

    await until(/prepared/);
    responses = false;
    running.stdin.write('go');
    await until(/(refused\s+){5}/);
    responses = true;
    await until(/added/);
    await until(/consumed job/);
    running.stdin.write('stop');
    await until(/closed/);
    for (const socket of sockets) socket.destroy();
    expect(await exited).toEqual([0, null]);
  });
});
