import { describeError } from './errors.js';
import type { Logger } from './telemetry/logger.js';

/** A stop and a failed start release everything, last in first out. */
export function createReleasers(logger: Logger) {
  const releasers: { name: string; release(): Promise<unknown> }[] = [];
  return {
    push: (name: string, release: () => Promise<unknown>) => void releasers.push({ name, release }),
    releaseAll: async () => {
      for (const { name, release } of releasers.splice(0).reverse()) {
        await release().catch((error: unknown) =>
          logger.warn(
            { resource: name, error: describeError(error) },
            'resource not released; continuing with the next',
          ),
        );
      }
    },
  };
}

export interface Signal<T> {
  emit(value: T): void;
  on(listener: (value: T) => void): void;
}

/** Listeners must be quick and must not throw. */
export function createSignal<T>(): Signal<T> {
  const listeners: ((value: T) => void)[] = [];
  return {
    emit: (value) => {
      for (const listener of listeners) listener(value);
    },
    on: (listener) => void listeners.push(listener),
  };
}
