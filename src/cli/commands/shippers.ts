import type { Command } from 'commander';
import type { OperatorClient } from '../client.js';
import { paged, pick, tableOf, withQuery } from '../lists.js';
import { emailArgument, ofShipper, idArgument } from '../options.js';
import { confirm, example, yesOption, type Data, type Request } from '../request.js';
import type { Io } from '../terminal.js';

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

interface ChosenUser {
  user: string;
}

interface NewUser {
  email: string;
  password?: string;
}

const userPath = (userId: string) => `/operator/v1/users/${encodeURIComponent(userId)}`;

export function addUserCommands(program: Command, request: Request, io: Io): void {
  const user = program.command('user').description('users of a shipper');
  ofShipper(user.command('create'))
    .description('register a user; without --password, show a link to set one')
    .requiredOption('--email <address>', 'e-mail address, used to log in')
    .option(
      '--password <password>',
      '12 to 128 characters; visible to other users of the machine while the command runs',
    )
    .addHelpText('after', example('user create --shipper 0199… --email you@example.com'))
    .action(
      request((client, { shipper, ...user }: NewUser & { shipper: string }) =>
        createUser(client, shipper, user),
      ),
    );
  user
    .command('link')
    .description('make a new link to set a password, valid for 24 hours and one use')
    .requiredOption('--user <id>', 'id of the user', idArgument)
    .addHelpText('after', example('user link --user 0199…'))
    .action(
      request((client, { user: id }: ChosenUser) => client.post(`${userPath(id)}/password-link`, '{}')),
    );
  paged(ofShipper(user.command('list')))
    .description('list the users of a shipper')
    .addHelpText('after', example('user list --shipper 0199…'))
    .action(
      request(
        (client, options: Record<string, string>) =>
          client.get(
            withQuery(
              `/operator/v1/shippers/${encodeURIComponent(options.shipper!)}/users`,
              pick(options, ['limit', 'cursor']),
            ),
          ),
        tableOf('users', ['userId', 'email', 'hasPassword', 'createdAt']),
      ),
    );
  user
    .command('remove')
    .description('remove a user and revoke its tokens and password links')
    .requiredOption('--user <id>', 'id of the user', idArgument)
    .option(...yesOption)
    .addHelpText('after', example('user remove --user 0199…'))
    .action(
      request(async (client, { user: id, ...options }: ChosenUser & { yes?: true }) => {
        await confirm(io, `Remove user ${id} for good?`, options.yes);
        return client.delete(userPath(id));
      }),
    );
  user
    .command('sign-out')
    .description('revoke all tokens of a user; the password stays')
    .requiredOption('--user <id>', 'id of the user', idArgument)
    .addHelpText('after', example('user sign-out --user 0199…'))
    .action(
      request((client, { user: id }: ChosenUser) =>
        client.post(`${userPath(id)}/sign-out`, '{}', { repeatable: true }),
      ),
    );
}

const createUser = (client: OperatorClient, shipperId: string, { email, password }: NewUser): Promise<Data> =>
  client.post(
    `/operator/v1/shippers/${encodeURIComponent(shipperId)}/users`,
    JSON.stringify({ email, password }),
  );
