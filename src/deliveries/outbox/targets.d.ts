import type { Database } from '../../platform/database/postgres.js';
import type { AtRest, OwnHeaders } from '../../webhooks/at-rest/at-rest.js';
/** How a webhook wants to be called. */
export interface Target {
    webhookId: string;
    revision: number;
    /** Its query is sealed: another text whenever the address was set anew. */
    storedAddress: string;
    /** What is sealed at rest, opened once. Throws where no key opens it. */
    open(): OpenTarget;
    /** The second secret signs along until then, during a rotation. */
    previousSecretUntil: Date | null;
}
export interface OpenTarget {
    url: string;
    headers: OwnHeaders;
    secret: string;
    previousSecret: string | null;
}
export interface Targets {
    /** The target as it is at this revision of the webhook, or at a later one. */
    of(webhook: {
        webhookId: string;
        revision: number;
    }): Promise<Target>;
}
/** Webhooks that are called again and again are read once: each claim says whether they have changed since. */
export declare function createTargets(db: Database, sealed: AtRest): Targets;
