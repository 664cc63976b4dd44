/** `npm run fuzz`: sends requests made from the OpenAPI document to the real service and checks the responses. */
import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError } from 'commander';
import fc from 'fast-check';
import { startDeployment } from './deployment.js';
import { createFuzzer, type Fuzzer } from './fuzzer.js';
import { runSchemathesis } from './schemathesis.js';

const whole = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
};

const program = new Command('fuzz')
  .description('Sends valid, nearly valid and hostile requests for every operation of the OpenAPI document.')
  .option('--requests <number>', 'how many', whole, 100_000)
  .option('--seed <number>', 'decides what is sent', whole, 1)
  .option('--parallel <number>', 'requests under way at once', whole, 8)
  .option('--schemathesis <st>', 'run this program of Schemathesis instead of our own fuzzer')
  .option('--examples <number>', 'requests that Schemathesis makes for an operation and phase', whole, 100)
  .parse();
const options = program.opts<{
  requests: number;
  seed: number;
  parallel: number;
  schemathesis?: string;
  examples: number;
}>();

const batchSize = 200;
const maxShown = 20;

const deployment = await startDeployment();
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (interrupted = true));
const problems = options.schemathesis
  ? await runSchemathesis(options.schemathesis, deployment.url, options)
  : await runFuzzer(await createFuzzer(deployment));
const health = (await fetch(`${deployment.url}/healthz`).catch(() => null))?.status;
if (health !== 200) problems.push('the service no longer responds');
const inLog = /^.*(unexpected error|unhandled|"status":5\d\d).*$/im.exec(deployment.process.output())?.[0];
if (inLog) problems.push(`in the log: ${inLog}`);
await deployment.stop();
for (const problem of problems.slice(0, maxShown)) console.log(`\n${problem}`);
console.log(
  problems.length === 0 ? '\nNothing found.' : `\n${problems.length} found; --seed ${options.seed} again.`,
);
process.exit(problems.length === 0 && !interrupted ? 0 : 1);

async function runFuzzer({ requests, probe, seen }: Fuzzer): Promise<string[]> {
  const found: string[] = [];
  const bar = new SingleBar({
    format: '{bar} {value}/{total} requests, {found} found, {eta_formatted} left',
  });
  bar.start(options.requests, 0, { found: 0 });
  for (let done = 0; done < options.requests && !interrupted && found.length < 1_000; done += batchSize) {
    const numRuns = Math.min(batchSize, options.requests - done);
    const drafts = fc.sample(requests, { numRuns, seed: options.seed * 1_000_003 + done }).values();
    const worker = async () => {
      for (const draft of drafts)
        await probe(draft).catch((error: unknown) => void found.push((error as Error).message));
    };
    await Promise.all(Array.from({ length: options.parallel }, worker));
    bar.update(done + numRuns, { found: found.length });
  }
  bar.stop();
  const byStatus: Record<string, number> = {};
  for (const [what, count] of seen) {
    const status = what.split(' ').at(-1)!;
    byStatus[status] = (byStatus[status] ?? 0) + count;
  }
  console.log(`Responses by status: ${JSON.stringify(byStatus)}`);
  return found;
}
