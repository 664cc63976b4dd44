/** Made of the API's document by `npm run client-types`. */
export const version = '0.1.0';

export interface paths {
    "/v1/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Request an access token
         * @description Takes e-mail address and password as Basic credentials. A body is accepted and ignored.
         */
        get: operations["login"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/shippers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List shippers */
        get: operations["listShippers"];
        put?: never;
        /** Register a shipper */
        post: operations["createShipper"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/shippers/{shipperId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a shipper
         * @description After the answer no send starts; requests are refused within 10 seconds by every process. What it is still owed becomes `CANCELLED`. It cannot be undone.
         */
        delete: operations["removeShipper"];
        options?: never;
        head?: never;
        /**
         * Rename, suspend or resume a shipper
         * @description After the answer to `SUSPENDED` no send starts; requests are refused within 10 seconds by every process. Set to `ACTIVE` again, its webhooks get what was held.
         */
        patch: operations["updateShipper"];
        trace?: never;
    };
    "/operator/v1/shippers/{shipperId}/rotate-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a new account key
         * @description The key before is good for `overlap`, and so are the tokens that were got with it; a second rotation within that time ends the first key. `0s` is for a key that has leaked.
         */
        post: operations["rotateAccountKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/shippers/{shipperId}/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the users of a shipper */
        get: operations["listUsers"];
        put?: never;
        /**
         * Register a user of a shipper
         * @description With a password, or with the link at which the user sets one.
         */
        post: operations["createUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/users/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a user
         * @description Tokens and password links of the user are void within 10 seconds on every process.
         */
        delete: operations["removeUser"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/users/{userId}/sign-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign a user out
         * @description Every token is refused within 10 seconds by every process; the password stays good.
         */
        post: operations["signOutUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit log, newest first
         * @description Who changed which account, webhook or secret, and who was refused as an operator or at a login. It is only ever added to; what is older than `AUDIT_RETENTION` is dropped.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhooks */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description The same address may be registered more than once. What interests may name today: `CREATED`, `PICKED_UP`, `IN_TRANSIT`, `OUT_FOR_DELIVERY`, `DELIVERY_FAILED`, `RETURNING`, `DELIVERED`, `RETURNED`, `CANCELLED`, `LOST`, `WEBHOOK_DISABLED`, `WEBHOOK_FAILING`, `WEBHOOK_RECOVERED`.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhookId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook
         * @description Shows how its deliveries have been doing, too.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Its unfinished deliveries become `CANCELLED`. After the answer no send starts.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Update a webhook
         * @description Merges: what is not named stays, and so does the value of a header that is sent back as it is shown, masked. After the answer to `PAUSED` or `DISABLED` no send starts; set to `ACTIVE` again, the webhook gets what it missed. `ACTIVE` changes nothing if the webhook is already active: an open circuit stays open until a probe, a test or a redelivery succeeds.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/v1/webhooks/{webhookId}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a new secret
         * @description The old one signs along for `overlap`; a second rotation within that time ends the first secret. `0s` is for a secret that has leaked: after the answer nothing is signed with it.
         */
        post: operations["rotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/egress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where notifications come from
         * @description For the firewall in front of your receiver. A signature proves more than an address.
         */
        get: operations["getEgress"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List shipments, newest first
         * @description With `state`, a page looks at 5,000 shipments at most: it may have fewer than `limit`, or none, while `nextCursor` leads on. The list is at its end when `nextCursor` is null.
         */
        get: operations["listShipments"];
        put?: never;
        /**
         * Integrate an order
         * @description Accepts the order: it is committed when 201 is answered. The shipment is created after that, normally within 100 ms, and then is in state `CREATED`.
         */
        post: operations["integrateOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipment-tracking/{trackingId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Track a shipment
         * @description Works whether or not webhooks are registered.
         */
        get: operations["trackShipment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/states": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the states of shipments
         * @description What webhooks may be interested in, and which state may follow which.
         */
        get: operations["listStates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/{trackingId}/simulate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a shipment on a journey
         * @description For trying it out: there is no such endpoint where parcels are real (`SIMULATE`). The first state comes at once, each other one after the interval, and your webhooks are told as of any. A shipment that was accepted just now begins when it is created. The journey ends early if somebody else moves the shipment so that its next state is not allowed; while the account is suspended it rests.
         */
        post: operations["simulateShipment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries, newest first
         * @description The log of what is owed to your webhooks and what became of it. It is kept 30 days unless configured otherwise.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a delivery with its payload and its attempts
         * @description All attempts are in the log, the newest first; an answer has 100 of them.
         */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhookId}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the attempts of a webhook by the hour
         * @description Every attempt that is in the log counts in the hour in which it began, redeliveries, replays and notices too, tests not: as soon as the log shows it, and never twice.
         */
        get: operations["getWebhookStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhookId}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a sample notification now
         * @description Whatever the status of the webhook. The sample has `TEST` as `tracking_id`; it is tried once, and the attempt is answered as it is in the log.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again now
         * @description One attempt outside the schedule, with the same `webhook-id`, also after success. If it fails, all is as it was.
         */
        post: operations["redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhookId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send what a webhook missed
         * @description Catches up on the events of a span of time, oldest first: what failed, is held or waits for a retry, and what never was attempted because the webhook was paused, disabled or not yet registered. What succeeded is left alone. Where nothing is queued, `reason` says why. A span before what the delivery log still holds has nothing to send; `from` must be before `to`.
         */
        post: operations["replayWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhookId}/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the replays of a webhook, newest first
         * @description Those that are over are kept as long as the delivery log.
         */
        get: operations["listReplays"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{replayId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a replay
         * @description Shows how far it has come.
         */
        get: operations["getReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{replayId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a replay
         * @description After the answer no send of it starts; an attempt under way ends and is not retried. What is owed because of the replay only is `FAILED` again, or has no delivery, as before; what was held or waited for a retry anyway goes on as if there had been no replay. One that is over stays as it is.
         */
        post: operations["cancelReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/users/{userId}/password-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a link at which a user sets a password
         * @description Good for one use and 24 hours. Earlier links stay good until one of them is used.
         */
        post: operations["createPasswordLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/shipments/{trackingId}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Record a state event of a shipment
         * @description The state, its event and all notifications owed for it are committed together.
         */
        post: operations["recordEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Record many state events
         * @description Those that are valid are recorded, in the order given; the others are refused one by one, each with its reason.
         */
        post: operations["recordEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How the service is doing
         * @description Queues, lag, what is owed to webhooks that are not called, which circuits are open, replays and versions. A part that is away says so.
         */
        get: operations["getStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/shipments/{trackingId}/erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase the personal data of a shipment
         * @description Cannot be undone. The recipient, the address and the parcel's contents are replaced in the order, what was reported with its states (evidences, anomalies, places) in its events and notifications, and receivers' answers are deleted from the log. What is still owed of it is `CANCELLED` (`ERASED`), and none of it is sent after the answer. Identifiers, states and times stay. Later states are recorded and sent without what is reported with them. Asking again does no harm.
         */
        post: operations["eraseShipment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/deliveries/{deliveryId}/explanation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Why a delivery is where it is
         * @description What it waits for, who holds it and what happens next, as PostgreSQL has it. Ids, states and moments only.
         */
        get: operations["explainDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/replays/{replayId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel anybody's replay
         * @description As its owner may. One that is over stays as it is.
         */
        post: operations["cancelReplayOfShipper"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/secrets/rotate-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Seal all that is secret with the current key
         * @description After `SECRETS_KEY` was changed and the one before set as `SECRETS_KEY_PREVIOUS`.
         */
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/feed/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make all cursors of the feed void
         * @description For use after the database was put back in a way that the service cannot detect, such as a snapshot of its disk. It does detect a restored dump and a promoted standby. Readers of the feed get a 400 and begin again.
         */
        post: operations["renewFeed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the feed of events, oldest first
         * @description Every state of your shipments, in the order in which they were committed: no event ever appears behind a cursor that was given out, and those of one shipment come in their sequence. Whoever follows it from cursor to cursor has seen everything, once. A cursor older than the log (30 days unless configured otherwise), or of a database that was restored or replaced by a standby since, is 400.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The form of every failure. */
        Failure: {
            /**
             * @description Changes when the form of answers does.
             * @example 1.0.0
             */
            version: string;
            /**
             * @description What went wrong, as a code to act on.
             * @enum {string}
             */
            status: "INVALID_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "TOO_MANY_REQUESTS" | "UNAVAILABLE" | "INTERNAL";
            /**
             * @description When the request was answered, in milliseconds since 1970.
             * @example 1795262400000
             */
            timestamp: number;
            error: {
                /**
                 * @description What went wrong, for people.
                 * @example Something went wrong on our side.
                 */
                message: string;
                /**
                 * @description The same as the header `X-Request-Id`.
                 * @example c0ffee00-1234-4abc-8def-0123456789ab
                 */
                requestId: string;
                /** @description Every wrong field of what is not valid. */
                details?: {
                    /**
                     * @description The field or parameter.
                     * @example package.weight
                     */
                    path: string;
                    /**
                     * @description What would be right.
                     * @example must be greater than 0
                     */
                    message: string;
                }[];
            };
        };
        /** @description Any JSON without U+0000 and without the names `__proto__` and `constructor`, at most 32 levels deep. */
        AnyJson: (null | boolean | number) | string | components["schemas"]["NestedJson"][] | {
            [key: string]: components["schemas"]["NestedJson"];
        };
        /** @description The same within it. */
        NestedJson: (null | boolean | number) | string | unknown[] | {
            [key: string]: unknown;
        };
        /** @description A token and how long it is good for. */
        AccessToken: {
            /**
             * @description Access token: send it as `Authorization: Bearer`.
             * @example eyJhbGciOiJIUzI1NiJ9.e30.c2ln
             */
            token: string;
            /**
             * @description Lifetime of the token in seconds.
             * @example 3600
             */
            expiresIn: string;
        };
        /** @description The shipper. */
        ShipperAccount: {
            /**
             * Format: uuid
             * @description Identifier of the shipper.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipperId: string;
            /**
             * @description Its name.
             * @example Acme Books
             */
            name: string;
            /**
             * @description `SUSPENDED`: its requests are refused and its webhooks held until it is resumed. `REMOVED`: for good.
             * @enum {string}
             */
            status: "ACTIVE" | "SUSPENDED" | "REMOVED";
            /**
             * Format: date-time
             * @description When it was registered.
             * @example 2026-11-21T12:00:00+00:00
             */
            createdAt: string;
            /**
             * @description Until then the account key before the last rotation is good, too; else null.
             * @example null
             */
            previousKeyValidUntil: string | null;
        };
        /** @description The new account key, which is shown only here. */
        RotatedAccountKey: {
            /**
             * @description The new account key of all its users; shown only here.
             * @example ak_AAECAwQFBgcICQoLDA0ODxAREhM
             */
            accountKey: string;
            /**
             * Format: date-time
             * @description Until then the key before is good, too.
             * @example 2026-11-21T12:00:00+00:00
             */
            previousKeyValidUntil: string;
        };
        /** @description A user. */
        UserAccount: {
            /**
             * Format: uuid
             * @description Identifier of the user.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            userId: string;
            /**
             * @description E-mail address, used to log in.
             * @example ana@example.com
             */
            email: string;
            /**
             * @description False until a password was set.
             * @example true
             */
            hasPassword: boolean;
            /**
             * Format: date-time
             * @description When the user was registered.
             * @example 2026-11-21T12:00:00+00:00
             */
            createdAt: string;
        };
        /** @description Who did, or tried, what, when and from where. */
        AuditEntry: {
            /**
             * Format: uuid
             * @description Identifier of the entry.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            auditId: string;
            /**
             * Format: date-time
             * @description When it was done; of refusals, when they were written down.
             * @example 2026-11-21T12:00:00+00:00
             */
            at: string;
            /**
             * @description What was done, or refused.
             * @example SHIPPER_SUSPENDED
             * @enum {string}
             */
            action: "SHIPPER_CREATED" | "SHIPPER_RENAMED" | "SHIPPER_SUSPENDED" | "SHIPPER_RESUMED" | "SHIPPER_REMOVED" | "ACCOUNT_KEY_ROTATED" | "USER_CREATED" | "USER_REMOVED" | "USER_SIGNED_OUT" | "PASSWORD_LINK_CREATED" | "PASSWORD_SET" | "WEBHOOK_CREATED" | "WEBHOOK_UPDATED" | "WEBHOOK_DISABLED" | "WEBHOOK_DELETED" | "WEBHOOK_SECRET_ROTATED" | "REPLAY_CANCELLED" | "SHIPMENT_ERASED" | "SECRETS_RESEALED" | "FEED_RENEWED" | "LOGIN_REFUSED" | "OPERATOR_REFUSED";
            /**
             * @description Whether it was done.
             * @enum {string}
             */
            outcome: "DONE" | "REFUSED";
            actor: {
                /**
                 * @description `UNKNOWN` did not prove who it is; `SERVICE` is the service itself.
                 * @enum {string}
                 */
                kind: "OPERATOR" | "USER" | "SERVICE" | "UNKNOWN";
                /**
                 * @description An operator's name, or a user's id; null of others.
                 * @example operator
                 */
                name: string | null;
                /**
                 * @description Where the request came from; for a stranger (`UNKNOWN`) the address block, an IPv4 /24 or an IPv6 /56; null where refusals of many callers are counted together.
                 * @example 203.0.113.7
                 */
                address: string | null;
            };
            /**
             * @description The shipper it is about.
             * @example null
             */
            shipperId: string | null;
            /**
             * @description The user it is about.
             * @example null
             */
            userId: string | null;
            /**
             * @description The webhook it is about.
             * @example null
             */
            webhookId: string | null;
            /**
             * @description The shipment it is about.
             * @example null
             */
            shipmentId: string | null;
            /**
             * @description Names of the fields that were given.
             * @example []
             */
            fields: string[];
            /**
             * @description How many refusals the entry stands for.
             * @example 1
             */
            count: number;
        };
        ListedWebhook: {
            /**
             * Format: uuid
             * @description Identifier of the webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * @description States to be told of; `*` is all of them. `WEBHOOK_DISABLED`, `WEBHOOK_FAILING` and `WEBHOOK_RECOVERED` tell how the other webhooks are doing, and have to be named.
             * @example [
             *       "CREATED",
             *       "DELIVERED"
             *     ]
             */
            interests: string[];
            /**
             * Format: uri
             * @description Where notifications are sent.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress: string;
            /**
             * @description What a `PAUSED` or `DISABLED` webhook misses is held and goes out when it is `ACTIVE` again.
             * @enum {string}
             */
            status: "ACTIVE" | "PAUSED" | "DISABLED";
            /**
             * @description Why it is `DISABLED`: you did it, it answered 410, or nothing arrived for 5 days.
             * @example null
             */
            disabledReason: ("BY_SHIPPER" | "GONE" | "FAILING") | null;
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as it can.
             * @enum {string}
             */
            ordering: "SHIPMENT" | "NONE";
            /**
             * @description Leaves out a state that is still undelivered when a later one of the shipment is recorded.
             * @example false
             */
            supersede: boolean;
            /**
             * @description Headers that are sent along; their values are not shown.
             * @example {
             *       "X-Team": "••••"
             *     }
             */
            headers: {
                [key: string]: "••••";
            };
            /**
             * @description Free text for yourself.
             * @example Production
             */
            description: string;
            /**
             * Format: date-time
             * @description When it was registered.
             * @example 2026-11-21T12:00:00+00:00
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-21T12:00:00+00:00
             */
            updatedAt: string;
            /**
             * @description Interests that are no state today. They are kept, for a state may come later.
             * @example []
             */
            unknownInterests: string[];
            /** @description With `include=health`: how its deliveries have been going. */
            health?: {
                /**
                 * @description `OPEN`: it failed too often and is given a rest.
                 * @enum {string}
                 */
                circuit: "CLOSED" | "OPEN";
                nextProbeAt: string | null;
                lastSuccessAt: string | null;
                /**
                 * @description Failed share of the attempts that began in the current hour (UTC) and the one before it, tests left out; null without any.
                 * @example 0
                 */
                failureRate: number | null;
                /**
                 * @description Deliveries that wait; counted up to 10,000.
                 * @example 0
                 */
                pendingCount: number;
                parkedSince: string | null;
            };
            /** @description With `include=stats`: its attempts of the last 24 hours. */
            stats?: components["schemas"]["WebhookStats"];
        };
        /** @description Attempts by the hour (UTC), those without any included: the oldest first, the current one last. */
        WebhookStats: {
            /** @description Hour by hour, the earliest first. */
            hours: {
                /**
                 * Format: date-time
                 * @description When it began.
                 * @example 2026-11-21T12:00:00+00:00
                 */
                hour: string;
                /**
                 * @description Attempts that began in it and are over.
                 * @example 42
                 */
                attempts: number;
                /**
                 * @description Those that succeeded.
                 * @example 40
                 */
                succeeded: number;
                /**
                 * @description Those that failed, or were cut off.
                 * @example 2
                 */
                failed: number;
                /**
                 * @description Half of its attempts took no longer, in milliseconds, to within 5 %; null where none has a duration.
                 * @example 84
                 */
                p50Ms: number | null;
                /**
                 * @description 95 % of its attempts took no longer, in milliseconds, to within 5 %; null where none has a duration.
                 * @example 210
                 */
                p95Ms: number | null;
            }[];
        };
        NewWebhook: {
            /**
             * @description States to be told of; `*` is all of them. `WEBHOOK_DISABLED`, `WEBHOOK_FAILING` and `WEBHOOK_RECOVERED` tell how the other webhooks are doing, and have to be named.
             * @example [
             *       "CREATED",
             *       "DELIVERED"
             *     ]
             */
            interests: string[];
            /**
             * @description Absolute URL that notifications are sent to; its host has at most 253 characters. A host in Unicode is taken as its punycode.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress: string;
            /**
             * @description What a `PAUSED` or `DISABLED` webhook misses is held and goes out when it is `ACTIVE` again.
             * @enum {string}
             */
            status?: "ACTIVE" | "PAUSED" | "DISABLED";
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as it can.
             * @enum {string}
             */
            ordering?: "SHIPMENT" | "NONE";
            /**
             * @description Leaves out a state that is still undelivered when a later one of the shipment is recorded.
             * @example false
             */
            supersede?: boolean;
            /**
             * @description Headers to send along; those that the service or HTTP itself sets are refused. No answer shows their values.
             * @example {
             *       "X-Team": "logistics"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /**
             * @description Free text for yourself.
             * @example Production
             */
            description?: string;
        };
        /** @description The webhook with its secret, which is shown only here. */
        WebhookWithSecret: {
            /**
             * Format: uuid
             * @description Identifier of the webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * @description States to be told of; `*` is all of them. `WEBHOOK_DISABLED`, `WEBHOOK_FAILING` and `WEBHOOK_RECOVERED` tell how the other webhooks are doing, and have to be named.
             * @example [
             *       "CREATED",
             *       "DELIVERED"
             *     ]
             */
            interests: string[];
            /**
             * Format: uri
             * @description Where notifications are sent.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress: string;
            /**
             * @description What a `PAUSED` or `DISABLED` webhook misses is held and goes out when it is `ACTIVE` again.
             * @enum {string}
             */
            status: "ACTIVE" | "PAUSED" | "DISABLED";
            /**
             * @description Why it is `DISABLED`: you did it, it answered 410, or nothing arrived for 5 days.
             * @example null
             */
            disabledReason: ("BY_SHIPPER" | "GONE" | "FAILING") | null;
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as it can.
             * @enum {string}
             */
            ordering: "SHIPMENT" | "NONE";
            /**
             * @description Leaves out a state that is still undelivered when a later one of the shipment is recorded.
             * @example false
             */
            supersede: boolean;
            /**
             * @description Headers that are sent along; their values are not shown.
             * @example {
             *       "X-Team": "••••"
             *     }
             */
            headers: {
                [key: string]: "••••";
            };
            /**
             * @description Free text for yourself.
             * @example Production
             */
            description: string;
            /**
             * Format: date-time
             * @description When it was registered.
             * @example 2026-11-21T12:00:00+00:00
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-21T12:00:00+00:00
             */
            updatedAt: string;
            /**
             * @description Interests that are no state today. They are kept, for a state may come later.
             * @example []
             */
            unknownInterests: string[];
            /**
             * @description Verifies signatures: `whsec_` and 32 bytes in Base64. Keep it; it is not shown again.
             * @example whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=
             */
            secret: string;
        };
        /** @description The webhook and how its deliveries have been going. */
        WebhookWithHealth: {
            /**
             * Format: uuid
             * @description Identifier of the webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * @description States to be told of; `*` is all of them. `WEBHOOK_DISABLED`, `WEBHOOK_FAILING` and `WEBHOOK_RECOVERED` tell how the other webhooks are doing, and have to be named.
             * @example [
             *       "CREATED",
             *       "DELIVERED"
             *     ]
             */
            interests: string[];
            /**
             * Format: uri
             * @description Where notifications are sent.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress: string;
            /**
             * @description What a `PAUSED` or `DISABLED` webhook misses is held and goes out when it is `ACTIVE` again.
             * @enum {string}
             */
            status: "ACTIVE" | "PAUSED" | "DISABLED";
            /**
             * @description Why it is `DISABLED`: you did it, it answered 410, or nothing arrived for 5 days.
             * @example null
             */
            disabledReason: ("BY_SHIPPER" | "GONE" | "FAILING") | null;
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as it can.
             * @enum {string}
             */
            ordering: "SHIPMENT" | "NONE";
            /**
             * @description Leaves out a state that is still undelivered when a later one of the shipment is recorded.
             * @example false
             */
            supersede: boolean;
            /**
             * @description Headers that are sent along; their values are not shown.
             * @example {
             *       "X-Team": "••••"
             *     }
             */
            headers: {
                [key: string]: "••••";
            };
            /**
             * @description Free text for yourself.
             * @example Production
             */
            description: string;
            /**
             * Format: date-time
             * @description When it was registered.
             * @example 2026-11-21T12:00:00+00:00
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-21T12:00:00+00:00
             */
            updatedAt: string;
            /**
             * @description Interests that are no state today. They are kept, for a state may come later.
             * @example []
             */
            unknownInterests: string[];
            health: {
                /**
                 * @description `OPEN`: it failed too often and is given a rest.
                 * @enum {string}
                 */
                circuit: "CLOSED" | "OPEN";
                nextProbeAt: string | null;
                lastSuccessAt: string | null;
                /**
                 * @description Failed share of the attempts that began in the current hour (UTC) and the one before it, tests left out; null without any.
                 * @example 0
                 */
                failureRate: number | null;
                /**
                 * @description Deliveries that wait; counted up to 10,000.
                 * @example 0
                 */
                pendingCount: number;
                parkedSince: string | null;
            };
        };
        WebhookChanges: {
            /**
             * @description States to be told of; `*` is all of them. `WEBHOOK_DISABLED`, `WEBHOOK_FAILING` and `WEBHOOK_RECOVERED` tell how the other webhooks are doing, and have to be named.
             * @example [
             *       "CREATED",
             *       "DELIVERED"
             *     ]
             */
            interests?: string[];
            /**
             * @description Absolute URL that notifications are sent to; its host has at most 253 characters. A host in Unicode is taken as its punycode.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress?: string;
            /**
             * @description What a `PAUSED` or `DISABLED` webhook misses is held and goes out when it is `ACTIVE` again.
             * @enum {string}
             */
            status?: "ACTIVE" | "PAUSED" | "DISABLED";
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as it can.
             * @enum {string}
             */
            ordering?: "SHIPMENT" | "NONE";
            /**
             * @description Leaves out a state that is still undelivered when a later one of the shipment is recorded.
             * @example false
             */
            supersede?: boolean;
            /**
             * @description Headers to send along; those that the service or HTTP itself sets are refused. No answer shows their values. A value sent as `••••` stays as it is.
             * @example {
             *       "X-Team": "logistics"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /**
             * @description Free text for yourself; null is as good as none.
             * @example Production
             */
            description?: string | null;
        };
        /** @description The webhook. */
        Webhook: {
            /**
             * Format: uuid
             * @description Identifier of the webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * @description States to be told of; `*` is all of them. `WEBHOOK_DISABLED`, `WEBHOOK_FAILING` and `WEBHOOK_RECOVERED` tell how the other webhooks are doing, and have to be named.
             * @example [
             *       "CREATED",
             *       "DELIVERED"
             *     ]
             */
            interests: string[];
            /**
             * Format: uri
             * @description Where notifications are sent.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress: string;
            /**
             * @description What a `PAUSED` or `DISABLED` webhook misses is held and goes out when it is `ACTIVE` again.
             * @enum {string}
             */
            status: "ACTIVE" | "PAUSED" | "DISABLED";
            /**
             * @description Why it is `DISABLED`: you did it, it answered 410, or nothing arrived for 5 days.
             * @example null
             */
            disabledReason: ("BY_SHIPPER" | "GONE" | "FAILING") | null;
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as it can.
             * @enum {string}
             */
            ordering: "SHIPMENT" | "NONE";
            /**
             * @description Leaves out a state that is still undelivered when a later one of the shipment is recorded.
             * @example false
             */
            supersede: boolean;
            /**
             * @description Headers that are sent along; their values are not shown.
             * @example {
             *       "X-Team": "••••"
             *     }
             */
            headers: {
                [key: string]: "••••";
            };
            /**
             * @description Free text for yourself.
             * @example Production
             */
            description: string;
            /**
             * Format: date-time
             * @description When it was registered.
             * @example 2026-11-21T12:00:00+00:00
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-21T12:00:00+00:00
             */
            updatedAt: string;
            /**
             * @description Interests that are no state today. They are kept, for a state may come later.
             * @example []
             */
            unknownInterests: string[];
        };
        /** @description The new secret, which is shown only here. */
        RotatedSecret: {
            /**
             * Format: uuid
             * @description Identifier of the webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * @description Verifies signatures: `whsec_` and 32 bytes in Base64. Keep it; it is not shown again.
             * @example whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=
             */
            secret: string;
            /**
             * Format: date-time
             * @description Until then every notification is signed with both secrets.
             * @example 2026-11-21T12:00:00+00:00
             */
            previousSecretValidUntil: string;
        };
        /** @description An order to deliver one parcel. */
        Order: {
            /** @description Where the parcel goes. */
            recipientLocation: {
                /**
                 * @description Street.
                 * @example Avenida Reforma
                 */
                street: string;
                /**
                 * @description Number of the house.
                 * @example 222
                 */
                number: string;
                /**
                 * @description State or province.
                 * @example Jalisco
                 */
                administrativeArea: string;
                /**
                 * @description Municipality or county.
                 * @example Guadalajara
                 */
                subAdministrativeArea: string;
                /**
                 * @description Country code of two letters.
                 * @example MX
                 */
                country: string;
                /**
                 * @description Neighbourhood.
                 * @example Centro
                 */
                neighborhood: string;
                /**
                 * @description Postal code.
                 * @example 45010
                 */
                postalCode: string;
                /**
                 * @description Free text for the courier.
                 * @example Ring twice
                 */
                notes?: string | null;
                /**
                 * @description A landmark.
                 * @example Green door
                 */
                reference?: string | null;
                /**
                 * @description Number of the flat or office.
                 * @example 4B
                 */
                intNumber?: string | null;
                /**
                 * @description Latitude in degrees.
                 * @example 20.6767
                 */
                lat?: number | null;
                /**
                 * @description Longitude in degrees.
                 * @example -103.3475
                 */
                lng?: number | null;
            };
            /**
             * @description Your own identifier of the order; need not be unique.
             * @example ORDER-1001
             */
            shipperTrackingId: string;
            /**
             * Format: date-time
             * @description When you hand the parcel in.
             * @example 2026-12-01T10:00:00Z
             */
            shipperDropoffDate: string;
            /**
             * Format: date-time
             * @description When it should arrive.
             * @example 2026-12-03T18:00:00Z
             */
            expectedDeliveryDate: string;
            /**
             * @description Lot the order belongs to.
             * @example LOT-7
             */
            lotId?: string | null;
            /** @description Who gets the parcel. */
            recipientInformation: {
                /**
                 * @description Full name.
                 * @example Ana Torres
                 */
                fullName: string;
                /**
                 * @description Telephone number, digits only.
                 * @example 5500000000
                 */
                phone: string;
                /**
                 * @description E-mail address.
                 * @example ana@example.com
                 */
                email?: string | null;
            };
            /** @description The parcel. */
            package: {
                /**
                 * @description Kind of packaging, stored as sent.
                 * @example UNIT
                 */
                packageType: string;
                /**
                 * @description What is inside.
                 * @example Books
                 */
                description: string;
                /**
                 * @description Value of what is inside.
                 * @example 349.5
                 */
                contentValue: number;
                /**
                 * @description Currency of the value, stored as sent.
                 * @example MXN
                 */
                valueCurrency: string;
                /**
                 * @description Weight.
                 * @example 1.2
                 */
                weight: number;
                /**
                 * @description Unit of the weight, stored as sent.
                 * @example KG
                 */
                weightUnit: string;
                /**
                 * @description Length.
                 * @example 30
                 */
                length: number;
                /**
                 * @description Width.
                 * @example 20
                 */
                width: number;
                /**
                 * @description Height.
                 * @example 10
                 */
                height: number;
                /**
                 * @description Unit of length, width and height, stored as sent.
                 * @example CM
                 */
                dimensionsUnit: string;
                /**
                 * @description What is inside in detail; any JSON, answered as sent.
                 * @example null
                 */
                items?: components["schemas"]["AnyJson"];
            };
        };
        /** @description The accepted order. The shipment itself is created shortly after. */
        OrderResult: {
            recipientLocation: {
                /**
                 * @description Street.
                 * @example Avenida Reforma
                 */
                street: string;
                /**
                 * @description Number of the house.
                 * @example 222
                 */
                number: string;
                /**
                 * @description State or province.
                 * @example Jalisco
                 */
                administrativeArea: string;
                /**
                 * @description Municipality or county.
                 * @example Guadalajara
                 */
                subAdministrativeArea: string;
                /**
                 * @description Country code of two letters.
                 * @example MX
                 */
                country: string;
                /**
                 * @description Neighbourhood.
                 * @example Centro
                 */
                neighborhood: string;
                /**
                 * @description Postal code.
                 * @example 45010
                 */
                postalCode: string;
                /**
                 * @description Free text for the courier.
                 * @example Ring twice
                 */
                notes: string | null;
                /**
                 * @description A landmark.
                 * @example Green door
                 */
                reference: string | null;
                /**
                 * @description Number of the flat or office.
                 * @example 4B
                 */
                intNumber: string | null;
                /**
                 * @description Latitude in degrees.
                 * @example 20.6767
                 */
                lat: number | null;
                /**
                 * @description Longitude in degrees.
                 * @example -103.3475
                 */
                lng: number | null;
            };
            /**
             * @description Your own identifier of the order; need not be unique.
             * @example ORDER-1001
             */
            shipperTrackingId: string;
            /**
             * Format: date-time
             * @description When you hand the parcel in.
             * @example 2026-11-21T12:00:00+00:00
             */
            shipperDropoffDate: string;
            /**
             * Format: date-time
             * @description When it should arrive.
             * @example 2026-11-21T12:00:00+00:00
             */
            expectedDeliveryDate: string;
            /**
             * @description Lot the order belongs to.
             * @example LOT-7
             */
            lotId: string | null;
            recipientInformation: {
                /**
                 * @description Full name.
                 * @example Ana Torres
                 */
                fullName: string;
                /**
                 * @description Telephone number, digits only.
                 * @example 5500000000
                 */
                phone: string;
                /**
                 * @description E-mail address.
                 * @example ana@example.com
                 */
                email: string | null;
            };
            package: {
                /**
                 * @description Kind of packaging, stored as sent.
                 * @example UNIT
                 */
                packageType: string;
                /**
                 * @description What is inside.
                 * @example Books
                 */
                description: string;
                /**
                 * @description Value without its fraction.
                 * @example 349
                 */
                contentValue: number;
                /**
                 * @description Currency of the value, stored as sent.
                 * @example MXN
                 */
                valueCurrency: string;
                /**
                 * @description Weight.
                 * @example 1.2
                 */
                weight: number;
                /**
                 * @description Unit of the weight, stored as sent.
                 * @example KG
                 */
                weightUnit: string;
                /**
                 * @description Length.
                 * @example 30
                 */
                length: number;
                /**
                 * @description Width.
                 * @example 20
                 */
                width: number;
                /**
                 * @description Height.
                 * @example 10
                 */
                height: number;
                /**
                 * @description Unit of length, width and height, stored as sent.
                 * @example CM
                 */
                dimensionsUnit: string;
                /**
                 * @description What is inside in detail; any JSON, answered as sent.
                 * @example null
                 */
                items: unknown;
            };
            dropoffLocation: components["schemas"]["DropoffLocation"];
            /**
             * @description The service's identifier of the shipment.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId: string;
            /**
             * Format: uuid
             * @description Identifier of the shipment.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipmentId: string;
        };
        /** @description Where you hand the parcel in: chosen by the service. */
        DropoffLocation: {
            /**
             * @description Street.
             * @example Calle Norte 45
             */
            street: string;
            /**
             * @description State or province.
             * @example Jalisco
             */
            administrativeArea: string;
            /**
             * @description Municipality or county.
             * @example Guadalajara
             */
            subAdministrativeArea: string;
            /**
             * @description Country code of two letters.
             * @example MX
             */
            country: string;
            /**
             * @description Neighbourhood.
             * @example Centro
             */
            neighborhood: string;
            /**
             * @description Kind of neighbourhood.
             * @example Suburb
             */
            neighborhoodType: string;
            /**
             * @description Postal code.
             * @example 45010
             */
            zipCode: string;
            /**
             * @description Latitude in degrees.
             * @example 20.6621
             */
            lat: number;
            /**
             * @description Longitude in degrees.
             * @example -103.3412
             */
            lng: number;
            /**
             * @description Number of the house.
             * @example 12
             */
            number: string;
            /**
             * @description Number of the office.
             * @example null
             */
            intNumber: string | null;
            /**
             * @description A landmark.
             * @example Beside the market
             */
            reference: string;
            /**
             * @description For who hands in a parcel.
             * @example Loading bay 4
             */
            observations: string;
        };
        /** @description The shipment and how it came to where it is. */
        Tracking: {
            /**
             * @description The service's identifier of the shipment.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId: string;
            /**
             * Format: uuid
             * @description Identifier of the shipment.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipmentId: string;
            /**
             * @description Your own identifier of the order; need not be unique.
             * @example ORDER-1001
             */
            shipperTrackingId: string;
            /**
             * @description State now; null until the shipment is created.
             * @example CREATED
             */
            state: string | null;
            /** @description The states that it reached, oldest first: the latest 1,000, and of those as many as fit in 4 MiB. The feed (`GET /v1/events`) has every one. */
            history: {
                /**
                 * @description State it came to.
                 * @example CREATED
                 */
                state: string;
                /**
                 * @description When it came to it, in milliseconds since 1970.
                 * @example 1795262400000
                 */
                timestamp: number;
                /**
                 * @description Null where it was not reported.
                 * @example null
                 */
                lat: number | null;
                /**
                 * @description Null where it was not reported.
                 * @example null
                 */
                lng: number | null;
                /**
                 * @description What was reported with the state; null if nothing was.
                 * @example null
                 */
                anomalies: unknown;
                /**
                 * @description What was reported as evidence.
                 * @example []
                 */
                evidences: unknown[];
            }[];
        };
        /** @description A shipment without its recipient. */
        ListedShipment: {
            /**
             * @description The service's identifier of the shipment.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId: string;
            /**
             * Format: uuid
             * @description Identifier of the shipment.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipmentId: string;
            /**
             * @description Your own identifier of the order; need not be unique.
             * @example ORDER-1001
             */
            shipperTrackingId: string;
            /**
             * @description State now; null until the shipment is created.
             * @example CREATED
             */
            state: string | null;
            /**
             * Format: date-time
             * @description When the order was accepted.
             * @example 2026-11-21T12:00:00+00:00
             */
            acceptedAt: string;
            /**
             * Format: date-time
             * @description When it came to its state; until it is created, when the order was accepted.
             * @example 2026-11-21T12:00:00+00:00
             */
            updatedAt: string;
        };
        /** @description A state and what may follow. */
        State: {
            /**
             * @description Its name.
             * @example CREATED
             */
            state: string;
            /**
             * @description Whether nothing follows.
             * @example false
             */
            terminal: boolean;
            /**
             * @description The states that may follow.
             * @example [
             *       "PICKED_UP",
             *       "CANCELLED"
             *     ]
             */
            next: string[];
        };
        /** @description The journey has begun. */
        Simulation: {
            /** @description The states it will go through. */
            states: ("CREATED" | "PICKED_UP" | "IN_TRANSIT" | "OUT_FOR_DELIVERY" | "DELIVERY_FAILED" | "RETURNING" | "DELIVERED" | "RETURNED" | "CANCELLED" | "LOST")[];
            /**
             * @description Milliseconds from one state to the next.
             * @example 1000
             */
            intervalMs: number;
        };
        /** @description What is owed to one webhook for one event. */
        Delivery: {
            /**
             * Format: uuid
             * @description Identifier of the delivery: one event for one webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            deliveryId: string;
            /**
             * Format: uuid
             * @description The webhook it is for.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * Format: uri
             * @description Where the webhook is called today, without the query.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress: string;
            /**
             * @description The event: `webhook-id` of its notifications.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            eventId: string;
            /** @description The shipment; null of tests and notices. */
            trackingId: string | null;
            /**
             * @description Your own identifier of the order; null of tests and notices.
             * @example SHIPPER-1
             */
            shipperTrackingId: string | null;
            /**
             * @description State that is told.
             * @example CREATED
             */
            state: string;
            /**
             * @description `PENDING` is due or waits for a retry, `SENDING` has an attempt under way, `HELD` waits for what `heldBy` says, `FAILED` has used up its retries.
             * @enum {string}
             */
            status: "PENDING" | "SENDING" | "HELD" | "SUCCEEDED" | "FAILED" | "CANCELLED";
            /**
             * @description Why it is `HELD`: an earlier state of the shipment is still owed, the webhook is given a rest or is not active, or the account is suspended.
             * @example null
             */
            heldBy: ("TURN" | "CIRCUIT" | "PAUSED" | "DISABLED" | "SUSPENDED") | null;
            /**
             * @description When a webhook that is given a rest is tried next; null unless it is `HELD` by `CIRCUIT`.
             * @example null
             */
            nextProbeAt: string | null;
            /**
             * @description Why it is `CANCELLED`: its webhook was deleted, a later state overtook it, it was owed for longer than the log is kept, or the personal data of its shipment was erased.
             * @example null
             */
            reason: ("WEBHOOK_DELETED" | "SUPERSEDED" | "EXPIRED" | "ERASED") | null;
            /**
             * @description Attempts so far, one under way included.
             * @example 1
             */
            attemptCount: number;
            /** @description The last attempt that is over; null before. */
            lastAttempt: {
                /**
                 * Format: date-time
                 * @description When it began.
                 * @example 2026-11-21T12:00:00+00:00
                 */
                startedAt: string;
                /**
                 * @description How long it took; null if it was cut off.
                 * @example 84
                 */
                durationMs: number | null;
                /**
                 * @description HTTP status of the answer; null without one.
                 * @example 200
                 */
                statusCode: number | null;
                /**
                 * @description Why it failed; null if it did not.
                 * @example null
                 */
                errorCode: ("TIMEOUT" | "DNS" | "CONNECT" | "RESET" | "TLS" | "ADDRESS_DENIED" | "HTTP_STATUS" | "PROTOCOL") | null;
            } | null;
            /**
             * @description When the next attempt is due; null if none is.
             * @example null
             */
            nextAttemptAt: string | null;
            /**
             * Format: date-time
             * @description When the event was recorded.
             * @example 2026-11-21T12:00:00+00:00
             */
            createdAt: string;
            completedAt: string | null;
        };
        /** @description The delivery with its payload and its attempts. */
        DeliveryDetails: {
            /**
             * Format: uuid
             * @description Identifier of the delivery: one event for one webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            deliveryId: string;
            /**
             * Format: uuid
             * @description The webhook it is for.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * Format: uri
             * @description Where the webhook is called today, without the query.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress: string;
            /**
             * @description The event: `webhook-id` of its notifications.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            eventId: string;
            /** @description The shipment; null of tests and notices. */
            trackingId: string | null;
            /**
             * @description Your own identifier of the order; null of tests and notices.
             * @example SHIPPER-1
             */
            shipperTrackingId: string | null;
            /**
             * @description State that is told.
             * @example CREATED
             */
            state: string;
            /**
             * @description `PENDING` is due or waits for a retry, `SENDING` has an attempt under way, `HELD` waits for what `heldBy` says, `FAILED` has used up its retries.
             * @enum {string}
             */
            status: "PENDING" | "SENDING" | "HELD" | "SUCCEEDED" | "FAILED" | "CANCELLED";
            /**
             * @description Why it is `HELD`: an earlier state of the shipment is still owed, the webhook is given a rest or is not active, or the account is suspended.
             * @example null
             */
            heldBy: ("TURN" | "CIRCUIT" | "PAUSED" | "DISABLED" | "SUSPENDED") | null;
            /**
             * @description When a webhook that is given a rest is tried next; null unless it is `HELD` by `CIRCUIT`.
             * @example null
             */
            nextProbeAt: string | null;
            /**
             * @description Why it is `CANCELLED`: its webhook was deleted, a later state overtook it, it was owed for longer than the log is kept, or the personal data of its shipment was erased.
             * @example null
             */
            reason: ("WEBHOOK_DELETED" | "SUPERSEDED" | "EXPIRED" | "ERASED") | null;
            /**
             * @description Attempts so far, one under way included.
             * @example 1
             */
            attemptCount: number;
            /** @description The last attempt that is over; null before. */
            lastAttempt: {
                /**
                 * Format: date-time
                 * @description When it began.
                 * @example 2026-11-21T12:00:00+00:00
                 */
                startedAt: string;
                /**
                 * @description How long it took; null if it was cut off.
                 * @example 84
                 */
                durationMs: number | null;
                /**
                 * @description HTTP status of the answer; null without one.
                 * @example 200
                 */
                statusCode: number | null;
                /**
                 * @description Why it failed; null if it did not.
                 * @example null
                 */
                errorCode: ("TIMEOUT" | "DNS" | "CONNECT" | "RESET" | "TLS" | "ADDRESS_DENIED" | "HTTP_STATUS" | "PROTOCOL") | null;
            } | null;
            /**
             * @description When the next attempt is due; null if none is.
             * @example null
             */
            nextAttemptAt: string | null;
            /**
             * Format: date-time
             * @description When the event was recorded.
             * @example 2026-11-21T12:00:00+00:00
             */
            createdAt: string;
            completedAt: string | null;
            /** @description The body that is sent. */
            payload: components["schemas"]["Notification"] | components["schemas"]["Notice"];
            /** @description Attempts that are over, the newest first, 100 a page. */
            attempts: components["schemas"]["Attempt"][];
            /**
             * @description Send it as `attemptsCursor` for the attempts before; null at the end.
             * @example null
             */
            nextAttemptsCursor: string | null;
        };
        /** @description A shipment came to a state. */
        Notification: {
            /**
             * @description State the shipment came to.
             * @example CREATED
             */
            state: string;
            /**
             * @description The same as `shipper_tracking_id`.
             * @example ORDER-1001
             */
            label_id: string;
            /**
             * @description What was reported with the state; null if nothing was.
             * @example null
             */
            anomalies: unknown;
            /**
             * @description What was reported as evidence.
             * @example []
             */
            evidences: unknown[];
            /**
             * @description The service's identifier of the shipment.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            tracking_id: string;
            /**
             * @description `shipperTrackingId` of the order.
             * @example ORDER-1001
             */
            shipper_tracking_id: string;
            /**
             * @description When it came to the state, in milliseconds since 1970.
             * @example 1795262400000
             */
            timestamp: number;
            /**
             * @description Latitude; null where it was not reported.
             * @example null
             */
            lat: number | null;
            /**
             * @description Longitude; null where it was not reported.
             * @example null
             */
            lng: number | null;
        };
        /** @description One of your webhooks was disabled, is failing or has recovered. */
        Notice: {
            /**
             * @description What became of the webhook.
             * @enum {string}
             */
            state: "WEBHOOK_DISABLED" | "WEBHOOK_FAILING" | "WEBHOOK_RECOVERED";
            /**
             * Format: uuid
             * @description The webhook it is about.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhook_id: string;
            /**
             * Format: uri
             * @description Its address, without the query.
             * @example https://example.com/hooks/parcelhook
             */
            target_address: string;
            /**
             * @description It answered 410, nothing arrived for 5 days, or it failed too often and is given a rest. Null when it has recovered.
             * @example GONE
             */
            reason: ("GONE" | "FAILING" | "CIRCUIT_OPEN") | null;
            /**
             * @description When it happened, in milliseconds since 1970.
             * @example 1795262400000
             */
            timestamp: number;
        };
        /** @description One attempt, as it is in the log. */
        Attempt: {
            /**
             * @description Counts from 1.
             * @example 1
             */
            number: number;
            /**
             * @description What it was made for: the schedule, a redelivery, a test or a replay.
             * @enum {string}
             */
            trigger: "SCHEDULED" | "MANUAL" | "TEST" | "REPLAY";
            /**
             * Format: date-time
             * @description When it began.
             * @example 2026-11-21T12:00:00+00:00
             */
            startedAt: string;
            /**
             * @description How long it took; null if it was cut off.
             * @example 84
             */
            durationMs: number | null;
            /**
             * @description HTTP status of the answer; null without one.
             * @example 200
             */
            statusCode: number | null;
            /**
             * @description Why it failed; null if it did not.
             * @example null
             */
            errorCode: ("TIMEOUT" | "DNS" | "CONNECT" | "RESET" | "TLS" | "ADDRESS_DENIED" | "HTTP_STATUS" | "PROTOCOL") | null;
            /**
             * @description More about the error, if there is more to say. `TOO_MANY_ADDRESSES`, with `DNS`: the name has more than 32 addresses, and none of them is called.
             * @example null
             */
            errorDetail: "TOO_MANY_ADDRESSES" | null;
            /**
             * @description The headers it was sent with, names in lower case; the values of the webhook's own are `••••`. Null where no request went out, where that is not known, where what it told was erased, and of attempts before an upgrade.
             * @example {
             *       "host": "example.com",
             *       "x-team": "••••",
             *       "content-type": "application/json",
             *       "user-agent": "Parcelhook/1.0.0",
             *       "webhook-id": "0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
             *       "webhook-timestamp": "1795262400",
             *       "webhook-signature": "v1,AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
             *       "parcelhook-sequence": "1",
             *       "parcelhook-attempt": "1",
             *       "content-length": "245",
             *       "connection": "keep-alive"
             *     }
             */
            requestHeaders: {
                [key: string]: string;
            } | null;
            /**
             * @description First 4 KiB of the answer as text.
             * @example ok
             */
            responseBody: string | null;
        };
        /** @description The attempt as it is in the log, whether it succeeded or not. */
        TestResult: {
            /**
             * Format: uuid
             * @description Identifier of the delivery: one event for one webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            deliveryId: string;
            /**
             * @description The event: `webhook-id` of its notifications.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            eventId: string;
            /**
             * @description Counts from 1.
             * @example 1
             */
            number: number;
            /**
             * @description What it was made for.
             * @constant
             */
            trigger: "TEST";
            /**
             * Format: date-time
             * @description When it began.
             * @example 2026-11-21T12:00:00+00:00
             */
            startedAt: string;
            /**
             * @description How long it took; null if it was cut off.
             * @example 84
             */
            durationMs: number | null;
            /**
             * @description HTTP status of the answer; null without one.
             * @example 200
             */
            statusCode: number | null;
            /**
             * @description Why it failed; null if it did not.
             * @example null
             */
            errorCode: ("TIMEOUT" | "DNS" | "CONNECT" | "RESET" | "TLS" | "ADDRESS_DENIED" | "HTTP_STATUS" | "PROTOCOL") | null;
            /**
             * @description More about the error, if there is more to say. `TOO_MANY_ADDRESSES`, with `DNS`: the name has more than 32 addresses, and none of them is called.
             * @example null
             */
            errorDetail: "TOO_MANY_ADDRESSES" | null;
            /**
             * @description The headers it was sent with, names in lower case; the values of the webhook's own are `••••`. Null where no request went out, where that is not known, where what it told was erased, and of attempts before an upgrade.
             * @example {
             *       "host": "example.com",
             *       "x-team": "••••",
             *       "content-type": "application/json",
             *       "user-agent": "Parcelhook/1.0.0",
             *       "webhook-id": "0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
             *       "webhook-timestamp": "1795262400",
             *       "webhook-signature": "v1,AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
             *       "parcelhook-sequence": "1",
             *       "parcelhook-attempt": "1",
             *       "content-length": "245",
             *       "connection": "keep-alive"
             *     }
             */
            requestHeaders: {
                [key: string]: string;
            } | null;
            /**
             * @description First 4 KiB of the answer as text.
             * @example ok
             */
            responseBody: string | null;
        };
        /** @description What to catch up on. */
        ReplayRange: {
            /**
             * @description First moment: ISO 8601 with an offset, or milliseconds since 1970.
             * @example 2026-11-20T00:00:00Z
             */
            from: string | number;
            /**
             * @description Last moment: ISO 8601 with an offset, or milliseconds since 1970.
             * @example 2026-11-21T12:00:00Z
             */
            to: string | number;
            /**
             * @description Only deliveries that are this now. Without it also what never had a delivery.
             * @enum {string}
             */
            status?: "FAILED" | "HELD" | "PENDING";
            /**
             * @description The service's identifier of the shipment.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId?: string;
        };
        /** @description The replay has begun; it sends as fast as the receiver takes it. */
        Replay: {
            /**
             * @description Deliveries it will send, as counted now; null while they are not counted yet, for example if the span has 10,000 events or more.
             * @example 12
             */
            queued: number | null;
            /**
             * @description Why `queued` is 0, else null: nothing was recorded in that span, nothing of the interests of the webhook, nothing is left to send (it succeeded or is on its way), or the log does not hold it any more, or it was erased. Also null if only deliveries with another status were missed.
             * @example null
             */
            reason: ("NOTHING_RECORDED" | "NO_INTEREST" | "ALL_SUCCEEDED" | "EXPIRED") | null;
            /**
             * Format: uuid
             * @description Identifier of the replay.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            replayId: string;
        };
        /** @description How far a replay has come. */
        ReplayProgress: {
            /**
             * Format: uuid
             * @description Identifier of the replay.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            replayId: string;
            /**
             * Format: uuid
             * @description The webhook it is for.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * @description `DONE` when all that it has set going is settled.
             * @enum {string}
             */
            status: "RUNNING" | "DONE" | "CANCELLED";
            /**
             * @description Deliveries of it that are settled: succeeded, failed or cancelled.
             * @example 7
             */
            done: number;
            /**
             * @description Deliveries to send; null until all were found.
             * @example 12
             */
            total: number | null;
            /**
             * Format: date-time
             * @description First moment, as it was asked for.
             * @example 2026-11-21T12:00:00+00:00
             */
            from: string;
            /**
             * Format: date-time
             * @description Last moment, as it was asked for.
             * @example 2026-11-21T12:00:00+00:00
             */
            to: string;
            /**
             * @description The `status` that was asked for; null: all.
             * @example null
             */
            deliveryStatus: ("FAILED" | "HELD" | "PENDING") | null;
            /** @description The shipment that was asked for; null: all. */
            trackingId: string | null;
            /**
             * Format: date-time
             * @description When it was asked for.
             * @example 2026-11-21T12:00:00+00:00
             */
            createdAt: string;
            finishedAt: string | null;
        };
        /** @description The shipper with its account key, which is shown only here. */
        Shipper: {
            /**
             * Format: uuid
             * @description Identifier of the shipper.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipperId: string;
            /**
             * @description Account key of all its users; shown only here.
             * @example ak_AAECAwQFBgcICQoLDA0ODxAREhM
             */
            accountKey: string;
        };
        /** @description The user with a link to set a password. */
        User: {
            /**
             * Format: uuid
             * @description Identifier of the user.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            userId: string;
            /**
             * Format: uri
             * @description Give it to the user: good for one use and 24 hours.
             * @example https://parcelhook.example.com/set-password?token=Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms
             */
            setPasswordUrl: string;
        };
        /** @description The event is recorded, and the notifications of it are owed. */
        RecordedEvent: {
            /**
             * @description The event: your own `eventId`, or the service's. It is the `webhook-id` of its notifications.
             * @example scan-20261121-0001
             */
            eventId: string;
        };
        ShipmentEvent: {
            /**
             * @description The service's identifier of the shipment.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId: string;
            /**
             * @description State the shipment comes to.
             * @example PICKED_UP
             * @enum {string}
             */
            state: "CREATED" | "PICKED_UP" | "IN_TRANSIT" | "OUT_FOR_DELIVERY" | "DELIVERY_FAILED" | "RETURNING" | "DELIVERED" | "RETURNED" | "CANCELLED" | "LOST";
            /**
             * @description Your own identifier: makes it safe to send the event again.
             * @example scan-20261121-0001
             */
            eventId?: string;
            /**
             * @description When it happened, in milliseconds since 1970; without it now.
             * @example 1795262400000
             */
            timestamp?: number;
            /**
             * @description Latitude in degrees.
             * @example 20.6767
             */
            lat?: number | null;
            /**
             * @description Longitude in degrees.
             * @example -103.3475
             */
            lng?: number | null;
            /**
             * @description Sent along as it is.
             * @example null
             */
            anomalies?: components["schemas"]["AnyJson"];
            /**
             * @description Sent along as it is.
             * @example []
             */
            evidences?: components["schemas"]["AnyJson"][];
        };
        /** @description The event was not recorded. */
        RefusedEvent: {
            error: {
                /**
                 * @description The code of the failure.
                 * @example CONFLICT
                 */
                status: string;
                /**
                 * @description What went wrong.
                 * @example A shipment cannot change from DELIVERED to IN_TRANSIT; nothing follows DELIVERED.
                 */
                message: string;
                /** @description Every wrong field of what is not valid. */
                details?: {
                    /**
                     * @description The field or parameter.
                     * @example package.weight
                     */
                    path: string;
                    /**
                     * @description What would be right.
                     * @example must be greater than 0
                     */
                    message: string;
                }[];
            };
        };
        /** @description How the service is doing. */
        Status: {
            /**
             * @description Jobs by queue and state, or why a queue cannot be asked.
             * @example {
             *       "creation": {
             *         "waiting": 0,
             *         "active": 1,
             *         "delayed": 0
             *       }
             *     }
             */
            queues: {
                [key: string]: {
                    [key: string]: number;
                } | {
                    /**
                     * @description Why it cannot be asked.
                     * @example ECONNREFUSED
                     */
                    error: string;
                };
            };
            lag: {
                /**
                 * @description Orders whose shipment is not created yet; counted up to 10,000.
                 * @example 0
                 */
                ordersToCreate: number;
                /**
                 * @description Deliveries that are due; counted up to 10,000.
                 * @example 0
                 */
                deliveriesDue: number;
                /**
                 * @description How long the oldest has been due.
                 * @example 0
                 */
                oldestDueSeconds: number;
            };
            /** @description What is owed to webhooks that are not called: paused, disabled, given a rest, or of a suspended shipper. */
            uncalled: {
                /**
                 * @description Deliveries owed; counted up to 200,000 in total, up to the same number for each webhook.
                 * @example 0
                 */
                deliveries: number;
                /**
                 * @description Whether there are more deliveries than were counted.
                 * @example false
                 */
                isMore: boolean;
                /**
                 * @description Webhooks to which they are owed.
                 * @example 0
                 */
                webhooks: number;
                /** @description The shippers that are owed the most, at most 10. */
                shippers: components["schemas"]["UncalledOfShipper"][];
            };
            /**
             * @description Webhooks that are given a rest.
             * @example 0
             */
            openCircuits: number;
            /** @description Which webhooks those are: at most 100, those that began to fail last first. */
            circuits: components["schemas"]["OpenCircuit"][];
            /** @description Replays under way and the newest of those that are over. */
            replays: components["schemas"]["ReplayProgress"][];
            versions: {
                /**
                 * @description Version of the service.
                 * @example 1.0.0
                 */
                parcelhook: string;
                /**
                 * @description Version of Node.
                 * @example 24.11.0
                 */
                node: string;
                /**
                 * @description Version of PostgreSQL.
                 * @example 18.0
                 */
                postgres: string;
                /**
                 * @description What the queue runs on.
                 * @enum {string}
                 */
                queueEngine: "redis" | "postgres";
            };
        };
        /** @description What a shipper is owed for webhooks that are not called. */
        UncalledOfShipper: {
            /**
             * Format: uuid
             * @description The shipper.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipperId: string;
            /**
             * @description Its name.
             * @example Acme Books
             */
            name: string;
            /**
             * @description Deliveries owed; counted up to 200,000 in total, up to the same number for each webhook.
             * @example 0
             */
            deliveries: number;
            /**
             * @description Whether there are more deliveries than were counted.
             * @example false
             */
            isMore: boolean;
            /**
             * @description Webhooks to which they are owed.
             * @example 0
             */
            webhooks: number;
        };
        /** @description A webhook that is given a rest. */
        OpenCircuit: {
            /**
             * Format: uuid
             * @description The webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * Format: uuid
             * @description Its shipper.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipperId: string;
            failingSince: string | null;
            /**
             * Format: date-time
             * @description When it is tried next.
             * @example 2026-11-21T12:00:00+00:00
             */
            nextProbeAt: string;
        };
        /** @description The shipment, of which nothing personal is kept any more. */
        ErasedShipment: {
            /**
             * @description The service's identifier of the shipment.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId: string;
            /**
             * Format: uuid
             * @description Identifier of the shipment.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipmentId: string;
            /**
             * Format: date-time
             * @description When its personal data was erased first.
             * @example 2026-11-21T12:00:00+00:00
             */
            erasedAt: string;
        };
        /** @description Why a delivery is where it is. */
        DeliveryExplanation: {
            /**
             * Format: uuid
             * @description The delivery.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            deliveryId: string;
            /**
             * Format: uuid
             * @description Its shipper.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipperId: string;
            /**
             * Format: uuid
             * @description Its webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * Format: uuid
             * @description Its event, by the service's own identifier.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            eventId: string;
            shipmentId: string | null;
            /**
             * @description The event's number among those of its shipment.
             * @example 2
             */
            sequence: number;
            /**
             * @description The state it tells of.
             * @example PICKED_UP
             */
            state: string;
            /**
             * Format: date-time
             * @description When this was so, by PostgreSQL's clock.
             * @example 2026-11-21T12:00:00+00:00
             */
            asOf: string;
            /**
             * @description Where it is: owed, finished, or not there, though its event and webhook are.
             * @enum {string}
             */
            place: "OUTBOX" | "LOG" | "NOWHERE";
            status: ("READY" | "SENDING" | "RETRY" | "SUCCEEDED" | "FAILED" | "CANCELLED") | null;
            reason: string | null;
            /**
             * @description Attempts begun.
             * @example 0
             */
            attemptCount: number;
            /**
             * @description Scheduled attempts that failed, of what is owed.
             * @example 0
             */
            failureCount: number;
            dueAt: string | null;
            completedAt: string | null;
            /** @description What keeps it from being sent: each has to end. */
            waitsFor: components["schemas"]["DeliveryWait"][];
            behind: {
                /**
                 * Format: uuid
                 * @description That delivery.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                deliveryId: string;
                /**
                 * Format: uuid
                 * @description Its event.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                eventId: string;
                /**
                 * @description Its number among the events of the shipment.
                 * @example 1
                 */
                sequence: number;
                /**
                 * @description Its status.
                 * @example RETRY
                 */
                status: string;
            } | null;
            claim: {
                /**
                 * @description The number of the attempt.
                 * @example 1
                 */
                attempt: number;
                /**
                 * @description Whether the attempt was asked for by hand.
                 * @example false
                 */
                isByHand: boolean;
                leaseUntil: string | null;
                /**
                 * @description Whether that moment has passed.
                 * @example false
                 */
                hasLapsed: boolean;
            } | null;
            redeliveryRequestedAt: string | null;
            /**
             * @description The same in words.
             * @example Its webhook is paused.
             */
            why: string;
            /**
             * @description What happens next, and who does it.
             * @example It goes on when the shipper sets the webhook to ACTIVE.
             */
            next: string;
        };
        /** @description What keeps a delivery from being sent. */
        DeliveryWait: {
            /**
             * @description What it waits for.
             * @enum {string}
             */
            reason: "DELETED" | "SUSPENDED" | "PAUSED" | "DISABLED" | "REPLAY_CANCELLED" | "CIRCUIT" | "TURN" | "RETRY" | "ROOM" | "LEASE" | "PARKED";
            until: string | null;
        };
        /** @description What became of what webhooks keep sealed. */
        ResealedSecrets: {
            /**
             * @description Webhooks whose secrets, headers or query were sealed with another key, and now are with the current one.
             * @example 0
             */
            resealed: number;
            /**
             * @description Webhooks with something that neither key opens.
             * @example 0
             */
            unreadable: number;
        };
        /** @description The feed has begun anew. */
        RenewedFeed: {
            /**
             * Format: date-time
             * @description Since then, earlier cursors are refused with 400.
             * @example 2026-11-21T12:00:00+00:00
             */
            renewedAt: string;
        };
        /** @description A shipment came to a state. */
        FeedEvent: {
            /**
             * @description `webhook-id` of its notifications.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            eventId: string;
            /**
             * @description Its place within its shipment, from 1.
             * @example 1
             */
            sequence: number;
            /**
             * @description The service's identifier of the shipment.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId: string;
            /**
             * @description State the shipment came to.
             * @example CREATED
             */
            state: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             * @example 2026-11-21T12:00:00+00:00
             */
            recordedAt: string;
            notification: components["schemas"]["Notification"];
        };
        /** @description The process answers. */
        Health: {
            /**
             * @description The process lives.
             * @constant
             */
            status: "OK";
        };
        /** @description What the process needs, as it was within the last second. */
        Readiness: {
            /**
             * @description Whether work should be sent here.
             * @enum {string}
             */
            status: "OK" | "UNAVAILABLE";
            /**
             * @description `OK` by part, or that the part cannot be used; the reason is given if the request has an operator token that may read. A part may be away without making the process unready.
             * @example {
             *       "postgres": "OK",
             *       "queue": "OK"
             *     }
             */
            checks: {
                [key: string]: string;
            };
        };
        /** @description A sample in the form of a notification. */
        TestNotification: {
            /**
             * @description State the shipment came to.
             * @example CREATED
             */
            state: string;
            /**
             * @description The same as `shipper_tracking_id`.
             * @constant
             */
            label_id: "TEST-NOTIFICATION";
            /**
             * @description What was reported with the state; null if nothing was.
             * @example null
             */
            anomalies: unknown;
            /**
             * @description What was reported as evidence.
             * @example []
             */
            evidences: unknown[];
            /**
             * @description Of no shipment.
             * @constant
             */
            tracking_id: "TEST";
            /**
             * @description Of no order.
             * @constant
             */
            shipper_tracking_id: "TEST-NOTIFICATION";
            /**
             * @description When it came to the state, in milliseconds since 1970.
             * @example 1795262400000
             */
            timestamp: number;
            /**
             * @description Latitude; null where it was not reported.
             * @example null
             */
            lat: number | null;
            /**
             * @description Longitude; null where it was not reported.
             * @example null
             */
            lng: number | null;
        };
    };
    responses: {
        /** @description Body, parameter or header is not valid, or the endpoint has no such query parameter; `error.details` names every wrong field. */
        InvalidRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description Key, credentials or token are missing, wrong, expired or revoked. The message says what is missing or malformed, never which part is wrong. Log in again. */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The token is valid, but the key is another shipper's, the account is suspended, or the operator's token does not allow it. */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description There is no such thing, or it is another shipper's. */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The path is right, the method is not; `Allow` names those it takes. */
        MethodNotAllowed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The request is valid, but what is there stands against it. */
        Conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The body has more than 256 KiB. */
        PayloadTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The body is not `application/json`, not UTF-8, or compressed. */
        UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description Too much at once: wait as long as `Retry-After` says. */
        TooManyRequests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The database is out of reach; nothing was accepted, unless `message` says that this is not known. Send it again after `Retry-After`, an order under its `Idempotency-Key`. */
        Unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description Any other failure has the same form, such as a mistake on our side (500). */
        Unexpected: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A token and how long it is good for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["AccessToken"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listShippers: {
        parameters: {
            query?: {
                /**
                 * @description Most items of the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the page before.
                 * @example AZehssPUfl-KmwwdLj9KWw
                 */
                cursor?: string;
                /** @description Only those that are this. */
                status?: "ACTIVE" | "SUSPENDED" | "REMOVED";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Shippers, in the order of their registration. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Shippers, in the order of their registration. */
                        data: {
                            shippers: components["schemas"]["ShipperAccount"][];
                            /**
                             * @description Send it as `cursor` for the next page; null at the end.
                             * @example null
                             */
                            nextCursor: string | null;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    createShipper: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Its name.
                     * @example Acme Books
                     */
                    name: string;
                };
            };
        };
        responses: {
            /** @description The shipper with its account key, which is shown only here. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "CREATED";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Shipper"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    removeShipper: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The shipper.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                shipperId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is removed: no request and no send from now on. Its data goes in steps. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description It is removed: no request and no send from now on. Its data goes in steps. */
                        data: {
                            /**
                             * Format: uuid
                             * @description Identifier of the shipper.
                             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                             */
                            shipperId: string;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    updateShipper: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The shipper.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                shipperId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Its name.
                     * @example Acme Books
                     */
                    name?: string;
                    /**
                     * @description `SUSPENDED`: its requests are 403 and its webhooks are held. `ACTIVE`: what was held goes out.
                     * @enum {string}
                     */
                    status?: "ACTIVE" | "SUSPENDED";
                };
            };
        };
        responses: {
            /** @description The shipper. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["ShipperAccount"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    rotateAccountKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The shipper.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                shipperId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description How long the key before is good, up to 30d.
                     * @default 24h
                     * @example 24h
                     */
                    overlap?: string;
                };
            };
        };
        responses: {
            /** @description The new account key, which is shown only here. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["RotatedAccountKey"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /**
                 * @description Most items of the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the page before.
                 * @example AZehssPUfl-KmwwdLj9KWw
                 */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The shipper.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                shipperId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Users of the shipper, in the order of their registration. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Users of the shipper, in the order of their registration. */
                        data: {
                            users: components["schemas"]["UserAccount"][];
                            /**
                             * @description Send it as `cursor` for the next page; null at the end.
                             * @example null
                             */
                            nextCursor: string | null;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    createUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The shipper.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                shipperId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description E-mail address.
                     * @example ana@example.com
                     */
                    email: string;
                    /**
                     * @description New password.
                     * @example correct horse battery staple
                     */
                    password?: string;
                };
            };
        };
        responses: {
            /** @description The user with a link to set a password. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "CREATED";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["User"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The shipper has a user with this e-mail address already. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    removeUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The user.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: every token of the user's is refused within 10 seconds. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Done: every token of the user's is refused within 10 seconds. */
                        data: {
                            /**
                             * Format: uuid
                             * @description Identifier of the user.
                             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                             */
                            userId: string;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    signOutUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The user.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: every token of the user's is refused within 10 seconds. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Done: every token of the user's is refused within 10 seconds. */
                        data: {
                            /**
                             * Format: uuid
                             * @description Identifier of the user.
                             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                             */
                            userId: string;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /**
                 * @description Most items of the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the page before.
                 * @example AZehssPUfl-KmwwdLj9KWw
                 */
                cursor?: string;
                /**
                 * @description Only of this shipper.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                shipperId?: string;
                /**
                 * @description Only about this user.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                userId?: string;
                /**
                 * @description Only about this webhook.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                webhookId?: string;
                /**
                 * @description Only what this operator (by name) or user (by id) did.
                 * @example operator
                 */
                actor?: string;
                /** @description Only this. */
                action?: "SHIPPER_CREATED" | "SHIPPER_RENAMED" | "SHIPPER_SUSPENDED" | "SHIPPER_RESUMED" | "SHIPPER_REMOVED" | "ACCOUNT_KEY_ROTATED" | "USER_CREATED" | "USER_REMOVED" | "USER_SIGNED_OUT" | "PASSWORD_LINK_CREATED" | "PASSWORD_SET" | "WEBHOOK_CREATED" | "WEBHOOK_UPDATED" | "WEBHOOK_DISABLED" | "WEBHOOK_DELETED" | "WEBHOOK_SECRET_ROTATED" | "REPLAY_CANCELLED" | "SHIPMENT_ERASED" | "SECRETS_RESEALED" | "FEED_RENEWED" | "LOGIN_REFUSED" | "OPERATOR_REFUSED";
                /** @description Only what was done, or what was refused. */
                outcome?: "DONE" | "REFUSED";
                /**
                 * @description Only of then or later: ISO 8601 with an offset, or milliseconds since 1970.
                 * @example 2026-11-21T12:00:00Z
                 */
                from?: string;
                /**
                 * @description Only of then or earlier: ISO 8601 with an offset, or milliseconds since 1970.
                 * @example 2026-11-21T12:00:00Z
                 */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The audit log, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The audit log, newest first. */
                        data: {
                            entries: components["schemas"]["AuditEntry"][];
                            /**
                             * @description Send it as `cursor` for the next page; null at the end.
                             * @example null
                             */
                            nextCursor: string | null;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /**
                 * @description Most items of the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the page before.
                 * @example AZehssPUfl-KmwwdLj9KWw
                 */
                cursor?: string;
                /**
                 * @description What to show of each besides, separated by commas: `health`, how its deliveries have been doing, and `stats`, its attempts of the last 24 hours.
                 * @example health,stats
                 */
                include?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Webhooks in the order of their creation. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Webhooks in the order of their creation. */
                        data: {
                            webhooks: components["schemas"]["ListedWebhook"][];
                            /**
                             * @description Send it as `cursor` for the next page; null at the end.
                             * @example null
                             */
                            nextCursor: string | null;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhook"];
            };
        };
        responses: {
            /** @description The webhook with its secret, which is shown only here. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "CREATED";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["WebhookWithSecret"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description You have as many webhooks as one shipper may have. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Too many requests, or too many webhooks created within an hour by you or for this destination. */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook and how its deliveries have been going. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["WebhookWithHealth"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook is gone: no send to it starts any more. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The webhook is gone: no send to it starts any more. */
                        data: {
                            /**
                             * Format: uuid
                             * @description Identifier of the webhook.
                             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                             */
                            webhookId: string;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookChanges"];
            };
        };
        responses: {
            /** @description The webhook. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    rotateSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description How long the old secret signs along, up to 30d.
                     * @default 24h
                     * @example 24h
                     */
                    overlap?: string;
                };
            };
        };
        responses: {
            /** @description The new secret, which is shown only here. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["RotatedSecret"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    getEgress: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The addresses that notifications come from. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The addresses that notifications come from. */
                        data: {
                            /**
                             * @description Networks as CIDR; empty where the operator names none.
                             * @example [
                             *       "198.51.100.0/28",
                             *       "2001:db8:7::/64"
                             *     ]
                             */
                            addresses: string[];
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listShipments: {
        parameters: {
            query?: {
                /**
                 * @description Most items of the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the page before.
                 * @example AZehssPUfl-KmwwdLj9KWw
                 */
                cursor?: string;
                /**
                 * @description Only those that bear it: it need not be unique.
                 * @example ORDER-1001
                 */
                shipperTrackingId?: string;
                /**
                 * @description Only those that are in this state now; those not created yet are in none.
                 * @example CREATED
                 */
                state?: string;
                /**
                 * @description Only those accepted then or later: ISO 8601 with an offset, or milliseconds since 1970.
                 * @example 2026-11-21T12:00:00Z
                 */
                from?: string;
                /**
                 * @description Only those accepted before: ISO 8601 with an offset, or milliseconds since 1970.
                 * @example 2026-11-21T12:00:00Z
                 */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Shipments, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Shipments, newest first. */
                        data: {
                            shipments: components["schemas"]["ListedShipment"][];
                            /**
                             * @description Send it as `cursor` for the next page; null at the end.
                             * @example null
                             */
                            nextCursor: string | null;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    integrateOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes it safe to send the order again: for 24 hours the same key and body give the first answer again.
                 * @example order-1001
                 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Order"];
            };
        };
        responses: {
            /** @description The accepted order. The shipment itself is created shortly after. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "CREATED";
                        /**
                         * Format: uuid
                         * @description Names the processing of the order.
                         * @example c0ffee00-1234-4abc-8def-0123456789ab
                         */
                        processId: string;
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["OrderResult"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description The idempotency key was used with another body in the last 24 hours. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    trackShipment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The service's identifier of the shipment.
                 * @example PH1M7YZMHG0R8EB1NC38
                 */
                trackingId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The shipment and how it came to where it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Tracking"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listStates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The catalogue of states. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The catalogue of states. */
                        data: {
                            /** @description Every state a shipment can be in; the first is that of a shipment just created. */
                            states: components["schemas"]["State"][];
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    simulateShipment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The service's identifier of the shipment.
                 * @example PH1M7YZMHG0R8EB1NC38
                 */
                trackingId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The states to go through, one after the other; without them the shortest way to DELIVERED. */
                    states?: ("CREATED" | "PICKED_UP" | "IN_TRANSIT" | "OUT_FOR_DELIVERY" | "DELIVERY_FAILED" | "RETURNING" | "DELIVERED" | "RETURNED" | "CANCELLED" | "LOST")[];
                    /**
                     * @description Milliseconds from one state to the next.
                     * @default 1000
                     * @example 1000
                     */
                    intervalMs?: number;
                };
            };
        };
        responses: {
            /** @description The journey has begun. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Simulation"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The catalogue of states does not allow this journey from where the shipment is (the message says what it does allow), or another one of this shipment is under way. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Too many requests, or 100 journeys of your shipments are under way, or 1000 were asked for within an hour. */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /**
                 * @description Most items of the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the page before.
                 * @example AZehssPUfl-KmwwdLj9KWw
                 */
                cursor?: string;
                /**
                 * @description Only of this webhook.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                webhookId?: string;
                /**
                 * @description The service's identifier of the shipment.
                 * @example PH1M7YZMHG0R8EB1NC38
                 */
                trackingId?: string;
                /**
                 * @description Only of shipments that bear it, which may be 1,000 at most.
                 * @example ORDER-1001
                 */
                shipperTrackingId?: string;
                /**
                 * @description Only of this state.
                 * @example CREATED
                 */
                state?: string;
                /** @description Only those that are this now. */
                status?: "PENDING" | "SENDING" | "HELD" | "SUCCEEDED" | "FAILED" | "CANCELLED";
                /**
                 * @description Only of events recorded then or later: ISO 8601 with an offset, or milliseconds since 1970.
                 * @example 2026-11-21T12:00:00Z
                 */
                from?: string;
                /**
                 * @description Only of events recorded before: ISO 8601 with an offset, or milliseconds since 1970.
                 * @example 2026-11-21T12:00:00Z
                 */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deliveries, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Deliveries, newest first. */
                        data: {
                            deliveries: components["schemas"]["Delivery"][];
                            /**
                             * @description Send it as `cursor` for the next page; null at the end.
                             * @example null
                             */
                            nextCursor: string | null;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    getDelivery: {
        parameters: {
            query?: {
                /**
                 * @description `nextAttemptsCursor` of the page of attempts before.
                 * @example 101
                 */
                attemptsCursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The delivery.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery with its payload and its attempts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["DeliveryDetails"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    getWebhookStats: {
        parameters: {
            query?: {
                /**
                 * @description How many, the current one included.
                 * @example 24
                 */
                hours?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Attempts by the hour (UTC), those without any included: the oldest first, the current one last. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["WebhookStats"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description State that the sample tells.
                     * @default CREATED
                     * @example CREATED
                     * @enum {string}
                     */
                    state?: "CREATED" | "PICKED_UP" | "IN_TRANSIT" | "OUT_FOR_DELIVERY" | "DELIVERY_FAILED" | "RETURNING" | "DELIVERED" | "RETURNED" | "CANCELLED" | "LOST";
                };
            };
        };
        responses: {
            /** @description The attempt as it is in the log, whether it succeeded or not. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["TestResult"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Five tests of yours are under way, or so much was asked for by hand of the webhook, your webhooks or their destination within an hour. */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    redeliver: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The delivery.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Asked for: a worker sends it at once. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Asked for: a worker sends it at once. */
                        data: {
                            /**
                             * Format: uuid
                             * @description Identifier of the delivery: one event for one webhook.
                             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                             */
                            deliveryId: string;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The delivery was cancelled, its webhook is deleted, or what it tells was erased. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description The delivery was sent again 100 times in a day, or so much was asked for by hand of the webhook, your webhooks or their destination within an hour. */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    replayWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayRange"];
            };
        };
        responses: {
            /** @description The replay has begun; it sends as fast as the receiver takes it. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Replay"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description 10 replays of this webhook, or 20 of all your webhooks, look for deliveries already. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Too many requests, or so much was asked for by hand of the webhook, your webhooks or their destination within an hour. */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listReplays: {
        parameters: {
            query?: {
                /**
                 * @description Most items of the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the page before.
                 * @example AZehssPUfl-KmwwdLj9KWw
                 */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Replays, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Replays, newest first. */
                        data: {
                            replays: components["schemas"]["ReplayProgress"][];
                            /**
                             * @description Send it as `cursor` for the next page; null at the end.
                             * @example null
                             */
                            nextCursor: string | null;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    getReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The replay.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                replayId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How far a replay has come. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["ReplayProgress"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    cancelReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The replay.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                replayId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How far a replay has come. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["ReplayProgress"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    createPasswordLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The user.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The link. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "CREATED";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The link. */
                        data: {
                            /**
                             * Format: uri
                             * @description Give it to the user: good for one use and 24 hours.
                             * @example https://parcelhook.example.com/set-password?token=Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms
                             */
                            setPasswordUrl: string;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    recordEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The service's identifier of the shipment.
                 * @example PH1M7YZMHG0R8EB1NC38
                 */
                trackingId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description State the shipment comes to.
                     * @example PICKED_UP
                     * @enum {string}
                     */
                    state: "CREATED" | "PICKED_UP" | "IN_TRANSIT" | "OUT_FOR_DELIVERY" | "DELIVERY_FAILED" | "RETURNING" | "DELIVERED" | "RETURNED" | "CANCELLED" | "LOST";
                    /**
                     * @description Your own identifier: makes it safe to send the event again.
                     * @example scan-20261121-0001
                     */
                    eventId?: string;
                    /**
                     * @description When it happened, in milliseconds since 1970; without it now.
                     * @example 1795262400000
                     */
                    timestamp?: number;
                    /**
                     * @description Latitude in degrees.
                     * @example 20.6767
                     */
                    lat?: number | null;
                    /**
                     * @description Longitude in degrees.
                     * @example -103.3475
                     */
                    lng?: number | null;
                    /**
                     * @description Sent along as it is.
                     * @example null
                     */
                    anomalies?: components["schemas"]["AnyJson"];
                    /**
                     * @description Sent along as it is.
                     * @example []
                     */
                    evidences?: components["schemas"]["AnyJson"][];
                };
            };
        };
        responses: {
            /** @description The event is recorded, and the notifications of it are owed. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["RecordedEvent"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The shipment cannot change to this state (the message says to which it can), or the `eventId` was used for another event. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    recordEvents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    events: (components["schemas"]["ShipmentEvent"] | components["schemas"]["AnyJson"])[];
                };
            };
        };
        responses: {
            /** @description What became of each event. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description What became of each event. */
                        data: {
                            /** @description One for each event, in order. */
                            results: (components["schemas"]["RecordedEvent"] | components["schemas"]["RefusedEvent"])[];
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    getStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How the service is doing. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Status"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    eraseShipment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The service's identifier of the shipment.
                 * @example PH1M7YZMHG0R8EB1NC38
                 */
                trackingId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The shipment, of which nothing personal is kept any more. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["ErasedShipment"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    explainDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The delivery.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Why a delivery is where it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["DeliveryExplanation"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    cancelReplayOfShipper: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The replay.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                replayId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How far a replay has come. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["ReplayProgress"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What became of what webhooks keep sealed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["ResealedSecrets"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    renewFeed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The feed has begun anew. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["RenewedFeed"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /**
                 * @description Events after this: `nextCursor` of the answer before, or `latest` for those to come. Without it, and without `from`, from where the log begins.
                 * @example XwweDn0LTC6aUz9tKhuchAAAAAAAAAAAAZehssPUfl-KmwwdLj9KWwAAAAAAAA
                 */
                after?: string;
                /**
                 * @description Events recorded then or later, as far back as the log goes; a moment to come counts as now; not with `after`: ISO 8601 with an offset, or milliseconds since 1970.
                 * @example 2026-11-21T12:00:00Z
                 */
                from?: string;
                /**
                 * @description Most items of the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description The service's identifier of the shipment.
                 * @example PH1M7YZMHG0R8EB1NC38
                 */
                trackingId?: string;
                /**
                 * @description Where there is none yet, how long to wait for one: up to 30 s. The answer comes with the first, or empty.
                 * @example 30s
                 */
                wait?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events, oldest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Changes when the form of answers does.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @constant */
                        status: "OK";
                        /**
                         * @description When the request was answered, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Events, oldest first. */
                        data: {
                            events: components["schemas"]["FeedEvent"][];
                            /**
                             * @description Where to go on: send it as `after`. It is there also where nothing follows yet.
                             * @example XwweDn0LTC6aUz9tKhuchAAAAAAAAAAAAZehssPUfl-KmwwdLj9KWwAAAAAAAA
                             */
                            nextCursor: string;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description Too many requests; or fifty wait already, or many answers were not read. */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
}
