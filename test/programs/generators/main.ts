/** `npm run generators`: makes clients of the real service with the usual generators, compiles them and runs them. */
import { Command } from 'commander';
import { registerAccount } from '../../support/client.js';
import { startDeployment } from '../fuzz/deployment.js';
import { missingPrograms, runTarget } from './run.js';
import { targets } from './targets.js';

const program = new Command('generators')
  .description(
    'Makes clients with the usual generators of OpenAPI, compiles and runs them against the service.',
  )
  .argument('[names...]', `some of ${targets.map(({ name }) => name).join(', ')}`)
  .parse();
const unknown = program.args.filter((given) => !targets.some(({ name }) => name === given));
if (unknown.length > 0) program.error(`there is no ${unknown.join(', ')}`);
const chosen = targets.filter(({ name }) => program.args.length === 0 || program.args.includes(name));

const deployment = await startDeployment();
const account = await registerAccount(deployment);
const results: Record<string, string> = {};
for (const target of chosen) {
  const missing = missingPrograms(target);
  const startedAt = performance.now();
  results[target.name] =
    missing.length > 0
      ? `LEFT OUT: no ${missing.join(', no ')} on the PATH`
      : await runTarget(target, { ...account, url: deployment.url }).then(
          () => `works (${((performance.now() - startedAt) / 1_000).toFixed(0)} s)`,
          (error: unknown) => {
            console.error(`\n${target.name}: ${(error as Error).message}`);
            return 'FAILED';
          },
        );
  console.log(`${target.name}: ${results[target.name]}`);
}
await deployment.stop();
const failed = Object.values(results).filter((result) => result === 'FAILED').length;
console.log(`\n${chosen.length - failed} of ${chosen.length} without a failure.`);
process.exit(failed === 0 ? 0 : 1);
