import type { Command } from 'commander';
import {
  type Send,
  UsageError,
  about,
  confirm,
  emailArgument,
  example,
  listAt,
  ofShipper,
  paged,
  wholeNumberArgument,
  yesOption,
  type Given,
  type Request,
} from '../command.js';
import { wrapped } from '../../client/listen/text.js';
import { facts, listOf, type Io, type Data } from '../terminal.js';

type Chosen = { shipper: string };

const one = '/operator/v1/shippers/{shipper}';
const howLong =
  'The link is good for one use, within 15 minutes. It opens the portal read-only, for an hour.';
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
    .action(request(listAt('/operator/v1/shippers'), listOf('shippers', columns, 2)));
  for (const [name, status, description] of [
    ['suspend', 'SUSPENDED', 'refuse the requests of a shipper and hold its deliveries until it is resumed'],
    ['resume', 'ACTIVE', 'accept the requests of a shipper again and send what was held'],
  ] as const)
    named(name, description)
      .addHelpText('after', example(`shipper ${name} <shipperId>`))
      .action(request((send, path: Chosen) => send('patch', one, { path, body: { status } })));
  named('limit', 'limit the API requests of a shipper, or its attempts in flight; none lifts a limit')
    .option('--rate <number>', 'API requests per second; none: API_RATE_LIMIT', limitArgument)
    .option('--concurrency <number>', 'attempts in flight in each worker, or none', limitArgument)
    .addHelpText('after', example('shipper limit <shipperId> --rate 20 --concurrency 5'))
    .action(
      request((send, { rate, concurrency, ...path }: Chosen & Limits) => {
        if (rate === undefined && concurrency === undefined)
          throw new UsageError('Give --rate or --concurrency.');
        const body = { rateLimit: orNull(rate), maxConcurrency: orNull(concurrency) };
        return send('patch', one, { path, body });
      }),
    );
  named('remove', 'remove a shipper for good: no more requests or attempts; its data is removed step by step')
    .option(...yesOption)
    .addHelpText('after', example('shipper remove <shipperId>'))
    .action(
      request(async (send, { yes, ...path }: Chosen & { yes?: true }) => {
        await confirm(io, `Remove shipper ${path.shipper} and all its data for good?`, yes);
        return send('delete', one, { path });
      }),
    );
  named('rotate-key', 'make a new account key, shown once')
    .option('--overlap <duration>', 'how long the previous key stays valid, such as 24h or 0s (default: 24h)')
    .addHelpText('after', example('shipper rotate-key <shipperId> --overlap 24h'))
    .action(
      request((send, { overlap, ...path }: Chosen & { overlap?: string }) =>
        send('post', `${one}/rotate-key`, { path, body: { overlap } }),
      ),
    );
  named(
    'portal-link',
    'make a link that opens the portal of a shipper, read-only, for an hour; valid for 15 minutes and one use',
  )
    .addHelpText('after', example('shipper portal-link <shipperId>'))
    .action(
      request(
        (send, path: Chosen) => send('post', `${one}/portal-link`, { path, body: {} }),
        (data, width) => `${facts(data, width)}\n${wrapped(`${howLong}\n`, width)}`,
      ),
    );
}

interface Limits {
  rate?: number | 'none';
  concurrency?: number | 'none';
}

const limitArgument = (text: string): number | 'none' => (text === 'none' ? text : wholeNumberArgument(text));

const orNull = (limit: number | 'none' | undefined) => (limit === 'none' ? null : limit);

async function createShipper(send: Send, { name, email }: { name: string; email?: string }): Promise<Data> {
  const shipper = await send('post', '/operator/v1/shippers', { body: { name } });
  if (email === undefined) return shipper;
  try {
    return { ...shipper, ...(await createUser(send, { shipper: String(shipper.shipperId), email })) };
  } catch (error) {
    // The account key is shown only once and must not be lost with the second request.
    (error as Error).message +=
      `\nThe shipper is registered, but its user is not: ${JSON.stringify(shipper)}`;
    throw error;
  }
}

type ChosenUser = { user: string };

interface NewUser extends Chosen {
  email: string;
  password?: string;
}

const userColumns = ['userId', 'email', 'hasPassword', 'createdAt'];

const oneUser = '/operator/v1/users/{user}';

export function addUserCommands(program: Command, request: Request, io: Io): void {
  const user = program.command('user').description('users of a shipper');
  const ofUser = (name: string) => about(user.command(name), '--user <id>', 'id of the user');
  ofShipper(user.command('create'))
    .description('register a user; without --password, show a link to set one')
    .requiredOption('--email <address>', 'e-mail address, used to log in')
    .option(
      '--password <password>',
      '12 to 128 characters; visible to other users of the machine while the command runs',
    )
    .addHelpText('after', example('user create <shipperId> --email you@example.com'))
    .action(request(createUser));
  ofUser('link')
    .description('make a new link to set a password, valid for 24 hours and one use')
    .addHelpText('after', example('user link <userId>'))
    .action(
      request((send, path: ChosenUser) => send('post', `${oneUser}/password-link`, { path, body: {} })),
    );
  paged(ofShipper(user.command('list')))
    .description('list the users of a shipper')
    .addHelpText('after', example('user list <shipperId>'))
    .action(
      request(
        (send, { shipper, ...query }: Given & Chosen) =>
          send('get', `${one}/users`, { path: { shipper }, query }),
        listOf('users', userColumns, 2),
      ),
    );
  ofUser('remove')
    .description('remove a user and revoke its tokens and password links')
    .option(...yesOption)
    .addHelpText('after', example('user remove <userId>'))
    .action(
      request(async (send, { yes, ...path }: ChosenUser & { yes?: true }) => {
        await confirm(io, `Remove user ${path.user} for good?`, yes);
        return send('delete', oneUser, { path });
      }),
    );
  ofUser('sign-out')
    .description('revoke all tokens of a user; the password stays')
    .addHelpText('after', example('user sign-out <userId>'))
    .action(
      request((send, path: ChosenUser) =>
        send('post', `${oneUser}/sign-out`, { path, body: {}, repeatable: true }),
      ),
    );
}

const createUser = (send: Send, { shipper, ...body }: NewUser): Promise<Data> =>
  send('post', `${one}/users`, { path: { shipper }, body });
