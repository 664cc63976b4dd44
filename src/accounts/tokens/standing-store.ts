import type { Database } from '../../platform/database/postgres.js';

/** What decides whether a user's token still counts. */
export interface Standing {
  userId: string;
  userEpoch: number;
  shipperId: string;
  shipperEpoch: number;
  shipperStatus: 'ACTIVE' | 'SUSPENDED' | 'REMOVED';
  /** Of the account keys that are good, in base64url: one, or two after a rotation. */
  keyHashes: string[];
}

/** Of the users that there are. */
export async function loadStandings(db: Database, userIds: string[]): Promise<Standing[]> {
  const rows = await db.query<Omit<Standing, 'keyHashes'> & { key: Buffer; previousKey: Buffer | null }>(
    'load-standings',
    `select u.user_id as "userId", u.epoch as "userEpoch", s.shipper_id as "shipperId", s.epoch as "shipperEpoch",
            s.status as "shipperStatus", s.account_key_hash as key,
            case when s.previous_key_until > now() then s.previous_key_hash end as "previousKey"
       from users u cross join lateral (select * from shippers where shipper_id = u.shipper_id limit 1) s
      where u.user_id = any($1::uuid[])`,
    [userIds],
  );
  return rows.map(({ key, previousKey, ...standing }) => ({
    ...standing,
    keyHashes: [key, previousKey].flatMap((hash) => (hash ? [hash.toString('base64url')] : [])),
  }));
}
