/** What a REDIS_URL names. */
export interface RedisPlaces {
  mode: 'single' | 'sentinel' | 'cluster';
  tls: boolean;
  hosts: { host: string; port: number }[];
  username: string | undefined;
  password: string | undefined;
  /** Of sentinels. */
  master: string;
  db: number;
}

/** Reads any of the forms of REDIS_URL (see `connectRedis`); throws where it has none of them. */
export function parseRedisUrl(url: string): RedisPlaces {
  const [start, tls, mode = 'single'] = /^redis(s)?(?:\+(sentinel|cluster))?:\/\//.exec(url) ?? [];
  if (start === undefined) throw new Error('no scheme of Redis');
  const [authority = '', ...path] = url.slice(start.length).replace(/\?.*$/s, '').split('/');
  const at = authority.lastIndexOf('@');
  const [username, password] = at < 0 ? [] : authority.slice(0, at).split(':').map(decodeURIComponent);
  const hosts = authority
    .slice(at + 1)
    .split(',')
    .map(parseHost);
  if (mode === 'single' && (hosts.length > 1 || !URL.canParse(url))) throw new Error('not one host');
  const names = path.filter(Boolean);
  const [db = '0', master = 'mymaster'] = mode === 'sentinel' ? [names[1], names[0]] : [names[0]];
  if (!/^\d+$/.test(db)) throw new Error('no number of a database');
  return {
    mode: mode as RedisPlaces['mode'],
    tls: tls !== undefined,
    hosts,
    username,
    password,
    master,
    db: Number(db),
  };
}

function parseHost(text: string): RedisPlaces['hosts'][number] {
  const { hostname, port } = new URL(`redis://${text}`);
  if (hostname === '') throw new Error('no host');
  return { host: hostname, port: Number(port || 6379) };
}

export function isRedisUrl(text: string): boolean {
  try {
    return parseRedisUrl(text).hosts.length > 0;
  } catch {
    return false;
  }
}
