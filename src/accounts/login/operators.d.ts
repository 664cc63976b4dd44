import type { Request } from 'express';
import type { Caller, OperatorScope } from '../../http/route.js';
import type { Refusals } from '../audit/refusals.js';
/** A token of the operator API, and what may be done with it. */
export interface OperatorToken {
    name: string;
    scope: OperatorScope;
    token: string;
}
/** `OPERATOR_TOKEN` by its name in the audit log; it may do everything. */
export declare const firstOperator: (token: string) => OperatorToken;
/** 401 without one of the tokens, 403 where its scope is too small; the audit log is told of both. */
export declare const authenticateOperator: (operators: OperatorToken[], refusals: Refusals) => (request: Request, needed: OperatorScope) => Promise<Caller>;
