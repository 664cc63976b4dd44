import type { Command } from 'commander';
import { confirm, yesOption } from '../confirm.js';
import { paged, pick, tableOf, withQuery } from '../lists.js';
import { idArgument } from '../options.js';
import { example, type Request } from '../request.js';
import type { Io } from '../terminal.js';

interface Chosen {
  id: string;
}

const path = (id: string) => `/operator/v1/shippers/${encodeURIComponent(id)}`;
const columns = ['shipperId', 'status', 'createdAt', 'name'];

/** Adds what becomes of a shipper after it was registered. */
export function addShipperCommands(shipper: Command, request: Request, io: Io): void {
  const named = (name: string, description: string) =>
    shipper
      .command(name)
      .description(description)
      .requiredOption('--id <id>', 'id of the shipper', idArgument);

  paged(shipper.command('list'))
    .description('shippers, in the order of their registration')
    .option('--status <status>', 'only those that are ACTIVE, SUSPENDED or REMOVED')
    .addHelpText('after', example('shipper list --status SUSPENDED'))
    .action(
      request(
        (client, options: Record<string, string>) =>
          client.get(withQuery('/operator/v1/shippers', pick(options, ['limit', 'cursor', 'status']))),
        tableOf('shippers', columns),
      ),
    );
  for (const [name, status, description] of [
    ['suspend', 'SUSPENDED', 'refuse its requests and hold its webhooks until it is resumed'],
    ['resume', 'ACTIVE', 'take its requests again and send what was held'],
  ] as const)
    named(name, description)
      .addHelpText('after', example(`shipper ${name} --id 0199…`))
      .action(request((client, { id }: Chosen) => client.patch(path(id), JSON.stringify({ status }))));
  named('remove', 'end a shipper for good: no request and no send from then on, its data goes in steps')
    .option(...yesOption)
    .addHelpText('after', example('shipper remove --id 0199…'))
    .action(
      request(async (client, { id, ...options }: Chosen & { yes?: true }) => {
        await confirm(io, `Remove the shipper ${id} and all that it has, for good?`, options.yes);
        return client.delete(path(id));
      }),
    );
  named('rotate-key', 'make a new account key, shown here only')
    .option('--overlap <duration>', 'how long the key before is good, such as 24h or 0s (default: 24h)')
    .addHelpText('after', example('shipper rotate-key --id 0199… --overlap 24h'))
    .action(
      request((client, { id, overlap }: Chosen & { overlap?: string }) =>
        client.post(`${path(id)}/rotate-key`, JSON.stringify({ overlap })),
      ),
    );
}
