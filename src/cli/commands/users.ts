import type { Command } from 'commander';
import { confirm, yesOption } from '../confirm.js';
import { paged, pick, tableOf, withQuery } from '../lists.js';
import { idArgument } from '../options.js';
import { example, type Request } from '../request.js';
import type { Io } from '../terminal.js';

interface Chosen {
  user: string;
}

const path = (userId: string) => `/operator/v1/users/${encodeURIComponent(userId)}`;

/** Adds what becomes of a user after the registration. */
export function addUserCommands(user: Command, request: Request, io: Io): void {
  paged(user.command('list'))
    .description('users of a shipper')
    .requiredOption('--id <id>', 'id of the shipper', idArgument)
    .addHelpText('after', example('user list --id 0199…'))
    .action(
      request(
        (client, options: Record<string, string>) =>
          client.get(
            withQuery(
              `/operator/v1/shippers/${encodeURIComponent(options.id!)}/users`,
              pick(options, ['limit', 'cursor']),
            ),
          ),
        tableOf('users', ['userId', 'email', 'hasPassword', 'createdAt']),
      ),
    );
  user
    .command('remove')
    .description('remove a user: tokens and password links are void')
    .requiredOption('--user <id>', 'id of the user', idArgument)
    .option(...yesOption)
    .addHelpText('after', example('user remove --user 0199…'))
    .action(
      request(async (client, { user: id, ...options }: Chosen & { yes?: true }) => {
        await confirm(io, `Remove the user ${id} for good?`, options.yes);
        return client.delete(path(id));
      }),
    );
  user
    .command('sign-out')
    .description('end every token of a user; the password stays')
    .requiredOption('--user <id>', 'id of the user', idArgument)
    .addHelpText('after', example('user sign-out --user 0199…'))
    .action(
      request((client, { user: id }: Chosen) =>
        client.post(`${path(id)}/sign-out`, '{}', { repeatable: true }),
      ),
    );
}
