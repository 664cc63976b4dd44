export interface Shape {
  /** The value for `--shapes`. */
  key: string;
  title: string;
  queue: 'postgres' | 'redis';
  /** 0: one process of role `all`; otherwise an API and this many workers. */
  workers: number;
}

const split = (workers: number): Shape => ({
  key: `api+${workers}`,
  title: `api and ${workers} worker${workers > 1 ? 's' : ''}, queue on Redis`,
  queue: 'redis',
  workers,
});

export const allOnRedis: Shape = {
  key: 'all-redis',
  title: 'role all, queue on Redis',
  queue: 'redis',
  workers: 0,
};
export const allOnPostgres: Shape = {
  key: 'all-postgres',
  title: 'role all, queue on PostgreSQL',
  queue: 'postgres',
  workers: 0,
};
export const apiAnd1 = split(1);
export const apiAnd2 = split(2);
export const apiAnd4 = split(4);

export const shapes = [allOnRedis, allOnPostgres, apiAnd1, apiAnd2, apiAnd4];
