import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres.js';
import { listForeignSecrets, replaceSecrets, type SealedSecrets } from './reseal-store.js';
import type { SecretBox } from './secrets.js';

const webhooksPerStatement = 200;

/**
 * Seals every webhook's secrets with the current SECRETS_KEY. Can be broken off and begun again at any time. Answers
 * how many webhooks were resealed, and how many have a secret that neither key opens; those stay as they are.
 */
export async function resealSecrets(deps: {
  db: Database;
  secrets: SecretBox;
  logger: Logger;
}): Promise<{ resealed: number; unreadable: number }> {
  const result = { resealed: 0, unreadable: 0 };
  let afterId: string | null = null;
  for (;;) {
    const page: SealedSecrets[] = await listForeignSecrets(
      deps.db,
      deps.secrets.keyId,
      afterId,
      webhooksPerStatement,
    );
    const changes = page.flatMap((before) => {
      const after = reseal(deps, before);
      if (!after) result.unreadable += 1;
      return after ? [{ before, after }] : [];
    });
    if (changes.length > 0) result.resealed += await replaceSecrets(deps.db, changes);
    const last = page.at(-1);
    if (!last) return result;
    afterId = last.webhookId;
  }
}

function reseal(deps: { secrets: SecretBox; logger: Logger }, sealed: SealedSecrets): SealedSecrets | null {
  const { open, seal } = deps.secrets;
  try {
    const { webhookId, secret, previousSecret } = sealed;
    return {
      webhookId,
      secret: seal(open(secret)),
      previousSecret: previousSecret === null ? null : seal(open(previousSecret)),
    };
  } catch (error) {
    deps.logger.warn({ webhookId: sealed.webhookId, error: describeError(error) }, 'secret not resealed');
    return null;
  }
}
