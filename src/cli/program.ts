import { Command, CommanderError } from 'commander';
import { Refused, Unreachable } from './client.js';
import { addCommands } from './commands/commands.js';
import { UsageError } from './options.js';
import { printable, write, type Io } from './terminal.js';

const exitCode = { refused: 1, usage: 2, unavailable: 69 }; // 69: EX_UNAVAILABLE of sysexits.h

const examples = `
Exit codes: 0 done, 1 refused by the service, 2 wrong usage, 69 service not reachable.

Examples:
  npm run operator -- shipper create --name "Books and more"
  npm run operator -- event send --tracking-id PH123 --state PICKED_UP
  npm run --silent operator -- status --json | jq .queues     --silent keeps npm's own lines out
`;

/** The operator's commands. `finish` is told the exit code of a command that ends without an error. */
function createProgram(io: Io, finish: (code: number) => void): Command {
  const program = new Command('parcelhook operator')
    .description(
      "Parcelhook's operator: registers shippers and users, reports state events, shows the status.",
    )
    .option(
      '--url <url>',
      'address of the service (default: PARCELHOOK_URL, else http://localhost:PORT or 8080)',
    )
    .option('--token <token>', 'operator token (default: OPERATOR_TOKEN, else that in DATA_DIR/secrets.json)')
    .option('--json', "print the answer's data as JSON")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
    })
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', examples);
  addCommands(program, io, finish);
  return program;
}

/** Runs one command line, given without `node` and the script. Answers the exit code; errors go to `io.stderr`. */
export async function runOperator(args: string[], io: Io): Promise<number> {
  let code = 0;
  try {
    await createProgram(io, (finished) => (code = finished)).parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCode.usage;
    await write(io.stderr, `${printable(error instanceof Error ? error.message : String(error))}\n`);
    if (error instanceof UsageError) return exitCode.usage;
    if (error instanceof Unreachable) return exitCode.unavailable;
    if (error instanceof Refused) return exitCode.refused;
    return exitCode.refused;
  }
}
