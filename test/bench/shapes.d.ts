/** In what form the service is deployed. */
export interface Shape {
    /** What `--shapes` takes. */
    key: string;
    title: string;
    queue: 'postgres' | 'redis';
    /** 0: one process of role `all`; else an API and as many workers. */
    workers: number;
}
export declare const allOnRedis: Shape;
export declare const allOnPostgres: Shape;
export declare const apiAnd1: Shape;
export declare const apiAnd2: Shape;
export declare const apiAnd4: Shape;
export declare const shapes: Shape[];
