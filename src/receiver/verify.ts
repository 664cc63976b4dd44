import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedRequest {
  /** The webhook's `whsec_…` secrets; two while one replaces the other. */
  secrets: readonly string[];
  /** The request's headers, names in lower case as Node gives them. */
  headers: Record<string, string | string[] | undefined>;
  /** The body as it arrived: JSON that was parsed and written again has other bytes. */
  rawBody: Uint8Array | string;
  nowMs?: number;
  toleranceSeconds?: number;
}

/**
 * Whether a notification comes from Parcelhook, unchanged and just now. Answer anything that fails with 400 and
 * do nothing else with it.
 *
 * Notifications are signed per Standard Webhooks (https://www.standardwebhooks.com): `webhook-signature` holds one
 * or more `v1,<base64>` separated by spaces, each an HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<raw body>`.
 * The key is the base64 after `whsec_`. One good signature is enough, so that a rotated secret takes over without
 * a gap. A timestamp more than five minutes off is refused, so that nobody can send an old notification again;
 * within that time, and for repeated attempts, `webhook-id` tells what was seen already.
 *
 *     http.createServer(async (request, response) => {
 *       const chunks = [];
 *       for await (const chunk of request) chunks.push(chunk);
 *       const rawBody = Buffer.concat(chunks);
 *       const secrets = [process.env.WEBHOOK_SECRET];
 *       if (!verifySignature({ secrets, headers: request.headers, rawBody })) return response.writeHead(400).end();
 *       response.writeHead(204).end(); // answer at once, work afterwards
 *     });
 */
export const verifySignature = (request: SignedRequest): boolean => signatureProblem(request) === null;

/** Why verifySignature says no, in words; null if the signature is good. */
export function signatureProblem(request: SignedRequest): string | null {
  const { secrets, headers, rawBody, nowMs = Date.now(), toleranceSeconds = 300 } = request;
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    if (typeof headers[name] !== 'string' || headers[name] === '') return `header ${name} is missing`;
  }
  const id = headers['webhook-id'] as string;
  const timestamp = headers['webhook-timestamp'] as string;
  if (!/^\d{1,12}$/.test(timestamp)) return 'webhook-timestamp is not a number of seconds';
  if (Math.abs(Math.floor(nowMs / 1_000) - Number(timestamp)) > toleranceSeconds) {
    return `webhook-timestamp is more than ${toleranceSeconds} s away from this machine's clock`;
  }

  // Without this check, no or an empty key would be one that anybody can sign with.
  const keys = secrets.map((secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  if (keys.length === 0 || keys.some((key) => key.length === 0)) return 'a secret is missing or empty';

  const given = (headers['webhook-signature'] as string).split(' ');
  const good = keys.some((key) => {
    const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody);
    const expected = Buffer.from(`v1,${hmac.digest('base64')}`);
    return given.some((text) => {
      const signature = Buffer.from(text);
      return signature.length === expected.length && timingSafeEqual(signature, expected);
    });
  });
  return good ? null : 'no signature matches: another secret, or a changed body';
}
