import type { Request } from 'express';
import { addressOf } from '../../http/request/address.js';
import type { Caller, OperatorScope } from '../../http/route.js';
import { tooSmallScope, unauthorized } from '../../platform/errors.js';
import { sameText } from '../passwords/credentials.js';
import { tokenOf } from './proof-form.js';
import type { Refusals } from '../audit/refusals.js';

/** A token of the operator API, and what may be done with it. */
export interface OperatorToken {
  name: string;
  scope: OperatorScope;
  token: string;
}

/** `OPERATOR_TOKEN` by its name in the audit log; it may do everything. */
export const firstOperator = (token: string): OperatorToken => ({ name: 'operator', scope: 'admin', token });

const allows = (scope: OperatorScope, needed: OperatorScope) => scope === 'admin' || scope === needed;

/** 401 without one of the tokens, 403 where its scope is too small; the audit log is told of both. */
export const authenticateOperator =
  (operators: OperatorToken[], refusals: Refusals) =>
  // eslint-disable-next-line @typescript-eslint/require-await
  async (request: Request, needed: OperatorScope): Promise<Caller> => {
    const given = tokenOf(request);
    const address = addressOf(request);
    // All are compared, so that the time tells nothing.
    const [operator] = operators.filter(({ token }) => sameText(given, token));
    if (operator && allows(operator.scope, needed))
      return { shipperId: '', userId: '', operator: operator.name, address };
    refusals.note(
      { kind: operator ? 'OPERATOR' : 'UNKNOWN', name: operator?.name ?? null, address },
      { action: 'OPERATOR_REFUSED' },
    );
    throw operator ? tooSmallScope(needed) : unauthorized();
  };
