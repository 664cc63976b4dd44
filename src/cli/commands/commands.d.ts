import type { Command } from 'commander';
import { type Io } from '../terminal.js';
/** Adds every command of the contract's section 6 to the program. */
export declare function addCommands(program: Command, io: Io, finish: (code: number) => void): void;
