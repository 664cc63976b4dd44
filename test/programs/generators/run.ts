import { spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Target } from './targets.js';

/** Where what the registries have is kept from run to run. */
const cache = resolve('node_modules/.cache/generators');
const clients = fileURLToPath(new URL('./clients', import.meta.url));
const longestMs = 15 * 60_000;

export interface ServiceAndUser {
  url: string;
  accountKey: string;
  token: string;
}

/** The programs it needs that are not on the PATH. */
export const missingPrograms = ({ kits, needs = [] }: Target): string[] =>
  [...kits.flatMap((kit) => kit.needs), ...needs].filter((name) => spawnSync('which', [name]).status !== 0);

/**
 * Generates a client from the service's document, compiles it with a program that registers a webhook and places an
 * order, and runs that. Rejects with what the commands have printed, or if the service does not have these two.
 */
export async function runTarget(target: Target, user: ServiceAndUser): Promise<void> {
  const kitFolders = target.kits.map(({ name }) => join(cache, name));
  for (const [index, { install }] of target.kits.entries()) await installKit(kitFolders[index]!, install);
  const folder = join(kitFolders[0]!, target.name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(clients)) copyFileSync(join(clients, file), join(folder, file));
  const document = await fetch(`${user.url}/openapi.json`);
  writeFileSync(join(folder, 'api.json'), await document.text());
  const programs = target.kits.map(({ programs }, index) => join(kitFolders[index]!, programs));
  const output = await runShell(target.script, folder, {
    PATH: [...programs, resolve('node_modules/.bin'), process.env.PATH].join(delimiter),
    PARCELHOOK_URL: user.url,
    PARCELHOOK_KEY: user.accountKey,
    PARCELHOOK_TOKEN: user.token,
  });
  const [lastLine] = output.trimEnd().split('\n').slice(-1) as [string];
  const { webhookId, trackingId } = JSON.parse(lastLine) as { webhookId: string; trackingId: string };
  await expectThere(user, `/v1/webhooks/${webhookId}`);
  await expectThere(user, `/v1/shipment-tracking/${trackingId}`);
}

/** Once for each text of `install`. */
async function installKit(folder: string, install: string): Promise<void> {
  const stamp = join(folder, 'installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === install) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await runShell(install, folder, {});
  writeFileSync(stamp, install);
}

/** Resolves with stdout. */
function runShell(script: string, cwd: string, env: Record<string, string>): Promise<string> {
  const child = spawn('sh', ['-euc', script], {
    cwd,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    timeout: longestMs,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    output += chunk.toString();
  });
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => (code === 0 ? done(output) : fail(new Error(`exit ${code}: ${printed}`))));
  });
}

async function expectThere({ url, accountKey, token }: ServiceAndUser, path: string): Promise<void> {
  const response = await fetch(`${url}${path}?key=${accountKey}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (response.status !== 200) throw new Error(`GET ${path}: ${response.status}`);
}
