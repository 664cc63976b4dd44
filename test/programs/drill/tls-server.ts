import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { until } from '../bench/scenarios/scenario.js';
import type { Certificate } from './certificates.js';
import type { Daemon } from './processes.js';

/** PostgreSQL or PgBouncer: it reads the files of its certificate again on SIGHUP. */
export interface TlsServer extends Certificate {
  port: number;
  daemon: Daemon;
}

/** PostgreSQL's SSLRequest (its manual, "Message Formats"). */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const withinMs = 20_000;

/** The fingerprint of the certificate that a new connection gets; null if it gets no TLS. */
export async function presented(port: number): Promise<string | null> {
  const socket = connect(port, '127.0.0.1').setTimeout(5_000, () => socket.destroy(new Error('no reply')));
  try {
    await once(socket, 'connect');
    socket.write(sslRequest);
    const [reply] = (await once(socket, 'data')) as [Buffer];
    if (reply.toString() !== 'S') return null;
    const secure = connectTls({ socket, rejectUnauthorized: false });
    await once(secure, 'secureConnect');
    return secure.getPeerCertificate().fingerprint256;
  } finally {
    socket.destroy();
  }
}

/** Resolves when new connections get it; with null, when they get no TLS, which its settings say. */
export async function present(server: TlsServer, next: Certificate | null): Promise<void> {
  if (next)
    for (const file of ['certificate', 'key'] as const) writeFileSync(server[file], readFileSync(next[file]));
  server.daemon.child.kill('SIGHUP');
  const expected = next && new X509Certificate(readFileSync(next.certificate)).fingerprint256;
  await until('new connections get another certificate', withinMs, async () => {
    const found = await presented(server.port).catch(() => undefined);
    return found === expected;
  });
}

/** PgBouncer lets a statement wait two minutes for a connection to PostgreSQL. */
const servedWithinMs = 5_000;

export const isServed = (ask: () => Promise<unknown>): Promise<boolean> => {
  const served = ask().then(
    () => true,
    () => false,
  );
  return Promise.race([served, sleep(servedWithinMs, false)]);
};
