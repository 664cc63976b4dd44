import type { Database } from '../platform/database/postgres.js';

export interface ListedUser {
  userId: string;
  email: string;
  /** False until a password was set. */
  hasPassword: boolean;
  createdAt: Date;
}

/** In the order of their registration, those after `afterId`. */
export const listUsers = (
  db: Database,
  shipperId: string,
  afterId: string | undefined,
  limit: number,
): Promise<ListedUser[]> =>
  db.query<ListedUser>(
    'list-users',
    `select user_id as "userId", email, password_hash is not null as "hasPassword", created_at as "createdAt"
       from users
      where shipper_id = $1 and user_id > coalesce($2::uuid, uuid_floor('epoch'))
      order by user_id limit $3`,
    [shipperId, afterId ?? null, limit],
  );

/** The user goes, with the links to set a password. */
export async function deleteUser(tx: Database, userId: string): Promise<void> {
  await tx.query('void-links', 'delete from password_links where user_id = $1', [userId]);
  await tx.query('delete-user', 'delete from users where user_id = $1', [userId]);
}

/** Every token of the user ends. */
export async function endTokens(tx: Database, userId: string): Promise<void> {
  await tx.query('end-tokens', 'update users set epoch = epoch + 1 where user_id = $1', [userId]);
}
