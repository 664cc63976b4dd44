import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compose } from '../support/compose.js';
import { newFolder } from '../support/deployment.js';
import { freePort } from '../support/redis.js';
import { until } from '../support/until.js';

const program = 'prometheus-node-exporter';

export interface NodeExporter {
  url: string;
  stop(): Promise<void>;
}

/** With the collectors of the compose file, and a backup of a day ago in its folder; null where it is not on PATH. */
export async function startNodeExporter(): Promise<NodeExporter | null> {
  if (spawnSync(program, ['--version'], { stdio: 'ignore' }).status !== 0) {
    console.warn(`\n  NO ${program} ON PATH: what it tells of disks and backups is NOT TESTED.\n`);
    return null;
  }
  const folder = newFolder();
  const verifiedAt = Math.floor(Date.now() / 1_000) - 86_400;
  writeFileSync(
    join(folder.path, 'backup.prom'),
    `parcelhook_backup_verified_timestamp_seconds ${verifiedAt}\n`,
  );
  const options = compose.services['node-exporter']!.command!.filter((one) => one.startsWith('--collector'));
  const target = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    program,
    [
      ...options.map((option) => option.replace('=/textfile', `=${folder.path}`)),
      `--web.listen-address=${target}`,
    ],
    { stdio: 'ignore' },
  );
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const url = `http://${target}`;
  const answers = () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  await until('node_exporter answers', answers, 20_000);
  return {
    url,
    stop: async () => {
      process.off('exit', kill);
      kill();
      await exited;
      folder.remove();
    },
  };
}
