import type { Result } from './run.js';
export declare function printTable(result: Result): void;
