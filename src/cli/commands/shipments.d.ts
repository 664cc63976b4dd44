import type { Command } from 'commander';
import { type Request } from '../request.js';
import type { Io } from '../terminal.js';
/** Adds the commands for single shipments. */
export declare function addShipmentCommands(program: Command, io: Io, request: Request): void;
