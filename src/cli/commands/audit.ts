import type { Command } from 'commander';
import { paged, pick, tableOf, withQuery } from '../lists.js';
import { idArgument } from '../options.js';
import { example, type Request } from '../request.js';

const columns = ['at', 'action', 'outcome', 'count', 'actor.kind', 'actor.name', 'actor.address'];
const about = ['shipperId', 'userId', 'webhookId', 'shipmentId', 'fields'];
const filters = ['actor', 'action', 'outcome', 'from', 'to', 'limit', 'cursor'];

/** Adds the command that reads the audit log. */
export function addAuditCommand(program: Command, request: Request): void {
  paged(program.command('audit'))
    .description('who changed which account, webhook or secret, newest first; and who was refused')
    .option('--id <id>', 'only about this shipper', idArgument)
    .option('--user <id>', 'only about this user', idArgument)
    .option('--webhook <id>', 'only about this webhook', idArgument)
    .option('--actor <name>', 'only what this operator (by name) or user (by id) did')
    .option('--action <action>', 'only this, such as SHIPPER_SUSPENDED')
    .option('--outcome <outcome>', 'only DONE or REFUSED')
    .option('--from <time>', 'only of then or later, such as 2026-11-21T12:00:00Z')
    .option('--to <time>', 'only of then or earlier')
    .addHelpText('after', example('audit --id 0199… --from 2026-11-21'))
    .action(
      request(
        (client, options: Record<string, string>) =>
          client.get(
            withQuery('/operator/v1/audit', {
              shipperId: options.id,
              userId: options.user,
              webhookId: options.webhook,
              ...pick(options, filters),
            }),
          ),
        tableOf('entries', [...columns, ...about]),
      ),
    );
}
