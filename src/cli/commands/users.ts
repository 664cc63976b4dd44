import type { Command } from 'commander';
import type { OperatorClient } from '../client.js';
import { paged, pick, tableOf, withQuery } from '../lists.js';
import { idArgument, ofShipper } from '../options.js';
import { confirm, example, yesOption, type Data, type Request } from '../request.js';
import type { Io } from '../terminal.js';

interface Chosen {
  user: string;
}

interface NewUser {
  email: string;
  password?: string;
}

const path = (userId: string) => `/operator/v1/users/${encodeURIComponent(userId)}`;

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
    .action(request((client, { user: id }: Chosen) => client.post(`${path(id)}/password-link`, '{}')));
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
      request(async (client, { user: id, ...options }: Chosen & { yes?: true }) => {
        await confirm(io, `Remove user ${id} for good?`, options.yes);
        return client.delete(path(id));
      }),
    );
  user
    .command('sign-out')
    .description('revoke all tokens of a user; the password stays')
    .requiredOption('--user <id>', 'id of the user', idArgument)
    .addHelpText('after', example('user sign-out --user 0199…'))
    .action(
      request((client, { user: id }: Chosen) =>
        client.post(`${path(id)}/sign-out`, '{}', { repeatable: true }),
      ),
    );
}

export const createUser = (
  client: OperatorClient,
  shipperId: string,
  { email, password }: NewUser,
): Promise<Data> =>
  client.post(
    `/operator/v1/shippers/${encodeURIComponent(shipperId)}/users`,
    JSON.stringify({ email, password }),
  );
