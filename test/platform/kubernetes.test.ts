/** The manifests of docs/kubernetes, and their commands on real engines. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/config.js';
import { variables } from '../../src/config/variables.js';
import { createMetrics } from '../../src/platform/telemetry/metrics.js';
import { sql } from '../programs/chaos/world/engines.js';
import { createDatabase, dropDatabase } from '../support/database.js';
import { deployment, newFolder } from '../support/deployment.js';
import {
  built,
  folder,
  kubectl,
  manifests,
  overlays,
  pods,
  readKustomization,
  resources,
  selects,
  settingsOf,
  validator,
  type Resource,
} from '../support/kubernetes.js';
import { startProcess, stopProcess } from '../support/process.js';
import { runProgram } from '../support/program.js';
import { readTracked, readYaml } from '../support/project-files.js';
import { freePort } from '../support/redis.js';
import { until } from '../support/until.js';

const readme = readFileSync(join(folder, 'README.md'), 'utf8');
const ofKind = (kind: string, among: Resource[] = resources) => among.filter((one) => one.kind === kind);
const roles = [...pods.keys()];
const serving = ['api', 'worker'];
const envOf = (role: string) => pods.get(role)!.container.env;
const namesOf = (role: string) => [
  ...envOf(role).map(({ name }) => name),
  ...(pods.get(role)!.container.envFrom ? Object.keys(settingsOf()) : []),
];

const exported = async () =>
  [...(await createMetrics().text()).matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name);

describe('the containers', () => {
  test('are an api, workers and a job that migrates, each of the image and with a command of the program', () => {
    expect([...pods].map(([role, { kind }]) => [role, kind])).toEqual([
      ['api', 'Deployment'],
      ['migrate', 'Job'],
      ['worker', 'Deployment'],
    ]);
    for (const [role, { container, template }] of pods) {
      expect(template.spec.containers).toHaveLength(1);
      expect(container).toMatchObject({ image: 'parcelhook', args: [role] });
      expect(container.command).toBeUndefined(); // the entry point has V8's options
    }
  });

  test('are given variables that there are, each secret by its name, and none that is not theirs', () => {
    expect(Object.keys(variables.shape)).toEqual(expect.arrayContaining(roles.flatMap(namesOf)));
    for (const { name, valueFrom } of roles.flatMap(envOf)) expect(valueFrom.secretKeyRef.key).toBe(name);
    const tokens = ['TOKEN_SECRET', 'TOKEN_SECRET_PREVIOUS', 'OPERATOR_TOKEN', 'OPERATOR_TOKENS'];
    const ofApi = ['DATABASE_READ_URL', ...tokens];
    const [api, worker] = serving.map((role) => new Set(namesOf(role)));
    expect([...api!].filter((name) => !worker!.has(name)).sort()).toEqual(ofApi.sort());
    expect([...worker!].filter((name) => !api!.has(name))).toEqual([]);
    expect(namesOf('migrate')).toEqual(['DATABASE_URL', 'REDIS_URL', 'MIGRATION_DATABASE_URL']);
    expect([...api!, ...worker!]).not.toContain('MIGRATION_DATABASE_URL');
  });

  test.each([undefined, ...overlays])(
    'have no secret among their settings, all of them right (%s)',
    (overlay) => {
      const settings = settingsOf(overlay);
      expect(Object.keys(settings).filter((name) => /SECRET|TOKEN|KEY|PASSWORD|_URL$/.test(name))).toEqual(
        overlay ? ['PUBLIC_URL'] : [],
      );
      const secret = () => randomBytes(32).toString('hex');
      const postgres = 'postgres://a:b@c/d';
      const stores = { DATABASE_URL: postgres, DATABASE_READ_URL: postgres, REDIS_URL: 'redis://e' };
      for (const role of serving) {
        const names = envOf(role).map(({ name }) => name);
        const given = Object.fromEntries(
          names.filter((name) => name !== 'OPERATOR_TOKENS').map((name) => [name, secret()]),
        );
        expect(parseConfig({ ...settings, ...given, ...stores }, role)).toMatchObject({ embedded: false });
      }
    },
  );

  test.each(roles)(
    'of %s write nowhere but to /tmp, have no rights, no token of the cluster and a bound',
    (role) => {
      const { container, template } = pods.get(role)!;
      expect(template.spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: Number(/^USER (\d+)/m.exec(readFileSync('Dockerfile', 'utf8'))?.[1]),
          seccompProfile: { type: 'RuntimeDefault' },
        },
        volumes: [{ name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: expect.any(String) } }],
      });
      expect(container).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
        resources: {
          requests: { cpu: expect.any(String), memory: expect.any(String) },
          limits: { cpu: expect.any(String), memory: expect.any(String) },
        },
      });
    },
  );

  test('are given more time to end than they take, and an api is out of every list before it closes', () => {
    const { SHUTDOWN_DELAY: delayMs, SHUTDOWN_TIMEOUT: timeoutMs } = parseConfig(settingsOf());
    for (const role of serving) {
      const { spec } = pods.get(role)!.template;
      expect(spec.terminationGracePeriodSeconds! * 1_000).toBeGreaterThanOrEqual(delayMs + timeoutMs + 5_000);
      expect(spec.containers[0]!.lifecycle).toBeUndefined(); // SHUTDOWN_DELAY is what a preStop hook would be
    }
    const { readinessProbe: probe } = pods.get('api')!.container;
    expect(delayMs).toBeGreaterThanOrEqual(2 * probe!.periodSeconds * probe!.failureThreshold * 1_000);
  });

  test.each(serving)(
    'of %s are probed on their metrics port, and restarted only by the probe of /healthz',
    (role) => {
      const { container } = pods.get(role)!;
      const { PORT: port, METRICS_PORT: metricsPort } = parseConfig(settingsOf());
      const ports = Object.fromEntries(container.ports!.map((one) => [one.name, one.containerPort]));
      expect(ports).toEqual({ metrics: metricsPort, ...(role === 'api' && { http: port }) });
      const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
      expect(probes.map((probe) => probe!.httpGet)).toEqual([
        { path: '/healthz', port: 'metrics' },
        { path: '/healthz', port: 'metrics' },
        { path: '/readyz', port: 'metrics' },
      ]);
      expect(container.readinessProbe!.timeoutSeconds).toBeGreaterThanOrEqual(2); // its checks take up to 1.5 s
    },
  );
});

describe('what stands around them', () => {
  const labelsOf = (role: string) => pods.get(role)!.template.metadata.labels;
  const selected = (selector: Parameters<typeof selects>[0]) =>
    roles.filter((role) => selects(selector, labelsOf(role)));

  test('is in the kustomization, file by file, and every file is there', () => {
    expect(readKustomization('base').resources.sort()).toEqual(manifests.sort());
    for (const overlay of overlays)
      for (const file of readKustomization(join('overlays', overlay)).resources)
        expect(existsSync(join(folder, 'overlays', overlay, file))).toBe(true);
  });

  test('selects the pods that it is named for', () => {
    for (const { spec, metadata } of ofKind('Deployment'))
      expect(selected(spec.selector!)).toEqual([metadata.name.replace('parcelhook-', '')]);
    const [service] = ofKind('Service');
    expect(selected({ matchLabels: service!.spec.selector! })).toEqual(['api']);
    expect(service!.spec.ports!.map(({ targetPort }) => targetPort)).toEqual(['http']);
    expect(ofKind('PodDisruptionBudget').map(({ spec }) => selected(spec.selector!))).toEqual([
      ['api'],
      ['worker'],
    ]);
  });

  test('scales on CPU and, the workers, on how long what could be sent waits for us: never on a backlog; its metrics are exported', async () => {
    const scalers = ofKind('HorizontalPodAutoscaler');
    const named = scalers.map(({ spec }) => [
      spec.scaleTargetRef!.name,
      ...spec.metrics!.map((one) => (one.resource ?? (one.external ?? one.pods ?? one.object)!.metric).name),
    ]);
    expect(named).toEqual([
      ['parcelhook-api', 'cpu'],
      ['parcelhook-worker', 'parcelhook_sendable_oldest_seconds', 'cpu'],
    ]);
    for (const { spec } of ofKind('Deployment')) expect(spec.replicas).toBeUndefined();
    const [, cores] = /averageValue: (\d)00m/.exec(readTracked('docs/kubernetes/base/autoscaling.yaml'))!;
    expect(readme.replaceAll('\n', ' ')).toContain(`a worker uses more than 0.${cores} of a core`);
    for (const page of ['docs/runbook.md', 'docs/operating.md'])
      expect(readTracked(page)).toMatch(new RegExp(`use more than ${cores}0 % of a core each`));
    const [apis, workers] = scalers.map(({ spec }) => spec.maxReplicas!);
    expect(readme).toContain(`: ${apis! * 10 + workers! * 22}, `); // docs/operating.md, "Roles"
    const [, metric] = named[1]!;
    const adapter = readYaml<{ rules: { external: { seriesQuery: string; name: { as: string } }[] } }>(
      join(folder, 'prometheus-adapter.yaml'),
    );
    expect(adapter.rules.external.map(({ name }) => name.as)).toEqual([metric]);
    expect(adapter.rules.external[0]!.seriesQuery).toMatch(new RegExp(`^${metric}\\{`));
    const inReadme = [...readme.matchAll(/`(parcelhook_\w+)`/g)].map(([, one]) => one);
    expect(inReadme.length).toBeGreaterThan(2);
    expect(await exported()).toEqual(expect.arrayContaining([metric, ...inReadme]));
  });

  test('lets in what the ingress and Prometheus ask, and out what the service needs', () => {
    const policies = ofKind('NetworkPolicy');
    const all = policies.filter(({ spec }) => selected(spec.podSelector!).length === roles.length);
    expect(all.map(({ spec }) => [spec.policyTypes, spec.ingress])).toEqual([[['Ingress', 'Egress'], []]]);
    const letIn = policies.flatMap(({ spec }) =>
      (spec.ingress ?? []).map(({ ports }) => [selected(spec.podSelector!), ports.map(({ port }) => port)]),
    );
    expect(letIn).toEqual([
      [['api'], ['http']],
      [['api', 'worker'], ['metrics']],
    ]);
    const world = policies.filter(({ spec }) =>
      spec.egress?.some(({ to }) => to?.some((one) => one.ipBlock)),
    );
    expect(world.map(({ spec }) => selected(spec.podSelector!))).toEqual([['api', 'worker']]);
    const [rule] = world[0]!.spec.egress!;
    expect(rule!.ports.map(({ port }) => port)).toEqual(parseConfig({}).ALLOWED_PORTS);
    const blocks = rule!.to!.map(({ ipBlock }) => ipBlock!);
    expect(blocks.map(({ cidr }) => cidr)).toEqual(['0.0.0.0/0', '::/0']);
    expect(blocks[0]!.except).toEqual(
      expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '192.168.0.0/16']),
    );
  });

  test('has Prometheus ask api and workers, under the names of jobs that rules and dashboards know', () => {
    const [monitor] = ofKind('PodMonitor');
    expect(selected(monitor!.spec.selector!)).toEqual(serving);
    expect(monitor!.spec.podMetricsEndpoints).toEqual([
      {
        port: 'metrics',
        path: '/metrics',
        interval: '15s',
        scrapeTimeout: '10s',
        relabelings: [
          {
            sourceLabels: ['__meta_kubernetes_pod_label_app_kubernetes_io_component'],
            targetLabel: 'job',
            replacement: 'parcelhook-$1',
          },
          { sourceLabels: ['__meta_kubernetes_pod_label_environment'], targetLabel: 'environment' },
        ],
      },
    ]);
    const { scrape_configs: jobs } = readYaml<{ scrape_configs: { job_name: string }[] }>(
      'grafana/prometheus/prometheus.yml',
    );
    expect(jobs.map(({ job_name: name }) => name)).toEqual(
      expect.arrayContaining(serving.map((role) => `parcelhook-${role}`)),
    );
  });

  test('loads every alert by the command of the README, with links to the address of the deployment', () => {
    const command = /^\{\n[\s\S]+?^\} \| kubectl apply -f -$/m.exec(readme)![0];
    const options = { cwd: folder, encoding: 'utf8' } as const;
    const { stdout } = spawnSync('bash', ['-c', `kubectl() { cat; }; ${command}`], options);
    const rules = readFileSync('grafana/prometheus/rules.yml', 'utf8');
    expect(parse(stdout)).toEqual({
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'parcelhook' },
      spec: parse(rules.replaceAll('http://localhost:8080', 'https://parcelhook.example')),
    });
  });

  test('has every secret made by the commands of the README', () => {
    const made = [...readme.matchAll(/create secret generic (\S+)((?:[^\n]*\\\n)*[^\n]*)/g)].flatMap(
      ([, name, rest]) => [...rest!.matchAll(/--from-literal=(\w+)=/g)].map(([, key]) => `${name} ${key}`),
    );
    const needed = roles
      .flatMap(envOf)
      .filter(({ valueFrom }) => !valueFrom.secretKeyRef.optional)
      .map(({ valueFrom }) => `${valueFrom.secretKeyRef.name} ${valueFrom.secretKeyRef.key}`);
    expect(made.sort()).toEqual([...new Set(needed)].sort());
  });
});

const strictly = (files: string[], version: string) =>
  spawnSync(validator!, ['-k', version, '--strict', ...files], { encoding: 'utf8' });
const versions = ['1.31', '1.37'];
const statusOf = (text: string, version: string) => {
  const own = newFolder();
  writeFileSync(join(own.path, 'all.yaml'), text);
  const { status } = strictly([join(own.path, 'all.yaml')], version);
  own.remove();
  return status;
};

describe('the schemas of Kubernetes', () => {
  (validator ? test : test.skip).each(versions)(
    'of %s know every field of every kind, strictly',
    (version) => {
      const { status, stdout, stderr } = strictly(
        manifests.filter((file) => file !== 'monitoring.yaml').map((file) => join(folder, 'base', file)),
        version,
      );
      expect({ status, complaints: stderr }).toEqual({ status: 0, complaints: '' });
      const native = resources.filter(({ kind }) => kind !== 'PodMonitor');
      expect(stdout.match(/ passed for resource /g)).toHaveLength(native.length);
    },
  );

  (validator ? test : test.skip)('refuse a field that there is not', () => {
    const text = readFileSync(join(folder, 'base/worker.yaml'), 'utf8');
    const wrong = text.replace('revisionHistoryLimit', 'revisionHistoryLimits');
    expect(statusOf(wrong, versions[0]!)).not.toBe(0);
  });
});

(kubectl ? describe : describe.skip).each(overlays)('the overlay %s', (overlay) => {
  const { resources: all, text } = kubectl ? built(overlay) : { resources: [], text: '' };

  test('has all of it in one namespace, its pods labelled with the environment, its settings and an image', () => {
    expect(all.map(({ kind }) => kind).sort()).toEqual(
      [...resources.map(({ kind }) => kind), 'Namespace', 'ConfigMap'].sort(),
    );
    const { namespace } = readKustomization(join('overlays', overlay));
    for (const { kind, metadata } of all)
      if (kind !== 'Namespace') expect(metadata.namespace).toBe(namespace);
    const [settings] = ofKind('ConfigMap', all);
    expect(settings!.data).toEqual(settingsOf(overlay));
    for (const { spec } of all.filter((one) => one.spec?.template)) {
      const { metadata, spec: pod } = spec.template!;
      expect(metadata.labels.environment).toBe(overlay);
      expect(pod.containers[0]!.image).toMatch(/\/parcelhook[:@]/);
      for (const { configMapRef } of pod.containers[0]!.envFrom ?? [])
        expect(configMapRef.name).toBe(settings!.metadata.name);
    }
  });

  (validator ? test : test.skip)('is what the schemas know', () => {
    expect(statusOf(text, versions.at(-1)!)).toBe(0);
  });
});

const redis = process.env.TEST_REDIS_URL;
(redis ? describe : describe.skip)('the commands of the containers', () => {
  const admin = process.env.TEST_DATABASE_URL ?? '';
  const name = `t_${randomBytes(6).toString('hex')}`;
  const secrets = deployment('');
  let stores: Record<string, string>;

  beforeAll(async () => {
    const owner = await createDatabase(admin, name, null);
    await sql(owner, `create role ${name} login password 's'`);
    const service = new URL(owner);
    [service.username, service.password] = [name, 's'];
    stores = { DATABASE_URL: service.href, MIGRATION_DATABASE_URL: owner, REDIS_URL: redis! };
  });
  afterAll(async () => {
    await dropDatabase(admin, name);
    await sql(admin, `drop role ${name}`);
  });

  async function given(role: string): Promise<Record<string, string>> {
    const own = pods.get(role)!.container.env.filter(({ valueFrom }) => !valueFrom.secretKeyRef.optional);
    const values: Record<string, string> = { ...secrets, ...stores };
    const settings = pods.get(role)!.container.envFrom ? settingsOf() : {};
    return {
      ...settings,
      ...Object.fromEntries(own.map(({ name }) => [name, values[name]!])),
      ...(role !== 'migrate' && {
        PORT: String(await freePort()),
        METRICS_PORT: String(await freePort()),
        SHUTDOWN_DELAY: '100ms',
        QUEUE_PREFIX: name,
        HOST: '127.0.0.1',
      }),
    };
  }

  test('migrate, serve what the probes ask where they ask it, wait for the schema until then, and end', async () => {
    const starting = serving.map(async (role) => {
      const env = await given(role);
      return { role, env, running: await startProcess(env, pods.get(role)!.container.args[0]) };
    });
    const { exit, stdout } = await runProgram(pods.get('migrate')!.container.args, await given('migrate'));
    expect(stdout).toMatch(/^Migrated: 0001/);
    expect(exit).toBe(0);
    const started = await Promise.all(starting);
    try {
      for (const { role, env } of started) {
        const { container } = pods.get(role)!;
        for (const probe of [container.startupProbe!, container.livenessProbe!, container.readinessProbe!])
          await until(`${role} ${probe.httpGet.path}`, async () => {
            return (await fetch(`http://127.0.0.1:${env.METRICS_PORT}${probe.httpGet.path}`)).status === 200;
          });
        const metrics = await fetch(`http://127.0.0.1:${env.METRICS_PORT}/metrics`);
        expect(await metrics.text()).toContain(`role="${role}"`);
      }
    } finally {
      expect(await Promise.all(started.map(({ running }) => stopProcess(running)))).toEqual([0, 0]);
    }
  });
});
