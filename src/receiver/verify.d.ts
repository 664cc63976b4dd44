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
export declare const verifySignature: (request: SignedRequest) => boolean;
/** Why verifySignature says no, in words; null if the signature is good. */
export declare function signatureProblem(request: SignedRequest): string | null;
