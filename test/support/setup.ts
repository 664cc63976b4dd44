/** Jest's workers share the PostgreSQL servers started by test/run.ts. */
const servers = (process.env.TEST_DATABASE_URLS ?? '').split(' ');
const worker = Number(process.env.JEST_WORKER_ID ?? 1) - 1;
process.env.TEST_DATABASE_URL = servers[worker % servers.length] ?? '';
