/**
 * Stands for `docker` where the runbook's commands are tried: it takes only what docker-compose.yml and the image have,
 * and runs what the container would run on the engines of the test. Settings come as JSON in DOCKER_STAND_IN:
 * `services` (names to the names of their variables), `root`, `logFile`, `env` of the programs.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { services, root, logFile, env } = JSON.parse(process.env.DOCKER_STAND_IN);

/** Options of each command; those with a value have a form for it. */
const options = {
  ps: { '--all': null },
  logs: { '--no-log-prefix': null, '--since': /^\d+[mh]$/, '--tail': /^\d+$/ },
  up: { '-d': null, '--wait': null, '--no-recreate': null, '--scale': /^worker=\d+$/ },
  stop: {},
  restart: {},
  exec: { '-T': null },
  run: { '--rm': null, '--no-deps': null, '-T': null },
};

/** What each container has, and what runs instead. */
const programs = {
  'api-1': { parcelhook: program, printenv: asItIs },
  worker: { parcelhook: program, printenv: variable },
  postgres: Object.fromEntries(
    ['psql', 'pg_dump', 'pg_restore', 'pg_basebackup', 'sh'].map((name) => [name, asItIs]),
  ),
  redis: { 'valkey-cli': (_name, args) => ['redis-cli', ['-u', env.REDIS_URL, ...args]] },
};

main(process.argv.slice(2));

function main([first, name, ...words]) {
  if (first === 'stats') return expectOnly([name, ...words], ['--no-stream']);
  if (first !== 'compose') refuse(`docker ${first}`);
  const rest = takeOptions(name, words);
  if (name === 'logs') return void process.stdout.write(readFileSync(logFile));
  if (name !== 'exec' && name !== 'run') return rest.forEach(expectService);
  const [service, command, ...args] = rest;
  expectService(service);
  if (name === 'run' && command === undefined && service === 'migrate')
    return run(...program('parcelhook', ['migrate']));
  const start = programs[service]?.[command];
  if (!start) refuse(`${command} in ${service}`);
  run(...start(command, args, service));
}

function takeOptions(name, words) {
  const known = options[name];
  if (!known) refuse(`docker compose ${name}`);
  const rest = [...words];
  while (rest[0]?.startsWith('-')) {
    const option = rest.shift();
    if (!Object.hasOwn(known, option)) refuse(`${option} of ${name}`);
    if (known[option] && !known[option].test(rest.shift())) refuse(`the value of ${option}`);
  }
  return rest;
}

function expectService(service) {
  if (!Object.hasOwn(services, service)) refuse(`the service ${service}`);
}

function expectOnly(words, known) {
  if (words.some((word) => !known.includes(word))) refuse(words.join(' '));
}

function program(_name, args) {
  const dockerfile = readFileSync(`${root}/Dockerfile`, 'utf8');
  if (!dockerfile.includes('ln -s /app/dist/main.js /usr/local/bin/parcelhook')) refuse('parcelhook');
  return [process.execPath, [`${root}/dist/main.js`, ...args]];
}

function asItIs(name, args) {
  return [name, args];
}

function variable(name, args, service) {
  if (!services[service].includes(args[0])) refuse(`${args[0]} in ${service}`);
  return [name, args];
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  if (error) throw error;
  process.exit(status ?? 1);
}

function refuse(what) {
  process.stderr.write(`neither docker-compose.yml nor the image has this: ${what}\n`);
  process.exit(64);
}
