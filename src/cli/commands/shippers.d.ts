import type { Command } from 'commander';
import { type Request } from '../request.js';
import type { Io } from '../terminal.js';
/** Adds what becomes of a shipper after it was registered. */
export declare function addShipperCommands(shipper: Command, request: Request, io: Io): void;
