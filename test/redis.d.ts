export interface RedisServer {
    url: string;
    pid: number;
    stop(): Promise<void>;
}
export declare const redisProgram: string | undefined;
/**
 * Below the ports that outgoing connections get: who connects again and again to a server that is down would else take
 * its port sooner or later.
 */
export declare function freePort(): Promise<number>;
/** A Redis of our own with the settings production asks for, in a new folder under `folder`; null where none is installed. */
export declare function startRedis(folder: string, port?: number, settings?: string[]): Promise<RedisServer | null>;
