import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { newFolder } from '../support/deployment.js';
import { folder, kubectl, resources } from '../support/kubernetes.js';

const ofKind = (kind: string) => resources.filter((one) => one.kind === kind);

test('a deployment is given up only after the job that migrates is', () => {
  const [job] = ofKind('Job');
  const { activeDeadlineSeconds } = job!.spec as unknown as { activeDeadlineSeconds: number };
  for (const { spec } of ofKind('Deployment'))
    expect((spec as unknown as { progressDeadlineSeconds: number }).progressDeadlineSeconds).toBeGreaterThan(
      activeDeadlineSeconds,
    );
});

(kubectl ? test : test.skip)('an overlay may take every component', () => {
  const copy = newFolder();
  cpSync(folder, copy.path, { recursive: true });
  const overlay = join(copy.path, 'overlays/production');
  appendFileSync(
    join(overlay, 'kustomization.yaml'),
    'components: [../../components/zones, ../../components/egress, ../../components/keda]\n',
  );
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', overlay], { encoding: 'utf8' });
  copy.remove();
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout.match(/whenUnsatisfiable: DoNotSchedule/g)).toHaveLength(2);
  expect(stdout.match(/^kind: HorizontalPodAutoscaler$/gm)).toHaveLength(1);
  expect(stdout).toContain('query: max(parcelhook_sendable_oldest_seconds{');
  expect(stdout).toContain('name: parcelhook-more-egress');
  expect(stdout).toContain('port: 587');
});

(kubectl ? test : test.skip)(
  'the documented command makes a ConfigMap of all dashboards that a cluster takes',
  () => {
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    const command = /^kubectl create configmap parcelhook-boards [^`]*(?= \|\n {2}kubectl apply)/m.exec(
      readme,
    )![0];
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { metadata, data } = parse(stdout) as {
      metadata: { labels: Record<string, string> };
      data: Record<string, string>;
    };
    expect(metadata.labels).toEqual({ grafana_dashboard: '1' });
    const files = readdirSync('grafana/dashboards').filter((file) => file.endsWith('.json'));
    for (const file of files) expect(data[file]).toBe(readFileSync(join('grafana/dashboards', file), 'utf8'));
    expect(Buffer.byteLength(Object.values(data).join(''))).toBeLessThan(1024 * 1024);
  },
);
