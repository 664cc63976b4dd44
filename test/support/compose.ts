import { readTracked, readYaml } from './project-files.js';

export interface ComposeService {
  image: string;
  build?: string;
  restart?: string;
  command?: string[];
  /** Null: passed through from `.env`. */
  environment?: Record<string, string | number | null>;
  env_file?: string;
  user?: string;
  ports?: string[];
  volumes?: string[];
  networks?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  mem_limit?: string;
  stop_grace_period?: string;
}

interface ComposeFile {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
  networks: Record<string, { internal?: boolean }>;
}

export const compose = readYaml<ComposeFile>('docker-compose.yml');

export function interpolated(): Map<string, { optional: boolean }> {
  const uses = [...readTracked('docker-compose.yml').matchAll(/\$\{(\w+)(:[-?])?/g)];
  return new Map(uses.map(([, name, form]) => [name!, { optional: form === ':-' }]));
}

export const fillIn = (text: string, env: Record<string, string>): string =>
  text.replace(/\$\{(\w+)(?::-([^}]*))?(?::\?[^}]*)?\}/g, (_, name: string, otherwise?: string) => {
    const value = env[name] || otherwise;
    if (value === undefined) throw new Error(`${name} is not set`);
    return value;
  });

/** `NAME=value` lines; `also` includes commented ones. */
export const parseEnv = (text: string, also: 'commented' | null = null): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(also ? /^#?([A-Z_]+)=(.*)$/gm : /^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [
      name!,
      value!,
    ]),
  );
