/** Loaded into a process of the service first: its sender threads run the program `CHAOS_SENDER`. */
import { createRequire, syncBuiltinESMExports } from 'node:module';

const threads = createRequire(import.meta.url)('node:worker_threads');
const { Worker } = threads;

threads.Worker = class extends Worker {
  constructor(program, options) {
    super(String(program).endsWith('sender.js') ? process.env.CHAOS_SENDER : program, options);
  }
};
syncBuiltinESMExports();
