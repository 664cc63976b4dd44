import { describeError } from './errors.js';
import type { Logger } from './logger.js';

/** Resources push how they are released as they open; they are released last-in first-out, by stop and by a failed start alike. */
export function createReleasers(logger: Logger) {
  const releasers: { name: string; release(): Promise<unknown> }[] = [];
  return {
    push: (name: string, release: () => Promise<unknown>) => void releasers.push({ name, release }),
    releaseAll: async () => {
      for (const { name, release } of releasers.splice(0).reverse()) {
        await release().catch((error: unknown) =>
          logger.warn({ resource: name, error: describeError(error) }, 'not released'),
        );
      }
    },
  };
}
