import type { RequestHandler } from 'express';
import type { HandOver } from './deliveries/outbox/hand-over.js';
import type { Route } from './http/route.js';
import type { ServerOptions } from './http/server.js';
import type { Resources } from './resources.js';
export interface Accounts extends Pick<ServerOptions, 'authenticate' | 'limit' | 'shares'> {
    routes(handOver: HandOver): Route[];
    passwordPage: RequestHandler;
}
/** Who may call, and how often: login, accounts after their registration, and who did what. */
export declare function openAccounts(resources: Resources): Accounts;
