/** Static checks of the compose file, the image and `.env.example`. */
import { describe, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '../../src/config/config.js';
import { variables } from '../../src/config/variables.js';
import { parseDurationMs } from '../../src/platform/quantity.js';
import { codeBlocks, readTracked, readYaml } from '../support/project-files.js';
import { compose, fillIn, interpolated, parseEnv } from '../support/compose.js';

const ourVariables = Object.keys(variables.shape);
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);
const example = readTracked('.env.example');
const dockerfile = readTracked('Dockerfile');

describe('the compose file', () => {
  test('runs two apis behind a proxy and workers of one image, a database, a queue and monitoring', () => {
    expect(Object.keys(compose.services)).toEqual([
      ...['api-1', 'api-2', 'haproxy', 'worker', 'migrate', 'postgres', 'redis'],
      ...['prometheus', 'node-exporter', 'blackbox-exporter', 'alertmanager', 'grafana'],
    ]);
    expect(ours.map(([name, { command }]) => [name, command])).toEqual([
      ['api-1', ['api']],
      ['api-2', ['api']],
      ['worker', ['worker']],
      ['migrate', ['migrate']],
    ]);
  });

  test('lets nothing depend on an api: Compose would stop it whenever it replaces the api', () => {
    expect(compose.services['api-2']).toEqual(compose.services['api-1']);
    const needed = services.flatMap(([, { depends_on: others = {} }]) => Object.keys(others));
    expect(needed.filter((name) => name.startsWith('api'))).toEqual([]);
  });

  test('migrates once, before api and workers start', () => {
    const { 'api-1': api, worker, migrate } = compose.services;
    expect(migrate!.restart).toBe('no');
    for (const { depends_on: needed, restart } of [api!, worker!]) {
      expect(needed!.migrate).toEqual({ condition: 'service_completed_successfully' });
      expect(restart).toBe('unless-stopped');
    }
    expect(migrate!.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
  });

  test.each(ours)('gives %s a command of the program', (_name, { command }) => {
    const start = (name: string) =>
      spawnSync(process.execPath, ['dist/main.js', name], { env: { PORT: 'wrong' } }).status;
    expect(start(command![0]!)).toBe(78); // the command is accepted, its setting is refused
    expect(start('no-such-command')).toBe(64);
  });

  test('gives api and worker each variable they need by name, and the worker no secret of the api', () => {
    const notHere = ['DATA_DIR', 'HOST', 'METRICS_TOKEN', 'MIGRATION_DATABASE_URL', 'TIME_SCALE'];
    const [api, worker] = ['api-1', 'worker'].map((name) =>
      Object.keys(compose.services[name]!.environment!),
    );
    expect([...api!, ...notHere].sort()).toEqual([...ourVariables].sort());
    expect(api!.filter((name) => !worker!.includes(name))).toEqual([
      'TOKEN_SECRET',
      'TOKEN_SECRET_PREVIOUS',
      'OPERATOR_TOKEN',
      'OPERATOR_TOKENS',
    ]);
    expect(worker!.filter((name) => !api!.includes(name))).toEqual([]);
  });

  test.each(services)(
    'gives %s no other variable, no password in its arguments, and no root',
    (name, service) => {
      expect(service.env_file).toBeUndefined();
      expect((service.command ?? []).join(' ')).not.toMatch(/\$\{\w*(PASSWORD|SECRET|TOKEN|KEY)/);
      const isOurs = ours.some(([own]) => own === name);
      const user = isOurs ? /^USER (\S+)/m.exec(dockerfile)?.[1] : service.user;
      expect(user).toMatch(/^(?!root|0\b)\w+/);
      const secrets: Record<string, RegExp> = {
        postgres: /^POSTGRES_/,
        redis: /^REDISCLI_AUTH$/,
        grafana: /^GF_/,
      };
      if (!isOurs)
        expect(Object.keys(service.environment ?? {}).filter((key) => !secrets[name]?.test(key))).toEqual([]);
    },
  );

  test.each(services)('lets %s write only where necessary, with a memory limit', (name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
    });
    const byImage = ours.some(([own]) => own === name) && /^HEALTHCHECK/m.test(dockerfile);
    expect(service.healthcheck !== undefined || byImage).toBe(true);
  });

  test('lets the service read and write under a role that owns nothing, and migrate under another', () => {
    const roleOf = (url: unknown) => new URL(fillIn(String(url), env)).username;
    const env = { POSTGRES_PASSWORD: 'p', POSTGRES_SERVICE_PASSWORD: 's' };
    const { 'api-1': api, worker, migrate, postgres } = compose.services;
    expect(roleOf(migrate!.environment!.MIGRATION_DATABASE_URL)).toBe(postgres!.environment!.POSTGRES_USER);
    expect(Object.keys(migrate!.environment!)).toEqual([
      'DATABASE_URL',
      'REDIS_URL',
      'MIGRATION_DATABASE_URL',
    ]);
    for (const { environment } of [api!, worker!, migrate!])
      expect(roleOf(environment!.DATABASE_URL)).toBe('parcelhook_service');
    expect(readTracked('.postgres/service-role.sh')).toContain('create role parcelhook_service login');
  });

  test('publishes the API, Prometheus, Alertmanager and Grafana, on this machine only', () => {
    const published = services.flatMap(([, { ports = [] }]) => ports.map((port) => fillIn(port, {})));
    expect(published).toEqual([8080, 9090, 9093, 3000].map((port) => `127.0.0.1:${port}:${port}`));
  });

  test('puts the database and the queue in a network without internet access', () => {
    const inside = services.filter(([, { networks }]) => networks?.join() === 'data').map(([name]) => name);
    expect(inside).toEqual(['postgres', 'redis']);
    expect(compose.networks.data).toEqual({ internal: true });
  });

  test('refers to existing volumes, files and services', () => {
    const mounted = services.flatMap(([, { volumes = [] }]) =>
      volumes.map((volume) => volume.split(':')[0]!),
    );
    const files = mounted.filter((source) => source.startsWith('./'));
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
    const volumes = new Set(mounted.filter((source) => !files.includes(source)));
    expect([...volumes]).toEqual(Object.keys(compose.volumes));
    const needed = services.flatMap(([, { depends_on: others = {} }]) => Object.keys(others));
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(needed));
  });

  test('stops a process later than the process stops itself', () => {
    for (const [, { stop_grace_period: grace, environment }] of ours.filter(([name]) => name !== 'migrate')) {
      const delayMs = parseDurationMs(fillIn(environment!.SHUTDOWN_DELAY as string, {}))!;
      expect(delayMs).toBeGreaterThan(0); // load balancers need time to notice
      expect(parseDurationMs(grace!)).toBeGreaterThan(delayMs + parseConfig({}).SHUTDOWN_TIMEOUT);
    }
  });

  test('points Prometheus to the listeners of our processes', () => {
    interface Job {
      static_configs?: { targets: string[] }[];
      dns_sd_configs?: { names: string[]; port: number }[];
    }
    const { scrape_configs: jobs } = readYaml<{ scrape_configs: Job[] }>('grafana/prometheus/prometheus.yml');
    const targets = jobs.flatMap(({ static_configs: fixed = [], dns_sd_configs: names = [] }) => [
      ...fixed.flatMap((config) => config.targets),
      ...names.flatMap((config) => config.names.map((name) => `${name}:${config.port}`)),
    ]);
    const expected = ours
      .filter(([name]) => name !== 'migrate')
      .map(([name, { environment: env }]) => `${name}:${env?.METRICS_PORT ?? env?.PORT}`);
    expect(targets).toEqual(expect.arrayContaining(expected));
  });

  test('has Prometheus send its alerts to Alertmanager, each with the environment it comes from', () => {
    interface Config {
      alerting: { alertmanagers: { static_configs: { targets: string[] }[] }[] };
      scrape_configs: { relabel_configs: { target_label: string; replacement: string }[] }[];
    }
    const { alerting, scrape_configs: jobs } = readYaml<Config>('grafana/prometheus/prometheus.yml');
    expect(alerting.alertmanagers).toEqual([{ static_configs: [{ targets: ['alertmanager:9093'] }] }]);
    for (const { relabel_configs: relabelled } of jobs)
      expect(relabelled.at(-1)).toEqual({ target_label: 'environment', replacement: 'production' });
  });
});

describe('.env.example', () => {
  test('has existing variables only', () => {
    const known = [...ourVariables, ...interpolated().keys()];
    expect(known).toEqual(expect.arrayContaining(Object.keys(parseEnv(example, 'commented'))));
  });

  test('has every variable that the compose file uses', () => {
    expect(Object.keys(parseEnv(example))).toEqual(expect.arrayContaining([...interpolated().keys()]));
  });

  const openssl = spawnSync('openssl', ['version']).error === undefined;
  if (!openssl) console.warn("\n  NO openssl ON PATH: the README's command that makes .env is NOT TESTED.\n");

  (openssl ? test : test.skip)(
    'becomes, by the command in the README, an .env that all can start with',
    () => {
      const [block] = codeBlocks('Docker Compose');
      const command = block!.code.split('\n')[0]!;
      expect(example).toContain(command.replace(/ +#.*/, ''));
      const folder = mkdtempSync(join(tmpdir(), 'parcelhook-env-'));
      try {
        copyFileSync('.env.example', join(folder, '.env.example'));
        execFileSync('sh', ['-c', command], { cwd: folder });
        const env = parseEnv(readFileSync(join(folder, '.env'), 'utf8'));
        const secrets = Object.entries(parseEnv(example)).filter(([, value]) => value === '');
        expect(new Set(secrets.map(([name]) => env[name])).size).toBe(secrets.length);
        for (const [role, { environment }] of ours) {
          const filled = Object.entries(environment!).map(([name, text]): [string, string | undefined] => [
            name,
            text === null ? env[name] : fillIn(String(text), env),
          ]);
          const config = parseConfig(Object.fromEntries(filled), role.replace(/-\d$/, ''));
          expect(config).toMatchObject({ embedded: false, PORT: 8080, REDIS_URL: expect.any(String) });
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
});

test('the image consists of existing files that .dockerignore includes', () => {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list]) =>
    list!.split(' '),
  );
  expect(copied.filter((file) => !existsSync(file))).toEqual([]);
  expect(readTracked('.dockerignore').split('\n')).toEqual(
    expect.arrayContaining(['*', ...copied.map((file) => `!${file.split('/')[0]}`)]),
  );
});
