import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The certificate that receivers are shown which ask for one, with its chain, and its key: both PEM. */
export interface ClientCertificate {
  cert: string;
  key: string;
}

/** The facts by which a receiver knows it. */
interface CertificateFacts {
  subject: string;
  fingerprint256: string;
  validTo: Date;
}

export function readCertificate(file: string): string {
  const pem = readFileSync(file, 'utf8');
  requirePem(() => new X509Certificate(pem), 'a certificate');
  return pem;
}

/** Handshakes name no other kinds of keys (`TLS_LIMITS`). */
const keyKinds = ['rsa', 'ed25519', 'ec prime256v1', 'ec secp384r1'];

export function readKey(file: string): string {
  const pem = readFileSync(file, 'utf8');
  const key = requirePem(() => createPrivateKey(pem), 'a private key without a passphrase');
  const { namedCurve } = key.asymmetricKeyDetails ?? {};
  const kind = [key.asymmetricKeyType, namedCurve].filter(Boolean).join(' ');
  if (!keyKinds.includes(kind))
    throw new Error(`must have a key of RSA, P-256, P-384 or Ed25519, not ${kind}`);
  return pem;
}

function requirePem<Result>(read: () => Result, what: string): Result {
  try {
    return read();
  } catch {
    throw new Error(`must be the path of a PEM file with ${what}`); // OpenSSL's own words help nobody
  }
}

export const isPair = ({ cert, key }: ClientCertificate): boolean =>
  new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));

export function factsOf(cert: string): CertificateFacts {
  const { subject, fingerprint256, validTo } = new X509Certificate(cert);
  return { subject: (subject ?? '').split('\n').join(', '), fingerprint256, validTo: new Date(validTo) };
}

const warnBeforeMs = 30 * 86_400_000;

/** The warning for the log of a start; null if it is valid for long enough. */
export function expiryWarning({ validTo }: CertificateFacts, nowMs: number): string | null {
  const leftMs = validTo.getTime() - nowMs;
  if (leftMs <= 0) return 'the client certificate has expired: receivers that demand one will refuse it';
  return leftMs < warnBeforeMs
    ? 'the client certificate expires within 30 days: renew it, and restart'
    : null;
}
