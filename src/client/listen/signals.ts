import type { EventEmitter } from 'node:events';

/** npm passes on a Ctrl-C that the terminal has given to all: one may come twice. */
const togetherMs = 500;

/** Calls `stop` at the first SIGINT or SIGTERM, and `exit` at a later one: whoever sends it waits no longer. */
export function onEndSignals(from: EventEmitter, stop: () => void, exit: (code: number) => void): void {
  let firstAtMs: number | null = null;
  const onSignal = (_name: string, number: number) => {
    if (firstAtMs !== null && performance.now() - firstAtMs > togetherMs) exit(128 + number);
    firstAtMs ??= performance.now();
    stop();
  };
  for (const name of ['SIGINT', 'SIGTERM']) from.on(name, onSignal);
}
