import { Command, InvalidArgumentError } from 'commander';
import type { Fault } from './faults/fault.js';
import { faults } from './faults/faults.js';

export interface Options {
  queue: string;
  seed: number;
  seeds?: number[];
  rate?: number;
  seconds?: number;
  quick?: boolean;
  results?: string;
  json?: boolean;
  out?: string;
}

const positive = (text: string): number => {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
};
const range = (text: string): number[] => {
  const [first = NaN, last = first] = text.split('-').map(Number);
  if (!(first > 0 && last >= first)) throw new InvalidArgumentError('It must be like 1-10.');
  return Array.from({ length: last - first + 1 }, (_, n) => first + n);
};

const isNamed = (fault: Fault, name: string) => fault.name === name || fault.name.startsWith(`${name}-`);

export const createProgram = (): Command =>
  new Command('chaos')
    .description('Injects faults into the real service on its real engines and checks what must hold.')
    .argument(
      '[fault...]',
      `faults to inject: ${faults.map(({ name }) => name).join(', ')} (default: all but F17)`,
    )
    .option(
      '--queue <postgres|redis|in-turn>',
      'queue backend; in-turn takes Redis for odd seeds and PostgreSQL for even ones',
      'redis',
    )
    .option('--seed <number>', 'seed that decides which requests fail, and the order of F17', positive, 1)
    .option('--seeds <from-to>', 'run these seeds one after the other', range)
    .option('--rate <events>', 'events a second (default: 200; with --quick 50)', positive)
    .option('--seconds <seconds>', 'shortest load in seconds (default: 60; for F17 600)', positive)
    .option('--quick', '12 seconds of load at 50 events a second, with a tenth of the waits and counts')
    .option(
      '--results <file>',
      'write each finished run as a line of JSON; skip the runs that are already in the file',
    )
    .option('--json', 'print JSON only')
    .option('--out <file>', 'write the JSON to a file too')
    .addHelpText(
      'after',
      `\nF14, F15 and F19 each stand for all faults whose names begin with it.\n\nFaults:\n${faults.map(({ name, promise }) => `  ${name.padEnd(26)}${promise}`).join('\n')}`,
    );

/** Errors end the program like any option error of commander. */
export function readArguments(argv: string[], program: Command): { options: Options; asked: Fault[] } {
  program.parse(argv, { from: 'user' });
  const options = program.opts<Options>();
  const unknown = program.args.filter((name) => !faults.some((fault) => isNamed(fault, name)));
  if (unknown.length > 0) program.error(`no such fault: ${unknown.join(', ')}`);
  if (!['postgres', 'redis', 'in-turn'].includes(options.queue))
    program.error('--queue is postgres or redis, or in-turn');
  const asked = faults.filter((fault) =>
    program.args.length > 0 ? program.args.some((name) => isNamed(fault, name)) : fault.name !== 'F17',
  );
  return { options, asked };
}
