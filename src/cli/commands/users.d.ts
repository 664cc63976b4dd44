import type { Command } from 'commander';
import { type Request } from '../request.js';
import type { Io } from '../terminal.js';
/** Adds what becomes of a user after the registration. */
export declare function addUserCommands(user: Command, request: Request, io: Io): void;
