import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseConfig } from '../../../src/config/config.js';
import { ConfigError } from '../../../src/platform/errors.js';
import { variables } from '../../../src/config/variables.js';
import { wrong } from './wrong.js';

const production = {
  DATABASE_URL: 'postgres://parcelhook@db/parcelhook',
  TOKEN_SECRET: 't'.repeat(32),
  SECRETS_KEY: 's'.repeat(32),
  OPERATOR_TOKEN: 'o'.repeat(16),
};

function problems(env: Record<string, string>): string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message.split('\n').slice(1);
  }
}
const named = (env: Record<string, string>) => problems(env).map((line) => /^ {2}(\w+): \S/.exec(line)?.[1]);

const free = ['DATA_DIR'];

describe('the configuration', () => {
  test('needs nothing in embedded mode, and then allows private and plain HTTP targets', () => {
    expect(parseConfig({})).toMatchObject({
      embedded: true,
      PORT: 8080,
      DATA_DIR: 'data',
      TOKEN_TTL: 3_600_000,
      ALLOW_PRIVATE_TARGETS: true,
      ALLOW_HTTP_TARGETS: true,
      DESTINATION_RATE: 0,
      ALLOWED_PORTS: [80, 443, 8080, 8443],
      RETRY_SCHEDULE: [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * 1_000),
      DELIVERY_TIMEOUT: 15_000,
      CONNECTION_MAX_AGE: 120_000,
      ORDER_HOLD: 900_000,
      LOG_RETENTION: 30 * 86_400_000,
      TIME_SCALE: 1,
    });
  });

  test('is strict about targets if DATABASE_URL is set, unless configured otherwise', () => {
    const strict = {
      embedded: false,
      ALLOW_PRIVATE_TARGETS: false,
      ALLOW_HTTP_TARGETS: false,
      DESTINATION_RATE: 50,
    };
    expect(parseConfig(production)).toMatchObject(strict);
    expect(parseConfig({ ...production, ALLOW_HTTP_TARGETS: 'true' })).toMatchObject({
      ...strict,
      ALLOW_HTTP_TARGETS: true,
    });
  });

  test.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ HOST: 'localhost' }, true],
    [{ HOST: '::1' }, true],
    [{ HOST: '0.0.0.0' }, false],
    [{ HOST: '192.168.1.7' }, false],
    [{ HOST: 'parcelhook.internal' }, false],
    [{ HOST: '0.0.0.0', SIMULATE: 'true' }, true],
    [{ SIMULATE: 'false' }, false],
    [production, false],
    [{ ...production, HOST: '127.0.0.1' }, false],
    [{ ...production, SIMULATE: 'true' }, true],
  ])('with %j simulates: %s', (env, simulates) => {
    expect(parseConfig(env).SIMULATE).toBe(simulates);
  });

  test('accepts networks as CIDR or single addresses, and name servers with or without a port', () => {
    expect(
      parseConfig({
        DENIED_NETWORKS: '203.0.113.7/24, 2001:DB8::1/32,198.51.100.9,::ffff:10.1.0.0/104',
        EGRESS_ADDRESSES: '2001:db8::5',
        DNS_SERVERS: '10.0.0.53, 10.0.0.53:5353,::1,[2001:db8::53],[2001:db8::53]:5353',
      }),
    ).toMatchObject({
      DENIED_NETWORKS: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.9/32', '10.0.0.0/8'],
      EGRESS_ADDRESSES: ['2001:db8::5/128'],
      DNS_SERVERS: ['10.0.0.53', '10.0.0.53:5353', '::1', '[2001:db8::53]', '[2001:db8::53]:5353'],
    });
  });

  test('names each missing secret if DATABASE_URL is set', () => {
    expect(named({ DATABASE_URL: production.DATABASE_URL })).toEqual([
      'TOKEN_SECRET',
      'SECRETS_KEY',
      'OPERATOR_TOKEN',
    ]);
  });

  test('a worker only needs the secret that opens what it sends', () => {
    const { TOKEN_SECRET, OPERATOR_TOKEN, ...rest } = production;
    expect([TOKEN_SECRET, OPERATOR_TOKEN]).not.toContain(undefined);
    expect(parseConfig(rest, 'worker')).toMatchObject({ embedded: false });
    expect(() => parseConfig({ ...rest, SECRETS_KEY: '' }, 'worker')).toThrow(/SECRETS_KEY: is required/);
    expect(() => parseConfig(rest, 'api')).toThrow(/TOKEN_SECRET: is required/);
  });

  test('this test has wrong values for every variable that can be wrong', () => {
    expect([...Object.keys(wrong), ...free].sort()).toEqual(Object.keys(variables.shape).sort());
  });

  test.each(Object.entries(wrong).flatMap(([name, values]) => values.map((value) => [name, value])))(
    '%s=%p is refused by name',
    (name, value) => {
      expect(named({ ...production, [name]: value })).toEqual([name]);
    },
  );

  test('names every wrong variable in one message, each once, and no other', () => {
    const anyWrong = fc
      .subarray(Object.keys(wrong))
      .chain((names) =>
        fc.record(Object.fromEntries(names.map((name) => [name, fc.constantFrom(...wrong[name]!)]))),
      );
    fc.assert(
      fc.property(anyWrong, (env) => {
        const broken = env as Record<string, string>;
        expect(named({ ...production, ...broken }).sort()).toEqual(Object.keys(broken).sort());
      }),
    );
  });

  test('states the expected form of a value that was not understood', () => {
    expect(problems({ PORT: 'eighty' })[0]).toMatch(/whole number from 0 to 65535/);
    expect(problems({ TOKEN_TTL: 'soon' })[0]).toMatch(
      /must be a duration from 1s to 30d: a whole number and ms, s, m, h or d, such as 500ms/,
    );
    expect(problems({ RETRY_SCHEDULE: 'soon' })[0]).toMatch(/such as 5s,5m,30m,2h/);
  });

  test('never repeats a value, which may be a secret', () => {
    const env = { ...production, TOKEN_SECRET: 'hunter2', REDIS_URL: 'hunter2@redis', PORT: 'hunter2' };
    expect(problems(env).join()).not.toContain('hunter2');
  });

  test('treats an empty variable as not set', () => {
    const empty = Object.fromEntries(Object.keys(variables.shape).map((name) => [name, '']));
    expect(parseConfig(empty)).toEqual(parseConfig({}));
  });

  test('names an unusable file once, with the reason once', () => {
    const lines = problems({ ...production, STATES_FILE: '/nowhere/states.json', PORT: 'eighty' });
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^ {2}STATES_FILE: ENOENT(?!.*ENOENT)/);
    expect(problems({ ...production, DROPOFF_FILE: './LICENSE' })[0]).toMatch(/not valid JSON/);
  });

  test.each([
    ['1', 1],
    ['loopback, 10.0.0.0/8,2001:db8::1', ['loopback', '10.0.0.0/8', '2001:db8::1']],
  ])('accepts TRUST_PROXY=%s', (text, value) => {
    expect(parseConfig({ TRUST_PROXY: text }).TRUST_PROXY).toEqual(value);
  });

  test.each<[Record<string, string>, string]>([
    [{ SECRETS_KEY: production.TOKEN_SECRET }, 'SECRETS_KEY: must differ from TOKEN_SECRET'],
    [{ OPERATOR_TOKEN: production.SECRETS_KEY }, 'OPERATOR_TOKEN: must differ from SECRETS_KEY'],
    [{ METRICS_TOKEN: production.OPERATOR_TOKEN }, 'METRICS_TOKEN: must differ from OPERATOR_TOKEN'],
    [
      { TOKEN_SECRET_PREVIOUS: production.TOKEN_SECRET },
      'TOKEN_SECRET_PREVIOUS: must differ from TOKEN_SECRET',
    ],
    [
      { SECRETS_KEY_PREVIOUS: production.TOKEN_SECRET },
      'SECRETS_KEY_PREVIOUS: must differ from TOKEN_SECRET',
    ],
    [
      { OPERATOR_TOKENS: `ci:read:${production.OPERATOR_TOKEN}` },
      'OPERATOR_TOKENS: must differ from OPERATOR_TOKEN',
    ],
    [
      { OPERATOR_TOKENS: `a:read:${'x'.repeat(16)},b:admin:${'x'.repeat(16)}` },
      'OPERATOR_TOKENS: tokens must differ from each other',
    ],
  ])('refuses a secret that is used twice: %j', (env, problem) => {
    expect(problems({ ...production, ...env })).toEqual([`  ${problem}`]);
  });

  test('accepts operator tokens by name, each with its scope', () => {
    const text = 'scanner:events:0123456789abcdef, on-call:admin:fedcba9876543210';
    expect(parseConfig({ OPERATOR_TOKENS: text }).OPERATOR_TOKENS).toEqual([
      { name: 'scanner', scope: 'events', token: '0123456789abcdef' },
      { name: 'on-call', scope: 'admin', token: 'fedcba9876543210' },
    ]);
    expect(parseConfig({}).OPERATOR_TOKENS).toEqual([]);
  });

  test('refuses one port for two listeners', () => {
    expect(named({ PORT: '8080', METRICS_PORT: '8080' })).toEqual(['METRICS_PORT']);
    expect(problems({ PORT: '0', METRICS_PORT: '0' })).toEqual([]);
  });

  test.each([
    ['redis://localhost'],
    ['rediss://user:password@host:6380/1'],
    ['redis://:p%40ss@localhost/0?family=6'],
    ['redis+sentinel://h1:26379,h2:26379/master'],
    ['rediss+sentinel://user:password@h1/master/2'],
    ['redis+cluster://h1:6379,h2:6379'],
  ])('accepts REDIS_URL=%s', (url) => {
    expect(parseConfig({ REDIS_URL: url }).REDIS_URL).toBe(url);
  });

  test.each([
    ['hooks.example.com., HOOKS.example.org:8443', ['hooks.example.com', 'hooks.example.org:8443']],
    ['b\u00fccher.example, [0:0::1]:80', ['xn--bcher-kva.example', '[::1]:80']],
  ])('AGREED_DESTINATIONS=%s has its hosts as addresses have them', (given, hosts) => {
    expect(parseConfig({ AGREED_DESTINATIONS: given }).AGREED_DESTINATIONS).toEqual(hosts);
  });

  test('a space or a line break around DATABASE_URL is no part of it', () => {
    const { DATABASE_URL } = production;
    expect(parseConfig({ ...production, DATABASE_URL: ` ${DATABASE_URL} \n` })).toMatchObject({
      DATABASE_URL,
    });
  });

  test('accepts a retry schedule with spaces, with one step, or with none', () => {
    expect(parseConfig({ RETRY_SCHEDULE: '5s, 5m' }).RETRY_SCHEDULE).toEqual([5_000, 300_000]);
    expect(parseConfig({ RETRY_SCHEDULE: '1s' }).RETRY_SCHEDULE).toEqual([1_000]);
    expect(parseConfig({ RETRY_SCHEDULE: ',' }).RETRY_SCHEDULE).toEqual([]);
  });
});

describe('e-mails', () => {
  const SMTP_URL = 'smtps://parcelhook%40example.com:p%40ss@[2001:db8::25]';
  const MAIL_FROM = 'Parcelhook <parcelhook@example.com>';

  test('the address of the mail server is read with its port, its user and its password', () => {
    expect(parseConfig({ SMTP_URL, MAIL_FROM })).toMatchObject({
      SMTP_URL: {
        host: '[2001:db8::25]',
        port: 465,
        isSecure: true,
        login: { user: 'parcelhook@example.com', password: 'p@ss' },
      },
      MAIL_FROM: { name: 'Parcelhook', address: 'parcelhook@example.com' },
    });
    expect(parseConfig({ SMTP_URL: 'smtp://mail.internal:25/', MAIL_FROM: 'a@example.com' })).toMatchObject({
      SMTP_URL: { host: 'mail.internal', port: 25, isSecure: false, login: null },
      MAIL_FROM: { name: '', address: 'a@example.com' },
    });
  });

  test('server and sender are required together, and a worker needs the address of its links', () => {
    expect(named({ SMTP_URL })).toEqual(['MAIL_FROM']);
    expect(named({ MAIL_FROM })).toEqual(['MAIL_FROM']);
    const worker = { ...production, SMTP_URL, MAIL_FROM };
    expect(() => parseConfig(worker, 'worker')).toThrow('PUBLIC_URL: is required with SMTP_URL');
    expect(() => parseConfig({ ...worker, PUBLIC_URL: 'https://h' }, 'worker')).not.toThrow();
  });
});

describe('a secret in a file', () => {
  const fileWith = (text: string) => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'secret-')), 'secret');
    writeFileSync(file, text);
    return file;
  };
  const { TOKEN_SECRET, ...others } = production;

  test('is read from the path in …_FILE, without the line break at its end', () => {
    for (const text of [TOKEN_SECRET, `${TOKEN_SECRET}\n`, `${TOKEN_SECRET}\r\n`])
      expect(parseConfig({ ...others, TOKEN_SECRET_FILE: fileWith(text) })).toMatchObject({ TOKEN_SECRET });
  });

  test('may be the address of the database, which is then not embedded', () => {
    const { DATABASE_URL, ...secrets } = production;
    const config = parseConfig({ ...secrets, DATABASE_URL_FILE: fileWith(DATABASE_URL) });
    expect(config).toMatchObject({ DATABASE_URL, embedded: false });
  });

  test.each([
    ['does not exist', () => '/no/such/file', /ENOENT/],
    ['is empty', () => fileWith('\n'), /^is empty$/],
    ['is a directory', () => tmpdir(), /EISDIR/],
  ])('that %s is named, once', (_, file, reason) => {
    const [problem, ...more] = problems({ ...others, TOKEN_SECRET_FILE: file() });
    expect(more).toEqual([]);
    expect(problem!.replace('  TOKEN_SECRET_FILE: ', '')).toMatch(reason);
  });

  test('may be each that is a secret or may have a password in it, as the page on configuration says', () => {
    const names = [
      ...['TOKEN_SECRET', 'TOKEN_SECRET_PREVIOUS', 'SECRETS_KEY', 'SECRETS_KEY_PREVIOUS', 'OPERATOR_TOKEN'],
      ...['OPERATOR_TOKENS', 'METRICS_TOKEN', 'DATABASE_URL', 'MIGRATION_DATABASE_URL', 'REDIS_URL'],
      ...['DATABASE_READ_URL', 'EGRESS_PROXY', 'SMTP_URL'],
    ];
    const page = readFileSync('docs/configuration.md', 'utf8').split('"Embedded" means')[0]!;
    for (const name of names) {
      expect(named({ [`${name}_FILE`]: '/no/such/file' })).toContain(`${name}_FILE`);
      expect(page).toContain(`\`${name}\``);
    }
  });

  test('cannot be combined with the variable itself, and its contents are checked as that is', () => {
    const TOKEN_SECRET_FILE = fileWith(TOKEN_SECRET);
    expect(problems({ ...production, TOKEN_SECRET_FILE })).toEqual([
      '  TOKEN_SECRET_FILE: cannot be combined with TOKEN_SECRET',
    ]);
    expect(named({ ...others, TOKEN_SECRET_FILE: fileWith('short') })).toEqual(['TOKEN_SECRET']);
    expect(named({ ...others, TOKEN_SECRET_FIEL: TOKEN_SECRET_FILE })).toContain('TOKEN_SECRET_FIEL');
  });
});

describe('a variable that is not ours, but one or two letters away from one', () => {
  test.each([
    ['REDIS_ULR', 'REDIS_URL'],
    ['LOG_LEVL', 'LOG_LEVEL'],
    ['RETRY_SHEDULE', 'RETRY_SCHEDULE'],
    ['PUBLIC_URI', 'PUBLIC_URL'],
    ['DATADIR', 'DATA_DIR'],
  ])('%s is named in production, with %s', (name, meant) => {
    expect(problems({ ...production, [name]: 'x' })).toEqual([
      `  ${name}: is not a variable of this service; did you mean ${meant}?`,
    ]);
  });

  test('the address of the database, without which production would be embedded, is named always', () => {
    const { DATABASE_URL, ...others } = production;
    expect(named({ ...others, DATABSE_URL: DATABASE_URL })).toEqual(['DATABSE_URL']);
  });

  test('a name that other programs use is no mistake beside the variable that it is like', () => {
    expect(parseConfig({ ...production, SECRET_KEY: 'x', DATABASE_URI: 'x' }).misspelt).toEqual([]);
    expect(named({ ...production, DATABSE_URL: 'x' })).toEqual(['DATABSE_URL']);
  });

  test('others start an embedded service, which says so', () => {
    expect(
      parseConfig({ REDIS_URI: 'redis://other', HOME: '/root', HOSTNAME: 'a', POSTGRES_URL: 'x' }),
    ).toMatchObject({
      REDIS_URL: undefined,
      misspelt: ['REDIS_URI: is not a variable of this service; did you mean REDIS_URL?'],
    });
  });
});

test('every problem is told in words of our own, not of the validation library', () => {
  const bad = Object.fromEntries(Object.entries(wrong).map(([name, [value]]) => [name, value!]));
  for (const line of problems({ ...bad, LOG_LEVEL: 'loud' }))
    expect(line).not.toMatch(/Invalid|Too (big|small)|expected/);
});
