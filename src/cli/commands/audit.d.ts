import type { Command } from 'commander';
import { type Request } from '../request.js';
/** Adds the command that reads the audit log. */
export declare function addAuditCommand(program: Command, request: Request): void;
