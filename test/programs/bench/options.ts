import { resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Environment } from './environment.js';
import type { Phase } from './phases/phase.js';
import type { Settings } from './settings.js';
import { shapes } from './shapes.js';

export interface Options {
  /** Loaded instead of what the phases start. */
  environment: Environment | undefined;
  settings: Omit<Settings, 'hasRedis'>;
  phases: Phase[];
  withCeiling: boolean;
  ceilingPosts: number;
  repeat: number;
  /** One build, or two to compare. */
  builds: { name: string; dist: string; node: string; env: Record<string, string> }[];
  postgresBinDir: string | undefined;
  withStatements: boolean;
  profileDir: string | undefined;
  dataDir: string;
  json: boolean;
  out: string | undefined;
}

interface Parsed {
  only?: string[];
  quick?: boolean;
  repeat: number;
  shapes?: string[];
  dist: string;
  versus?: string;
  node: string;
  versusNode?: string;
  env?: Record<string, string>;
  versusEnv?: Record<string, string>;
  postgres?: string;
  statements: boolean;
  clients: number;
  webhooks: number;
  orders?: number;
  burst?: number;
  seconds?: number;
  rates?: number[];
  profile?: string;
  data: string;
  json?: boolean;
  out?: string;
  url?: string;
  key?: string;
  token?: string;
  operatorToken?: string;
  receiverUrl?: string;
  receiverListen?: string;
}

const fullSize = {
  orders: 6_000,
  burst: 100_000,
  rateSeconds: 30,
  hangSeconds: 20,
  idleSeconds: 30,
  idleSettleSeconds: 45,
  starts: 3,
};
const quickSize = {
  orders: 1_000,
  burst: 2_500,
  rateSeconds: 3,
  hangSeconds: 5,
  idleSeconds: 5,
  idleSettleSeconds: 2,
  starts: 1,
};

const count = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.');
  return Number(text);
};
const counts = (text: string): number[] => text.split(',').map(count);
const listOf = (known: string[]) => (text: string) => {
  const names = text.split(',');
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`${unknown.join(', ')} is none of ${known.join(', ')}.`);
  return names;
};
const setting = (text: string, before: Record<string, string> | undefined): Record<string, string> => {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('It must be NAME=VALUE.');
  return { ...before, [name]: value };
};

const ofUrl = { orders: 1_000, seconds: 60 };
const helpOfUrl = `
With --url it places at most --orders (${ofUrl.orders}), and a tenth before as a warm-up, for at most --seconds (${ofUrl.seconds}), by
--clients or at --rates, each notified to --webhooks. They are real orders: take an account of their own.`;

/** Exits on errors. */
function environmentOf(given: string, options: Parsed, program: Command): Environment {
  const { key, token, operatorToken, receiverUrl, receiverListen } = options;
  const isHttp = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isHttp(given)) program.error('--url must be an address such as https://parcelhook.example.com');
  if (receiverUrl !== undefined && !isHttp(receiverUrl))
    program.error('--receiver-url must be an address such as http://10.0.0.5:9099');
  const access = key && token ? { key, token } : operatorToken ? { operatorToken } : undefined;
  if (access === undefined)
    program.error(
      '--url needs --key and --token (PARCELHOOK_KEY, PARCELHOOK_TOKEN), or --operator-token (OPERATOR_TOKEN)',
    );
  const { protocol, port } = new URL(receiverUrl ?? 'http://127.0.0.1');
  if (protocol === 'https:' && receiverListen === undefined)
    program.error('the receiver has no TLS: --receiver-listen must say where the proxy before it leads');
  const [, address, ownPort] = /^(?:(.+):)?(\d{1,5})$/.exec(receiverListen ?? port) ?? [];
  if ((receiverListen ?? receiverUrl) !== undefined && ownPort === undefined)
    program.error('the receiver needs a port: --receiver-listen must be like 0.0.0.0:9099');
  return {
    url: new URL(given).origin,
    access,
    receiverUrl,
    listen: ownPort === undefined ? [] : [address ?? '0.0.0.0', ownPort],
    webhooks: options.webhooks,
    clients: options.clients,
    orders: options.orders ?? ofUrl.orders,
    seconds: options.seconds ?? ofUrl.seconds,
    rates: options.rates,
  };
}

/** Exits on errors. */
export function parseOptions(all: Phase[]): Options {
  const names = [...all.map(({ name }) => name), 'ceiling'];
  const ownDist = fileURLToPath(new URL('../../../../dist', import.meta.url));
  const program = new Command('bench')
    .description(
      'Measures the built service on real engines, from the request to the receipt. Ratios to the ceiling and to ' +
        'another build of the same run are what count; absolute figures drift with the machine.',
    )
    .option('--only <phases>', `only these phases, separated by commas: ${names.join(', ')}`, listOf(names))
    .option('--quick', 'small loads and fewer forms of deployment; takes two minutes at most')
    .option('--repeat <n>', 'runs of each measurement; prints medians and ranges', count, 1)
    .option(
      '--shapes <forms>',
      `only these forms of deployment, separated by commas: ${shapes.map(({ key }) => key).join(', ')}`,
      listOf(shapes.map(({ key }) => key)),
    )
    .option(
      '--dist <folder>',
      'the build to measure: the folder with its main.js, below its package.json',
      ownDist,
    )
    .option('--versus <folder>', 'another build; each case is measured on both in turn')
    .option('--node <path>', 'the Node binary that runs the service', process.execPath)
    .option(
      '--versus-node <path>',
      'the Node binary of the other build; without --versus, the same build runs on both',
    )
    .option('--env <name=value>', 'a setting of the service; may be repeated', setting)
    .option(
      '--versus-env <name=value>',
      'a further setting of the other build; without --versus, the same build runs with and without it',
      setting,
    )
    .option('--postgres <folder>', "an installed PostgreSQL's programs (bin), instead of the embedded one")
    .option('--no-statements', 'leave out pg_stat_statements')
    .option('--clients <n>', 'clients of a closed loop', count, 48)
    .option('--webhooks <n>', 'webhooks of the shipper', count, 5)
    .option(
      '--orders <n>',
      `orders of a closed loop, and shipments of the events (${fullSize.orders})`,
      count,
    )
    .option('--burst <n>', `deliveries of the burst before the 60 orders/s (${fullSize.burst})`, count)
    .option('--seconds <n>', `length of a load at a fixed rate (${fullSize.rateSeconds})`, count)
    .option(
      '--rates <n,n>',
      'orders a second, separated by commas, instead of the usual loads of the phase rates',
      counts,
    )
    .option('--profile <folder>', "write the service's CPU profiles there (it costs some speed)")
    .option('--data <folder>', "where the engines' data lies meanwhile: a disk, not memory", tmpdir())
    .option('--json', 'print JSON only')
    .option('--out <file>', 'write the JSON to a file too')
    .addOption(
      new Option('--url <url>', 'load this running environment, and start nothing but a receiver').conflicts([
        ...['only', 'quick', 'repeat', 'shapes', 'dist', 'versus', 'node', 'versusNode', 'env', 'versusEnv'],
        ...['postgres', 'statements', 'burst', 'profile', 'data'],
      ]),
    )
    .addOption(new Option('--key <key>', 'its account key').env('PARCELHOOK_KEY'))
    .addOption(new Option('--token <token>', 'an access token of that account').env('PARCELHOOK_TOKEN'))
    .addOption(
      new Option(
        '--operator-token <token>',
        'instead of both: makes an account, and removes it again with all it had',
      ).env('OPERATOR_TOKEN'),
    )
    .option(
      '--receiver-url <url>',
      'where the environment reaches the receiver (default: a free port of 127.0.0.1)',
    )
    .option(
      '--receiver-listen <address:port>',
      'where the receiver listens, if that is not the port of --receiver-url',
    )
    .addHelpText('after', helpOfUrl)
    .parse();
  const given = program.opts<Parsed>();

  const size = given.quick ? quickSize : fullSize;
  const isTwo = given.versus !== undefined || given.versusNode !== undefined || given.versusEnv !== undefined;
  const first = { name: 'measured', dist: resolve(given.dist), node: given.node, env: given.env ?? {} };
  const second = {
    name: 'versus',
    dist: resolve(given.versus ?? given.dist),
    node: given.versusNode ?? given.node,
    env: { ...given.env, ...given.versusEnv },
  };
  return {
    environment: given.url === undefined ? undefined : environmentOf(given.url, given, program),
    settings: {
      ...size,
      quick: given.quick ?? false,
      shapes: given.shapes && new Set(given.shapes),
      webhooks: given.webhooks,
      clients: given.clients,
      orders: given.orders ?? size.orders,
      burst: given.burst ?? size.burst,
      rateSeconds: given.seconds ?? size.rateSeconds,
      orderRates: given.rates,
    },
    phases: all.filter(({ name }) => given.only?.includes(name) ?? true),
    withCeiling: given.only?.includes('ceiling') ?? true,
    ceilingPosts: given.quick ? 10_000 : 30_000,
    repeat: given.repeat,
    builds: isTwo ? [first, second] : [first],
    postgresBinDir: given.postgres,
    withStatements: given.statements,
    profileDir: given.profile,
    dataDir: resolve(given.data),
    json: given.json ?? false,
    out: given.out,
  };
}
