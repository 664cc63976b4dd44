import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import type { AtRest } from './at-rest.js';
import { listForeign, replaceSealed, type Sealed } from './reseal-store.js';

const webhooksPerStatement = 200;

interface Dependencies {
  db: Database;
  sealed: AtRest;
  logger: Logger;
}

/**
 * Seals anew what webhooks keep that is not sealed with this prefix. Can be broken off and begun again at any time.
 * Answers how many webhooks were resealed, and how many hold what neither key opens; those stay as they are.
 */
export async function resealWebhooks(
  deps: Dependencies,
  prefix: string,
): Promise<{ resealed: number; unreadable: number }> {
  const result = { resealed: 0, unreadable: 0 };
  let afterId: string | null = null;
  for (;;) {
    const page: Sealed[] = await listForeign(deps.db, prefix, afterId, webhooksPerStatement);
    const changes = page.flatMap((before) => {
      const after = reseal(deps, before);
      if (!after) result.unreadable += 1;
      return after ? [{ before, after }] : [];
    });
    if (changes.length > 0) result.resealed += await replaceSealed(deps.db, changes);
    const last = page.at(-1);
    if (!last) return result;
    afterId = last.webhookId;
  }
}

function reseal({ sealed, logger }: Dependencies, before: Sealed): Sealed | null {
  const { webhookId: id, secret, previousSecret, targetAddress, headers } = before;
  const again = (kept: string) => sealed.sealSecret(id, sealed.openSecret(id, kept));
  try {
    return {
      webhookId: id,
      secret: again(secret),
      previousSecret: previousSecret === null ? null : again(previousSecret),
      targetAddress: sealed.sealAddress(id, sealed.openAddress(id, targetAddress)),
      headers: sealed.sealHeaders(id, sealed.openHeaders(id, headers)),
    };
  } catch (error) {
    logger.warn({ webhookId: id, error: describeError(error) }, 'webhook not resealed');
    return null;
  }
}
