import type { Logger } from './logger.js';
/** Resources push how they are released as they open; they are released last-in first-out, by stop and by a failed start alike. */
export declare function createReleasers(logger: Logger): {
    push: (name: string, release: () => Promise<unknown>) => undefined;
    releaseAll: () => Promise<void>;
};
