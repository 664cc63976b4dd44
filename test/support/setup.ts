/** Jest's workers share the PostgreSQL servers started by test/run.ts, and its temporary folder. */
const { TEST_DATABASE_URLS = '', TEST_TMPDIR, JEST_WORKER_ID = '1' } = process.env;
const servers = TEST_DATABASE_URLS.split(' ');
process.env.TEST_DATABASE_URL = servers[(Number(JEST_WORKER_ID) - 1) % servers.length] ?? '';
if (TEST_TMPDIR) process.env.TMPDIR = TEST_TMPDIR; // only here: what tsx keeps from run to run lies in the ordinary one
process.setMaxListeners(0); // modules of each file add theirs
