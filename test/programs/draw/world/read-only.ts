import pg from 'pg';

const withinMs = 5_000;

/** Rejects after a while. */
export async function readOnly(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: withinMs,
    query_timeout: withinMs,
    options: `-c default_transaction_read_only=on -c statement_timeout=${withinMs}`,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text)).rows as Record<string, unknown>[];
  } finally {
    await client.end().catch(() => undefined);
  }
}
