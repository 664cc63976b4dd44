import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { give, makeFolder, run } from './processes.js';

export interface Certificates {
  ca: string;
  certificate: string;
  key: string;
}

/** A CA, and a certificate of it for this machine. */
export function makeCertificates(folder: string): Certificates {
  makeFolder(folder);
  const openssl = (...args: string[]) => run('openssl', args, folder);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=CA', '-days', '9');
  openssl('req', ...newKey, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost');
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '9', '-extfile', 'names'];
  openssl('x509', '-req', '-in', 'server.csr', ...signed, '-out', 'server.crt');
  const [certificate, key] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  give(certificate);
  give(key);
  // The service runs as this user, and has the CA's certificate only.
  const ca = join(folder, '..', 'ca.crt');
  copyFileSync(join(folder, 'ca.crt'), ca);
  return { ca, certificate, key };
}
