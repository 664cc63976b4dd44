import type { Command } from 'commander';
import { type Request } from '../request.js';
import type { Io } from '../terminal.js';
/** Adds the commands for who may use the service. */
export declare function addAccountCommands(program: Command, request: Request, io: Io): void;
