import { randomBytes } from 'node:crypto';
import { ConfigError } from '../platform/errors.js';
import { isPair, type ClientCertificate } from './client-certificate.js';
import { describeIssue, nearestName } from '../platform/issues.js';
import { isLoopback } from '../platform/networks.js';
import { equalSecrets, secretFileNames, withSecretFiles, type GeneratedName } from './secrets.js';
import { variables, type Variables } from './variables.js';

export type Config = Omit<
  Variables,
  'HOST' | 'ALLOW_PRIVATE_TARGETS' | 'ALLOW_HTTP_TARGETS' | 'DESTINATION_RATE' | 'SIMULATE'
> & {
  embedded: boolean;
  /** The service is embedded, and only this machine reaches it. */
  development: boolean;
  /** Unknown variables whose names resemble known ones; in production they are refused. */
  misspelt: string[];
  HOST: string | undefined;
  ALLOW_PRIVATE_TARGETS: boolean;
  ALLOW_HTTP_TARGETS: boolean;
  DESTINATION_RATE: number;
  SIMULATE: boolean;
};

export type CompleteConfig = Omit<Config, GeneratedName> & Record<GeneratedName, string>;

/** Throws ConfigError with a line per wrong or missing variable. A worker needs fewer secrets, `migrate` none. */
export function parseConfig(env: Record<string, string | undefined>, role = 'all'): Config {
  const { env: given, problems } = withSecretFiles(
    Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== '')),
  );
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(variables.shape)) {
    const parsed = schema.safeParse(given[name], { error: describeIssue });
    if (parsed.success) values[name] = parsed.data;
    else problems.push(...parsed.error.issues.map(({ message }) => `${name}: ${message}`));
  }
  if (given.DATABASE_URL) problems.push(...missingSecrets(given, role));
  const misspelt = misspeltVariables(Object.keys(given));
  const isProduction =
    given.DATABASE_URL !== undefined || misspelt.some(({ meant }) => meant === 'DATABASE_URL');
  const named = misspelt.map(
    ({ name, meant }) => `${name}: is not a variable of this service; did you mean ${meant}?`,
  );
  if (isProduction) problems.push(...named);
  problems.push(
    ...mailProblems(values, given, role),
    ...certificateProblems(values, given),
    ...relationProblems(values, role),
  );
  refuse(problems);
  const settings = values as Variables;
  const embedded = settings.DATABASE_URL === undefined;
  const HOST = settings.HOST ?? (embedded ? '127.0.0.1' : undefined);
  const ALLOW_PRIVATE_TARGETS = settings.ALLOW_PRIVATE_TARGETS ?? embedded;
  const development = embedded && HOST !== undefined && isLoopback(HOST);
  return {
    ...settings,
    embedded,
    development,
    misspelt: named,
    HOST,
    ALLOW_PRIVATE_TARGETS,
    ALLOW_HTTP_TARGETS: settings.ALLOW_HTTP_TARGETS ?? embedded,
    DESTINATION_RATE: settings.DESTINATION_RATE ?? (ALLOW_PRIVATE_TARGETS ? 0 : defaultDestinationRate),
    SIMULATE: settings.SIMULATE ?? development,
  };
}

/** Where private targets are allowed, receivers are the operator's own or under test. */
const defaultDestinationRate = 50;

/** Other programs use these: where the variable that they resemble is set as well, they are no mistake. */
const ofOtherPrograms = ['SECRET_KEY', 'DATABASE_URI', 'REDIS_URI'];

/** A setting that a typing mistake has lost would otherwise look like a variable of another program. */
function misspeltVariables(given: string[]): { name: string; meant: string }[] {
  const known = [...Object.keys(variables.shape), ...secretFileNames];
  const others = given.filter((name) => /^[A-Z][A-Z0-9_]*$/.test(name) && !known.includes(name));
  return others.flatMap((name) => {
    const meant = nearestName(name, known);
    if (meant === null || (ofOtherPrograms.includes(name) && given.includes(meant))) return [];
    return [{ name, meant }];
  });
}

function refuse(problems: string[]): void {
  if (problems.length === 0) return;
  throw new ConfigError(`The configuration is not valid:\n${problems.map((line) => `  ${line}`).join('\n')}`);
}

export const requireSecretsDiffer = (config: CompleteConfig): void => refuse(equalSecrets(config));

const randomSecret = () => randomBytes(32).toString('base64url');

/** A worker signs no tokens and serves no operator: random secrets stand in for those it was not given. */
export const completeConfig = (config: Config): CompleteConfig => ({
  ...config,
  SECRETS_KEY: config.SECRETS_KEY!,
  TOKEN_SECRET: config.TOKEN_SECRET ?? randomSecret(),
  OPERATOR_TOKEN: config.OPERATOR_TOKEN ?? randomSecret(),
});

function neededSecrets(role: string): GeneratedName[] {
  if (role === 'migrate') return [];
  return role === 'worker' ? ['SECRETS_KEY'] : ['TOKEN_SECRET', 'SECRETS_KEY', 'OPERATOR_TOKEN'];
}

function missingSecrets(given: Record<string, unknown>, role: string): string[] {
  return neededSecrets(role)
    .filter((name) => !given[name] && !given[`${name}_FILE`]) // the file has been reported
    .map((name) => `${name}: is required with DATABASE_URL (generate one: openssl rand -base64 32)`);
}

/** A variable that was given and is invalid by itself is no missing one. */
function mailProblems(values: Partial<Variables>, given: Record<string, unknown>, role: string): string[] {
  const { SMTP_URL, MAIL_FROM } = values;
  if (SMTP_URL === undefined)
    return MAIL_FROM && !given.SMTP_URL && !given.SMTP_URL_FILE ? ['MAIL_FROM: requires SMTP_URL'] : [];
  const problems = given.MAIL_FROM ? [] : ['MAIL_FROM: is required with SMTP_URL'];
  if (role === 'worker' && !given.PUBLIC_URL)
    problems.push('PUBLIC_URL: is required with SMTP_URL: a worker writes the links in e-mails');
  return problems;
}

function certificateProblems(
  { CLIENT_CERT_FILE: cert, CLIENT_KEY_FILE: key }: Partial<Variables>,
  given: Record<string, unknown>,
): string[] {
  if (cert !== undefined && key !== undefined)
    return isPair({ cert, key })
      ? []
      : ['CLIENT_KEY_FILE: is not the key of the first certificate in CLIENT_CERT_FILE'];
  if (cert !== undefined && !given.CLIENT_KEY_FILE)
    return ['CLIENT_KEY_FILE: is required with CLIENT_CERT_FILE'];
  return key !== undefined && !given.CLIENT_CERT_FILE
    ? ['CLIENT_CERT_FILE: is required with CLIENT_KEY_FILE']
    : [];
}

export const clientCertificateOf = ({
  CLIENT_CERT_FILE: cert,
  CLIENT_KEY_FILE: key,
}: Pick<Config, 'CLIENT_CERT_FILE' | 'CLIENT_KEY_FILE'>): ClientCertificate | undefined =>
  cert === undefined || key === undefined ? undefined : { cert, key };

const withoutPooler = {
  DATABASE_URL: 'an embedded PostgreSQL has no pooler in front of it',
  REDIS_URL: 'a queue on PostgreSQL needs a connection that is always its own, which the pooler would share',
};

/** A variable that is invalid by itself is absent from `values`: it was reported already. */
function relationProblems(values: Partial<Variables>, role: string): string[] {
  const problems: string[] = [];
  if (values.METRICS_PORT !== undefined && values.METRICS_PORT !== 0 && values.METRICS_PORT === values.PORT) {
    problems.push('METRICS_PORT: must differ from PORT');
  }
  if (values.DATABASE_URL === undefined && role === 'migrate') {
    if (values.MIGRATION_DATABASE_URL === undefined)
      problems.push(
        'DATABASE_URL: is required, or MIGRATION_DATABASE_URL (an embedded PostgreSQL is migrated when it starts)',
      );
  } else if (values.DATABASE_URL === undefined && values.MIGRATION_DATABASE_URL !== undefined) {
    problems.push('MIGRATION_DATABASE_URL: requires DATABASE_URL');
  }
  if (values.DATABASE_URL === undefined && values.DATABASE_READ_URL !== undefined)
    problems.push('DATABASE_READ_URL: requires DATABASE_URL');
  if (values.DATABASE_POOLER === 'transaction' && role !== 'migrate')
    for (const name of ['DATABASE_URL', 'REDIS_URL'] as const)
      if (values[name] === undefined)
        problems.push(`DATABASE_POOLER: transaction requires ${name}: ${withoutPooler[name]}`);
  return [...problems, ...equalSecrets(values)];
}
