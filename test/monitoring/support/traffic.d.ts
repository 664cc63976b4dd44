export interface Traffic {
    stop(): Promise<void>;
}
/**
 * Orders for five webhooks: one that is well, one that fails every other time, one that always fails, one that is
 * gone and one that hangs. Goes on until it is stopped; by then each has shown what it does.
 */
export declare function startTraffic(service: {
    url: string;
}): Promise<Traffic>;
