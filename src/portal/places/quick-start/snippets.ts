import { logInCommand, shellQuoted } from '../../../http/docs/curl.js';

/** Verifies a notification with nothing but the language's own library. The same is in the README, with its reasons. */
export const verifySnippets = {
  'Node.js': `import { createHmac, timingSafeEqual } from 'node:crypto';

// secret: process.env.WEBHOOK_SECRET
// rawBody: the bytes as they came. JSON that was parsed and written again does not verify.
export function verify(headers, rawBody, secret) {
  const [id, timestamp, signatures] =
    ['id', 'timestamp', 'signature'].map((name) => headers[\`webhook-\${name}\`]);
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const hmac = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\`).update(rawBody);
  const expected = Buffer.from(\`v1,\${hmac.digest('base64')}\`);
  return String(signatures).split(' ').map((given) => Buffer.from(given))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}`,
  Python: `import base64, hashlib, hmac, time


# secret: os.environ["WEBHOOK_SECRET"]
# raw_body: the bytes as they came. JSON that was parsed and written again does not verify.
def verify(headers, raw_body: bytes, secret: str) -> bool:
    try:
        id, timestamp, signatures = (headers["webhook-" + name] for name in ("id", "timestamp", "signature"))
        if abs(time.time() - int(timestamp)) > 300:
            return False
    except (KeyError, ValueError):
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.digest(key, f"{id}.{timestamp}.".encode() + raw_body, hashlib.sha256)
    expected = b"v1," + base64.b64encode(digest)
    return any(hmac.compare_digest(given.encode(), expected) for given in signatures.split(" "))`,
};

/** The same order from a terminal. `key` is the account key, empty if this browser does not know it. */
export function orderCommand(origin: string, key: string, email: string, order: object): string {
  return `URL=${origin} KEY=${shellQuoted(key || 'your account key')}
${logInCommand(shellQuoted(email))}
curl "$URL/v1/shipments?key=$KEY" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -H "Idempotency-Key: order-$(date +%s)" -d ${shellQuoted(JSON.stringify(order))}`;
}

/** The section of `/docs/receiving` that has a whole receiver. */
export const recipeOf = {
  'Node.js': 'express',
  Python: 'fastapi',
  Go: 'go',
  Java: 'java',
  PHP: 'php',
  Ruby: 'ruby',
  'C#': 'c',
};

export type Language = keyof typeof recipeOf;
export const languages = Object.keys(recipeOf) as Language[];

/** Forwards notifications to the receiver of a recipe. `program` is what starts `listen`. */
export const listenCommand = (program: string, origin: string, key: string, email: string): string =>
  `${program} --forward http://localhost:9001/hook --url ${origin} \\
  --key ${shellQuoted(key || 'your account key')} --email ${shellQuoted(email)}`;
