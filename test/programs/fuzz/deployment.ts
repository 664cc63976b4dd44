import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../../src/platform/embedded/index.js';
import { createLogger } from '../../../src/platform/telemetry/logger.js';
import { operatorToken, startProcess, stopProcess, type RunningProcess } from '../../support/process.js';

/** No rate limits; webhooks use public hostnames only, which do not exist here. */
export const fuzzSettings = {
  API_RATE_LIMIT: '0',
  LOGIN_LIMIT_ACCOUNT: '1000000',
  LOGIN_LIMIT_IP: '0',
  DELIVERY_TIMEOUT: '1s',
  SIMULATE: 'true',
  ALLOW_PRIVATE_TARGETS: 'false',
  ALLOW_HTTP_TARGETS: 'false',
};

export interface Deployment {
  url: string;
  process: RunningProcess;
  stop(): Promise<void>;
}

/** Starts it as in production, on its own PostgreSQL. */
export async function startDeployment(): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), 'parcelhook-fuzz-'));
  const postgres = await startEmbeddedPostgres({ dataDir: folder, logger: createLogger('silent') });
  const end = async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const running = await startProcess({
      DATABASE_URL: postgres.connectionString,
      TOKEN_SECRET: randomBytes(32).toString('hex'),
      SECRETS_KEY: randomBytes(32).toString('hex'),
      OPERATOR_TOKEN: operatorToken,
      PORT: '0',
      ...fuzzSettings,
    });
    const stop = async () => {
      await stopProcess(running);
      await end();
    };
    return { url: running.url, process: running, stop };
  } catch (error) {
    await end();
    throw error;
  }
}
