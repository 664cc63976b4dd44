import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { registerAccount } from '../../support/client.js';
import { operatorToken } from '../../support/process.js';

const fileOf = (name: string) => fileURLToPath(new URL(`./${name}`, import.meta.url));
const config = fileOf('schemathesis.toml');

/** Runs with the credentials of an account; prints its findings. */
export async function runSchemathesis(
  program: string,
  url: string,
  { examples, seed }: { examples: number; seed: number },
): Promise<string[]> {
  const { accountKey, token, email, password } = await registerAccount({ url });
  const child = spawn(
    program,
    ['--config-file', config, 'run', `${url}/openapi.json`, '-n', String(examples), '--seed', String(seed)],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        SCHEMATHESIS_HOOKS: fileOf('schemathesis_hooks.py'),
        PARCELHOOK_KEY: accountKey,
        PARCELHOOK_TOKEN: token,
        PARCELHOOK_EMAIL: email,
        PARCELHOOK_PASSWORD: password,
        OPERATOR_TOKEN: operatorToken,
      },
    },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0 ? [] : [`Schemathesis ended with ${code}`];
}
