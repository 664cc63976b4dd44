import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { describeError } from '../../../src/platform/errors.js';
import { basic, operator, request, type ApiResponse } from '../../support/client.js';
import { now } from './clock.js';
import { figure, type Figure, type Measured } from './figures.js';
import { percentiles } from './percentiles.js';
import { startReceiverProcess, type BenchReceiver } from './processes.js';
import { awaitReceipts, type Receipts } from './receipts.js';
import { ordersClosedLoop, ordersOpenLoop, type SentLog } from './requests.js';

/** A running environment, and how much load it gets at most. */
export interface Environment {
  url: string;
  /** An account's key and token, or an operator's token, with which an account is made and removed again. */
  access: { key: string; token: string } | { operatorToken: string };
  /** Where the environment reaches the receiver; undefined: at its own address, on this machine. */
  receiverUrl: string | undefined;
  /** The address and the port at which the receiver listens. */
  listen: string[];
  webhooks: number;
  clients: number;
  orders: number;
  seconds: number;
  /** Orders a second; undefined: as fast as the clients can place them. */
  rates: number[] | undefined;
}

interface Account {
  accountKey: string;
  token: string;
}

interface EnvironmentReport {
  url: string;
  startedAt: string;
  loads: Measured[];
  /** Everything that the environment has, or had, of this run. */
  created: string[];
  failure: string | null;
}

/** Loads it, prints the figures and what was created, and returns the exit code. */
export async function loadEnvironment(
  environment: Environment,
  output: { json: boolean; out: string | undefined },
): Promise<number> {
  const run = new EnvironmentRun(environment);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      void run.clearAway().finally(() => {
        process.stderr.write(`Created: ${run.created.join('; ')}.\n`);
        process.exit(1);
      });
    });
  const report = await run.measure();
  if (output.out !== undefined) writeFileSync(output.out, `${JSON.stringify(report, null, 2)}\n`);
  if (output.json) console.log(JSON.stringify(report, null, 2));
  else print(report);
  return report.failure === null ? 0 : 1;
}

/** A warm-up of this share of the orders is not measured. */
const warmUpShare = 0.1;

class EnvironmentRun {
  /** Marks what it creates: a part of the receiver's paths, and the shipper's own number of the orders. */
  private readonly name = `BENCH-${randomBytes(4).toString('hex')}`;
  readonly created: string[] = [];
  /** In order of creation. */
  private readonly removals: (() => Promise<ApiResponse>)[] = [];
  private receiver: BenchReceiver | null = null;
  private placed = 0;
  /** False while orders are placed, of which `placed` has none. */
  private areCounted = true;

  constructor(private readonly environment: Environment) {}

  async measure(): Promise<EnvironmentReport> {
    const { url, rates, orders, seconds, clients } = this.environment;
    const startedAt = new Date().toISOString();
    const loads: Measured[] = [];
    let failure: string | null = null;
    try {
      this.receiver = await startReceiverProcess(this.environment.listen);
      const account = await this.openAccount();
      const paths = await this.registerWebhooks(account, this.environment.receiverUrl ?? this.receiver.url);
      const target = { url, account, shipperTrackingId: this.name };
      const untilAt = () => now() + seconds * 1_000;
      const load = async (place: () => Promise<SentLog>) => {
        this.areCounted = false;
        const sent = await place();
        this.areCounted = true;
        this.placed += sent.times.size;
        const receipts = await awaitReceipts(
          { receiver: this.receiver!, check: () => undefined },
          sent,
          paths,
        );
        return figuresOf(sent, receipts, paths.length);
      };
      await load(() => ordersClosedLoop(target, Math.ceil(orders * warmUpShare), clients, untilAt()));
      for (const perSecond of rates ?? []) {
        const figures = await load(() =>
          ordersOpenLoop(target, perSecond, Math.min(seconds, orders / perSecond)),
        );
        loads.push({ load: `${perSecond} orders/s, ${counted(paths.length, 'webhook')}`, figures });
      }
      if (rates === undefined) {
        const figures = await load(() => ordersClosedLoop(target, orders, clients, untilAt()));
        loads.push({ load: `${counted(clients, 'client')}, ${counted(paths.length, 'webhook')}`, figures });
      }
    } catch (error) {
      failure = describeError(error);
    }
    const notRemoved = await this.clearAway();
    return { url, startedAt, loads, created: this.created, failure: failure ?? notRemoved };
  }

  /** Returns what could not be removed. */
  async clearAway(): Promise<string | null> {
    this.receiver?.stop();
    const problems: string[] = [];
    for (const remove of this.removals.splice(0).reverse()) {
      const { httpStatus } = await remove().catch(() => ({ httpStatus: 0 }));
      if (httpStatus >= 300 || httpStatus === 0)
        problems.push(`a removal returned ${httpStatus || 'nothing'}`);
    }
    const shipments = this.areCounted ? counted(this.placed, 'shipment') : `${this.placed} shipments or more`;
    if (this.placed > 0 || !this.areCounted)
      this.created.push(`${shipments}, shipperTrackingId ${this.name}`);
    [this.placed, this.areCounted] = [0, true];
    return problems[0] ?? null;
  }

  private async openAccount(): Promise<Account> {
    const { url, access } = this.environment;
    if ('key' in access) return { accountKey: access.key, token: access.token };
    const headers = { authorization: `Bearer ${access.operatorToken}` };
    const ask = async (path: string, body: object) =>
      taken(`POST ${path}`, await operator({ url }, path, { body, headers }));
    const { shipperId, accountKey } = await ask('/shippers', { name: this.name });
    this.created.push(`shipper ${shipperId}, removed again with all it had`);
    this.removals.push(() => operator({ url }, `/shippers/${shipperId}`, { method: 'DELETE', headers }));
    await operator({ url }, `/shippers/${shipperId}`, {
      method: 'PATCH',
      body: { rateLimit: 1_000_000 }, // the environment is measured, not a shipper's share of it
      headers,
    });
    const email = 'bench@example.com';
    const password = randomBytes(18).toString('base64url');
    await ask(`/shippers/${shipperId}/users`, { email, password });
    const login = await request(`${url}/v1/login?key=${accountKey}`, {
      headers: { authorization: basic(email, password) },
    });
    const { token } = taken('the login', login);
    return { accountKey: accountKey!, token: token! };
  }

  private async registerWebhooks(account: Account, receiverUrl: string): Promise<string[]> {
    const { url, webhooks, access } = this.environment;
    const headers = { authorization: `Bearer ${account.token}` };
    const paths = Array.from({ length: webhooks }, (_, n) => `/${this.name}/${n}`);
    for (const path of paths) {
      const body = { interests: ['*'], targetAddress: new URL(path, receiverUrl).href };
      const key = `key=${account.accountKey}`;
      const response = await request(`${url}/v1/webhooks?${key}`, { body, headers });
      const { webhookId } = taken('registering a webhook', response);
      if ('key' in access)
        this.removals.push(() =>
          request(`${url}/v1/webhooks/${webhookId}?${key}`, { method: 'DELETE', headers }),
        );
    }
    if ('key' in access) this.created.push(`${counted(webhooks, 'webhook')}, deleted again`);
    return paths;
  }
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

function taken(what: string, { httpStatus, body, data }: ApiResponse): Record<string, string> {
  if (httpStatus >= 200 && httpStatus < 300) return data as Record<string, string>;
  const details = body.error?.details?.map(({ path, message }) => `${path} ${message}`) ?? [];
  throw new Error([`${what} returned ${httpStatus}`, body.error?.message ?? '', ...details].join(': '));
}

function figuresOf({ times, refused }: SentLog, receipts: Receipts, webhooks: number): Figure[] {
  const acceptMs = [...times.values()].map(({ sentAt, respondedAt }) => respondedAt - sentAt);
  const perSecond = (count: number, untilAt: number) => (count * 1_000) / (untilAt - receipts.firstSentAt);
  return [
    figure('orders', '', times.size),
    figure('orders accepted', '/s', perSecond(times.size, receipts.lastRespondedAt)),
    figure('deliveries', '/s', perSecond(times.size * webhooks, receipts.lastArrivedAt)),
    ...latencies('order sent to receipt', receipts.fromSentMs),
    ...latencies('order sent to 201', acceptMs),
    figure('asked to come again (429, 503)', '', refused),
  ];
}

const latencies = (name: string, valuesMs: number[]): Figure[] =>
  Object.entries(percentiles(valuesMs)).map(([share, value]) => figure(`${name}, ${share}`, 'ms', value));

function print({ url, loads, created, failure }: EnvironmentReport): void {
  for (const { load, figures } of loads) {
    console.log(`\n${url}, ${load}`);
    for (const { name, unit, value } of figures)
      console.log(
        `  ${name.padEnd(34)}${value.toFixed(value < 100 && unit !== '' ? 1 : 0)} ${unit}`.trimEnd(),
      );
  }
  if (created.length > 0) console.log(`\nCreated: ${created.join('; ')}.`);
  if (failure !== null) console.log(`FAILED: ${failure}`);
}
