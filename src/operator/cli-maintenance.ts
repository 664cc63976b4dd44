import type { Command } from 'commander';
import { idArgument } from './cli-options.js';
import type { Request } from './cli-request.js';

/** Sealing many secrets anew takes its time. */
const rotationTimeoutMs = 300_000;

/** Adds the commands for what an operator does to a running deployment. */
export function addMaintenanceCommands(
  program: Command,
  request: Request,
  example: (line: string) => string,
): void {
  const replay = program.command('replay').description('replays that catch up on what a webhook missed');
  replay
    .command('cancel')
    .description('cancel a replay under way (see status); what it has set going already goes on')
    .requiredOption('--id <id>', 'id of the replay', idArgument)
    .addHelpText('after', example('replay cancel --id 0199…'))
    .action(
      request((client, { id }: { id: string }) =>
        client.post(`/operator/v1/replays/${encodeURIComponent(id)}/cancel`, '{}'),
      ),
    );

  const secrets = program.command('secrets').description('webhook secrets at rest');
  secrets
    .command('rotate-key')
    .description('seal every webhook secret with the current SECRETS_KEY; then SECRETS_KEY_PREVIOUS can go')
    .addHelpText('after', example('secrets rotate-key'))
    .action(
      request((client) =>
        client.post('/operator/v1/secrets/rotate-key', '{}', {
          repeatable: true,
          timeoutMs: rotationTimeoutMs,
        }),
      ),
    );
}
