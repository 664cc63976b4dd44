import { type Backend, type Opened } from './backend.js';
export declare function redisBackend(url: string, prefix: string, opened: Opened, onError: (error: Error) => void): Backend;
