import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { give, makeFolder, run } from './processes.js';

export interface Certificate {
  certificate: string;
  key: string;
}

export interface Certificates extends Certificate {
  ca: string;
}

/** A CA in a new folder, and a certificate of it for this machine. */
export function makeCertificates(folder: string): Certificates {
  makeFolder(folder);
  const args = ['-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=CA', '-days', '9'];
  run('openssl', ['req', '-x509', ...newKey, ...args], folder);
  // The service runs as this user, and has the CA's certificate only.
  const ca = `${folder}.ca.crt`;
  copyFileSync(join(folder, 'ca.crt'), ca);
  return { ca, ...issue(folder, 'server') };
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A certificate of the CA in `folder`, in files of that name. */
export function issue(folder: string, file: string, names = 'DNS:localhost,IP:127.0.0.1'): Certificate {
  const openssl = (...args: string[]) => run('openssl', args, folder);
  openssl('req', ...newKey, '-keyout', `${file}.key`, '-out', `${file}.csr`, '-subj', '/CN=server');
  writeFileSync(join(folder, 'names'), `subjectAltName=${names}\n`);
  const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '9', '-extfile', 'names'];
  openssl('x509', '-req', '-in', `${file}.csr`, ...signed, '-out', `${file}.crt`);
  return { certificate: give(join(folder, `${file}.crt`)), key: give(join(folder, `${file}.key`)) };
}
