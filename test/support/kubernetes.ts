import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { parseEnv } from './compose.js';

export const folder = 'docs/kubernetes';
const base = join(folder, 'base');

export interface EnvVariable {
  name: string;
  valueFrom: { secretKeyRef: { name: string; key: string; optional?: boolean } };
}
export interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  timeoutSeconds?: number;
  failureThreshold: number;
}
export interface Container {
  image: string;
  args: string[];
  command?: string[];
  env: EnvVariable[];
  envFrom?: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  resources: object;
  securityContext: object;
  volumeMounts: { mountPath: string }[];
  lifecycle?: unknown;
}
export interface PodTemplate {
  metadata: { labels: Record<string, string> };
  spec: {
    containers: Container[];
    volumes: Record<string, unknown>[];
    terminationGracePeriodSeconds?: number;
    securityContext: object;
  };
}
interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: 'In'; values: string[] }[];
}
interface MetricTarget {
  resource?: { name: string };
  external?: { metric: { name: string } };
  pods?: { metric: { name: string } };
  object?: { metric: { name: string } };
}
interface Rule {
  from?: unknown[];
  to?: { ipBlock?: { cidr: string; except: string[] } }[];
  ports: { port: number | string }[];
}
/** Has as much of the kinds as the tests read. */
export interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  data?: Record<string, string>;
  spec: {
    template?: PodTemplate;
    selector?: Selector & Record<string, string>;
    podSelector?: Selector;
    policyTypes?: string[];
    ingress?: Rule[];
    egress?: Rule[];
    replicas?: number;
    maxReplicas?: number;
    scaleTargetRef?: { kind: string; name: string };
    metrics?: MetricTarget[];
    ports?: { port: number; targetPort: string }[];
    podMetricsEndpoints?: Record<string, unknown>[];
  };
}
export interface Kustomization {
  namespace?: string;
  resources: string[];
  labels?: { pairs: Record<string, string> }[];
  configMapGenerator: { name: string; behavior?: string; envs: string[] }[];
}

const read = <T>(text: string): T[] => parseAllDocuments(text).map((document) => document.toJS() as T);
export const readKustomization = (path: string): Kustomization =>
  read<Kustomization>(readFileSync(join(folder, path, 'kustomization.yaml'), 'utf8'))[0]!;

export const manifests = readdirSync(base).filter(
  (file) => file.endsWith('.yaml') && !file.startsWith('kust'),
);
export const resources = manifests.flatMap((file) => read<Resource>(readFileSync(join(base, file), 'utf8')));
export const overlays = readdirSync(join(folder, 'overlays'));

/** The settings of the base, with those of an overlay over them. */
export const settingsOf = (overlay?: string): Record<string, string> => ({
  ...parseEnv(readFileSync(join(base, 'settings.env'), 'utf8')),
  ...(overlay && parseEnv(readFileSync(join(folder, 'overlays', overlay, 'settings.env'), 'utf8'))),
});

/** The pods, by what their container is told to do: `api`, `worker`, `migrate`. */
export const pods = new Map(
  resources
    .flatMap(({ kind, spec }) => (spec.template ? [{ kind, template: spec.template }] : []))
    .map(({ kind, template }) => [
      template.spec.containers[0]!.args[0]!,
      { kind, template, container: template.spec.containers[0]! },
    ]),
);

export const selects = (selector: Selector, labels: Record<string, string>): boolean =>
  Object.entries(selector.matchLabels ?? {}).every(([name, value]) => labels[name] === value) &&
  (selector.matchExpressions ?? []).every(({ key, values }) => values.includes(labels[key] ?? ''));

const works = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
export const validator = works('kubernetes-validate', '--version') ? 'kubernetes-validate' : null;
export const kubectl = works('kubectl', 'kustomize', '--help') ? 'kubectl' : null;
if (!validator)
  console.warn('\n  NO kubernetes-validate ON PATH: docs/kubernetes is NOT CHECKED by strict schemas.\n');
if (!kubectl) console.warn('\n  NO kubectl ON PATH: the overlays of docs/kubernetes are NOT BUILT.\n');

export function built(overlay: string): { text: string; resources: Resource[] } {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', join(folder, 'overlays', overlay)], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return { text: stdout, resources: read<Resource>(stdout) };
}
