import type { Command } from 'commander';
import type { OperatorClient } from '../client.js';
import { paged, pick, tableOf, withQuery } from '../lists.js';
import { emailArgument, ofShipper } from '../options.js';
import { confirm, example, yesOption, type Data, type Request } from '../request.js';
import type { Io } from '../terminal.js';
import { createUser } from './users.js';

interface Chosen {
  shipper: string;
}

const path = (id: string) => `/operator/v1/shippers/${encodeURIComponent(id)}`;
const columns = ['shipperId', 'status', 'createdAt', 'name'];

export function addShipperCommands(program: Command, request: Request, io: Io): void {
  const shipper = program.command('shipper').description('shippers');
  const named = (name: string, description: string) =>
    ofShipper(shipper.command(name).description(description));

  shipper
    .command('create')
    .description('register a shipper and show its account key, once')
    .requiredOption('--name <name>', 'name of the organization')
    .option(
      '--email <address>',
      'also register its first user, who sets a password at the link shown',
      emailArgument,
    )
    .addHelpText('after', example('shipper create --name "Acme" --email you@example.com'))
    .action(request(createShipper));
  paged(shipper.command('list'))
    .description('list shippers in the order of registration')
    .option('--status <status>', 'only those with this status: ACTIVE, SUSPENDED or REMOVED')
    .addHelpText('after', example('shipper list --status SUSPENDED'))
    .action(
      request(
        (client, options: Record<string, string>) =>
          client.get(withQuery('/operator/v1/shippers', pick(options, ['limit', 'cursor', 'status']))),
        tableOf('shippers', columns),
      ),
    );
  for (const [name, status, description] of [
    ['suspend', 'SUSPENDED', 'refuse the requests of a shipper and hold its deliveries until it is resumed'],
    ['resume', 'ACTIVE', 'accept the requests of a shipper again and send what was held'],
  ] as const)
    named(name, description)
      .addHelpText('after', example(`shipper ${name} --shipper 0199…`))
      .action(
        request((client, { shipper: id }: Chosen) => client.patch(path(id), JSON.stringify({ status }))),
      );
  named('remove', 'remove a shipper for good: no more requests or attempts; its data is removed step by step')
    .option(...yesOption)
    .addHelpText('after', example('shipper remove --shipper 0199…'))
    .action(
      request(async (client, { shipper: id, ...options }: Chosen & { yes?: true }) => {
        await confirm(io, `Remove shipper ${id} and all its data for good?`, options.yes);
        return client.delete(path(id));
      }),
    );
  named('rotate-key', 'make a new account key, shown once')
    .option('--overlap <duration>', 'how long the previous key stays valid, such as 24h or 0s (default: 24h)')
    .addHelpText('after', example('shipper rotate-key --shipper 0199… --overlap 24h'))
    .action(
      request((client, { shipper: id, overlap }: Chosen & { overlap?: string }) =>
        client.post(`${path(id)}/rotate-key`, JSON.stringify({ overlap })),
      ),
    );
}

async function createShipper(
  client: OperatorClient,
  { name, email }: { name: string; email?: string },
): Promise<Data> {
  const shipper = await client.post('/operator/v1/shippers', JSON.stringify({ name }));
  if (email === undefined) return shipper;
  try {
    return { ...shipper, ...(await createUser(client, String(shipper.shipperId), { email })) };
  } catch (error) {
    // The account key is shown only once and must not be lost with the second request.
    (error as Error).message +=
      `\nThe shipper is registered, but its user is not: ${JSON.stringify(shipper)}`;
    throw error;
  }
}
