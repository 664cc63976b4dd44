import type { Command } from 'commander';
import type { OperatorClient } from '../client.js';
import { idArgument } from '../options.js';
import { example, type Data, type Request } from '../request.js';
import { addShipperCommands } from './shippers.js';
import type { Io } from '../terminal.js';
import { addUserCommands } from './users.js';

interface NewUser {
  email: string;
  password?: string;
}

/** Adds the commands for who may use the service. */
export function addAccountCommands(program: Command, request: Request, io: Io): void {
  const shipper = program.command('shipper').description('shippers');
  shipper
    .command('create')
    .description('register a shipper; its account key is shown here only')
    .requiredOption('--name <name>', 'name of the organization')
    .option('--email <address>', 'register its first user, too, who sets a password at the link shown')
    .addHelpText('after', example('shipper create --name "Books and more" --email ana@example.com'))
    .action(request(createShipper));
  addShipperCommands(shipper, request, io);

  const user = program.command('user').description('users of a shipper');
  user
    .command('create')
    .description('register a user; without a password, hand over the link to set one')
    .requiredOption('--shipper <id>', 'id of the shipper', idArgument)
    .requiredOption('--email <address>', 'e-mail address, used to log in')
    .option(
      '--password <password>',
      '12 to 128 characters; others on this machine may see it while this runs',
    )
    .addHelpText('after', example('user create --shipper 0199… --email ana@example.com'))
    .action(
      request((client, { shipper, ...user }: NewUser & { shipper: string }) =>
        createUser(client, shipper, user),
      ),
    );
  user
    .command('link')
    .description('make a new link, good for 24 hours and one use, at which a user sets a password')
    .requiredOption('--user <id>', 'id of the user', idArgument)
    .addHelpText('after', example('user link --user 0199…'))
    .action(
      request((client, { user: id }: { user: string }) =>
        client.post(`/operator/v1/users/${encodeURIComponent(id)}/password-link`, '{}'),
      ),
    );
  addUserCommands(user, request, io);
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
    // The key is shown once: not to lose it with the answer to the second request.
    (error as Error).message += `\nThe shipper is registered, its user is not: ${JSON.stringify(shipper)}`;
    throw error;
  }
}

const createUser = (client: OperatorClient, shipperId: string, { email, password }: NewUser): Promise<Data> =>
  client.post(
    `/operator/v1/shippers/${encodeURIComponent(shipperId)}/users`,
    JSON.stringify({ email, password }),
  );
