import type { Request } from 'express';
import { addressOf } from '../../http/request/address.js';
import type { Caller, OperatorScope } from '../../http/route.js';
import { tooSmallScope, unauthorized } from '../../platform/errors.js';
import { sameText } from '../passwords/credentials.js';
import { tokenIn, tokenOf } from './proof-form.js';
import type { CompleteConfig } from '../../config/config.js';
import type { Refusals } from '../audit/refusals.js';

/** A token of the operator API, and what may be done with it. */
export interface OperatorToken {
  name: string;
  scope: OperatorScope;
  token: string;
}

/** `OPERATOR_TOKEN` may do everything; the audit log names it `operator`. */
export const operatorsOf = (
  config: Pick<CompleteConfig, 'OPERATOR_TOKEN' | 'OPERATOR_TOKENS'>,
): OperatorToken[] => [
  { name: 'operator', scope: 'admin', token: config.OPERATOR_TOKEN },
  ...config.OPERATOR_TOKENS,
];

const allows = (scope: OperatorScope, needed: OperatorScope) => scope === 'admin' || scope === needed;

/** All tokens are compared, so that the time reveals nothing. */
const findByToken = (operators: OperatorToken[], given: string): OperatorToken | undefined =>
  operators.filter(({ token }) => sameText(given, token))[0];

/**
 * Whether a request has a token that may read, for a page that is open to all and shows more to the operator. The page
 * tells a guess from a token as an operation does, so the audit log is told of one, too, once there is one.
 */
export const bearsOperatorToken =
  (operators: OperatorToken[], refusals: () => Refusals | undefined) =>
  (request: Request): boolean => {
    const given = tokenIn(request);
    if (given === undefined) return false;
    const operator = findByToken(operators, given);
    if (operator && allows(operator.scope, 'read')) return true;
    noteRefused(refusals(), operator, request);
    return false;
  };

const noteRefused = (refusals: Refusals | undefined, operator: OperatorToken | undefined, request: Request) =>
  refusals?.note(
    { kind: operator ? 'OPERATOR' : 'UNKNOWN', name: operator?.name ?? null, address: addressOf(request) },
    { action: 'OPERATOR_REFUSED' },
  );

/** 401 without one of the tokens, 403 where its scope is too small; the audit log is told of both. */
export const authenticateOperator =
  (operators: OperatorToken[], refusals: Refusals) =>
  // eslint-disable-next-line @typescript-eslint/require-await
  async (request: Request, needed: OperatorScope): Promise<Caller> => {
    const given = tokenOf(request);
    const operator = findByToken(operators, given);
    if (operator && allows(operator.scope, needed))
      return { shipperId: '', userId: '', operator: operator.name, address: addressOf(request) };
    noteRefused(refusals, operator, request);
    throw operator ? tooSmallScope(needed) : unauthorized();
  };
