import { registerAccount, type Account } from '../../../support/client.js';
import type { Fault, Injection } from './fault.js';
import { notAccepted, orderSlowdown, respondedWithin } from './figures.js';
import { startRawClients, type RawClients } from '../load/raw.js';
import { probeHealth, residentMb, watchProcess } from '../load/watch.js';

type Flood = Omit<RawClients, 'url'> & { what: string; moreMb: number };

const floodMs = 20_000;

/** The slowest response of `/healthz` meanwhile, and the growth of the API's memory. */
async function flood({ world, pause, note }: Injection, { what, moreMb, ...clients }: Flood): Promise<void> {
  const { url, api } = world.service;
  const beforeMb = residentMb(api.pid);
  const watched = watchProcess(api.pid);
  const health = probeHealth(url);
  const raw = startRawClients({ url, ...clients });
  await pause(floodMs);
  const responses = await raw.stop();
  const { maxMb } = watched();
  const { slowestMs, figures } = await health.stop();
  note({ name: `slowest /healthz, ${what}`, value: slowestMs, unit: 'ms', atMost: 250, note: responses });
  note({
    name: `RSS growth, ${what}`,
    value: maxMb - beforeMb,
    unit: 'MB',
    atMost: moreMb,
    note: `${Math.round(beforeMb)} MB before`,
  });
  for (const figure of figures) note(figure);
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const pipelined = { reads: true, again: false, moreMb: 50 };

const pipelines: Fault = {
  name: 'B15',
  promise:
    'without an account, 40 connections with 2,200 pipelined requests each, 200 with 250, 40 that request /openapi.json 60 times and read nothing: /healthz ≤ 250 ms; RSS + 50 MB',
  workers: 1,
  inFlight: 0,
  inject: async (injection) => {
    await fetch(`${injection.world.service.url}/openapi.json`); // creates and caches the document
    const x = get('/x');
    await flood(injection, { ...pipelined, what: '40 × 2,200', connections: 40, text: x, repeat: 2_200 });
    await flood(injection, { ...pipelined, what: '200 × 250', connections: 200, text: x, repeat: 250 });
    const unread = { ...pipelined, what: '40 × 60 unread', reads: false };
    await flood(injection, { ...unread, connections: 40, text: get('/openapi.json'), repeat: 60 });
  },
  figures: (outcome) => [respondedWithin(outcome, 250), notAccepted(outcome)],
};

const maxBodyBytes = 256 * 1024;
const post = ({ accountKey, token }: Account, body: string) =>
  [
    `POST /v1/shipments?key=${accountKey} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${maxBodyBytes}`,
    '',
    body,
  ].join('\r\n');

const bodies: Fault = {
  name: 'B16',
  promise:
    'one shipper: 16 connections that send 256 KiB of nested empty arrays, then 900 unfinished uploads: order p99 of others ≤ 250 ms, every order of theirs accepted; RSS + 100 MB',
  workers: 1,
  inFlight: 0,
  api: { env: { API_RATE_LIMIT: '' } },
  inject: async (injection) => {
    const account = await registerAccount(injection.world.service, 'greedy@example.com');
    const arrays = `[${'[],'.repeat(maxBodyBytes / 3 - 2)}[]]`.padEnd(maxBodyBytes);
    const each = { reads: true, repeat: 1, moreMb: 100 };
    await flood(injection, {
      ...each,
      what: '16 × nested arrays',
      connections: 16,
      text: post(account, arrays),
      again: true,
    });
    await flood(injection, {
      ...each,
      what: 'unfinished uploads',
      connections: Math.max(300, injection.times(900)),
      text: post(account, 'x'.repeat(maxBodyBytes - 1)),
      again: false,
    });
  },
  figures: (outcome) => [respondedWithin(outcome, 250), notAccepted(outcome)],
};

const lineEnds: Fault = {
  name: 'B25',
  promise:
    'without an account, 40 connections that send only line ends, between requests, then as the body of a refused one, at 100 Mbit/s together: order p50 ≤ 1.5 × that before; /healthz ≤ 250 ms',
  workers: 1,
  inFlight: 0,
  inject: async (injection) => {
    const pours = '\r\n'.repeat(32 * 1024);
    const each = { connections: 40, repeat: 1, reads: true, again: true, pours, moreMb: 50 };
    await flood(injection, { ...each, what: 'between requests', text: '' });
    const refused = 'POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    await flood(injection, {
      ...each,
      what: 'as a refused body',
      text: `${refused}Content-Length: 1000000000\r\n\r\n`,
    });
  },
  figures: (outcome) => [orderSlowdown(outcome, 1.5), notAccepted(outcome)],
};

export const floods: Fault[] = [pipelines, bodies, lineEnds];
