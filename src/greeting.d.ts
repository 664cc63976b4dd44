import type { App } from './app.js';
/** Embedded mode: makes an account on the first start and prints what a newcomer needs, ready to paste. */
export declare function greet(app: App, dataDir: string): Promise<void>;
