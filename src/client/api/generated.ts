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
         * Get an access token
         * @description Takes the e-mail address and password as Basic credentials. A body is ignored.
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
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show who is logged in to the portal
         * @description `data` is null if there is no session, if it has expired or ended, and while its shipper is suspended.
         */
        get: operations["getSession"];
        put?: never;
        /**
         * Log in to the portal
         * @description For the pages of the portal. Sets a cookie that lasts as long as an access token; while it is used, successful responses renew it, up to a day from the log-in. Ends the session of the cookie that it replaces. The limits of login apply.
         */
        post: operations["createSession"];
        /**
         * Log out of the portal
         * @description Ends this session on every process within 10 seconds; copies of its cookie become invalid, too. Other sessions and tokens stay valid. Without a session nothing happens.
         */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/password-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for a link to set a password
         * @description For a user who has forgotten the password: if there is such a user, and the service sends e-mails (`SMTP_URL`), the user gets a link that is good for one use, within 24 hours. Beyond three requests an hour for a user and 20 from one address, none is sent. The response is always the same.
         */
        post: operations["requestPasswordLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the users of your account
         * @description The operator registers and removes users. A token of a program needs the scope `read`.
         */
        get: operations["listOwnUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit log of your account, newest first
         * @description The log says who changed which user, webhook, token or secret of your account, which logins were refused, and when the operator looked at your data. Repeated changes that one actor makes to one thing within a minute are one entry with a count. A token of a program needs the scope `read`.
         */
        get: operations["listOwnAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change your password
         * @description Ends all other sessions, access tokens and password links of the user, on every process within 10 seconds. Only a user who has logged in can do it; the limits of login apply.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your sessions in the portal
         * @description Those of the user who asks, the newest first; at most 50, for one more log-in ends the oldest. Only a user who has logged in can see them.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        /**
         * Log out everywhere
         * @description Ends all sessions and access tokens of the user, this one too, on every process within 10 seconds. Tokens of programs stay valid. Only a user who has logged in can do it.
         */
        delete: operations["endSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sessionId}": {
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
         * End a session
         * @description Logs the user out in one browser, on every process within 10 seconds. Only a user who has logged in can do it.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tokens of programs
         * @description Also shows those that have expired. The tokens themselves are not shown. A token of a program needs the scope `read`.
         */
        get: operations["listTokens"];
        put?: never;
        /**
         * Make a token for a program
         * @description For programs that act without a user. It belongs to the shipper: it stays valid when the user who made it is removed, or the account key changes. With it, `key` may be left out. Only a user who has logged in can make one.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{tokenId}": {
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
         * Revoke a token
         * @description Every process refuses it within 10 seconds. Only a user who has logged in can revoke one.
         */
        delete: operations["revokeToken"];
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
         * @description After the response, no attempt starts, and every process refuses requests within 10 seconds. What is still owed to its webhooks becomes `CANCELLED`. This cannot be undone.
         */
        delete: operations["removeShipper"];
        options?: never;
        head?: never;
        /**
         * Rename, suspend, resume or limit a shipper
         * @description After the response to `SUSPENDED`, no attempt starts, and every process refuses requests within 10 seconds. When the shipper is `ACTIVE` again, its webhooks get what was held. Limits take effect within 10 seconds in every process; what `maxConcurrency` holds back waits and delays no other shipper. Tests of webhooks do not count.
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
         * @description The previous key and the tokens issued under it stay valid for `overlap`; a second rotation within that time ends the first key. Use `0s` if the key has leaked.
         */
        post: operations["rotateAccountKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/shippers/{shipperId}/portal-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a link that opens a shipper's portal
         * @description For support. The link opens the shipper's portal, read-only, for an hour: every change is 403. Its making and its opening are in the audit log, and the shipper's users see when it was opened last.
         */
        post: operations["createPortalLink"];
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
         * @description The user has the given password, or sets one at the link. If the service sends e-mails (`SMTP_URL`), the user gets a link by e-mail as well.
         */
        post: operations["createUser"];
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
         * Make a link for a user to set a password
         * @description The link is good for one use, within 24 hours. Earlier links stay good until one of them is used.
         */
        post: operations["createPasswordLink"];
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
         * @description Every process refuses tokens and password links of the user within 10 seconds.
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
         * @description Every process refuses the tokens of the user within 10 seconds; the password stays valid.
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
         * @description Who changed which account, webhook, token or secret, which operator read the payload of a delivery, and who was refused as an operator or at a login. What one actor does to one thing within a minute is one entry with a count; nothing else of an entry changes. Those older than `AUDIT_RETENTION` are deleted.
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
        /**
         * List webhooks
         * @description A token of a program needs the scope `webhooks` or `read`.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description The same address may be registered more than once; `warnings` then names the other webhook, and any interest that is not a state. The states that `interests` can name today: `CREATED`, `PICKED_UP`, `IN_TRANSIT`, `OUT_FOR_DELIVERY`, `DELIVERY_FAILED`, `RETURNING`, `DELIVERED`, `RETURNED`, `CANCELLED`, `LOST`, `WEBHOOK_FAILING`, `WEBHOOK_RECOVERED`, `WEBHOOK_DISABLING`, `WEBHOOK_DISABLED`, `DELIVERY_EXHAUSTED`. A token of a program needs the scope `webhooks`.
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
         * @description Also shows how its deliveries are going, and which secrets sign. A token of a program needs the scope `webhooks` or `read`.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Its unfinished deliveries become `CANCELLED`. After the response, no attempt starts. A token of a program needs the scope `webhooks`.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Update a webhook
         * @description Fields that are left out stay unchanged, and so does the value of a header that is sent back masked, as shown. But if `targetAddress` moves to another origin (scheme, host and port), each header must be given again with its value, or left out of `headers`: the new host must not get what was meant for the old one. Another `targetAddress` begins with a closed circuit, and with no failures. After the response to `PAUSED` or `DISABLED`, no attempt starts. Once it is `ACTIVE` again, the webhook gets what it missed. `ACTIVE` changes nothing if the webhook is already active: an open circuit stays open until a probe, a test or a redelivery succeeds. A token of a program needs the scope `webhooks`.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/v1/webhooks/by-name/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Create or update a webhook by its name
         * @description For the start of a program that receives: it creates the webhook of this name, or gives it these settings. The same again changes nothing. Fields that are left out stay unchanged, and so does `status`: a webhook that was paused by hand stays paused. A new webhook needs `interests` and `targetAddress`. Headers are as in an update. A token of a program needs the scope `webhooks`.
         */
        put: operations["declareWebhook"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
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
         * @description The old secret continues to sign for `overlap`, and each one before until the time that was promised for it; five can. Use `0s` if the secret has leaked: after the response, nothing is signed with it. A token of a program needs the scope `webhooks`.
         */
        post: operations["rotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhookId}/secrets/previous": {
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
         * End the earlier secrets
         * @description The secrets before the current one sign no longer, whatever was promised for them. After the response, nothing is signed with them. A token of a program needs the scope `webhooks`.
         */
        delete: operations["endEarlierSecrets"];
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
         * @description For the firewall in front of your receiver. A signature proves more than an address. A token of a program needs the scope `webhooks` or `read`.
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
         * @description With `state`, or with a `shipperTrackingIdPrefix` that more than 1,000 shipments have, a page checks at most 5,000 shipments: it may have fewer than `limit`, or none, although more follow. The list ends when `nextCursor` is null. A token of a program needs the scope `orders` or `read`.
         */
        get: operations["listShipments"];
        put?: never;
        /**
         * Create an order
         * @description A 201 means that the order is committed. The shipment is created right after it, normally within 100 ms, and its state is then `CREATED`. A token of a program needs the scope `orders`.
         */
        post: operations["integrateOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/{trackingId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a shipment
         * @description Records `CANCELLED` as an event like any other: your webhooks are notified, and the shipment goes no further. A token of a program needs the scope `orders`.
         */
        post: operations["cancelShipment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/{trackingId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an order as it was placed
         * @description `contentValue` has its fraction, unlike in the response to the order. Once the recipient's data and the contents are erased, `erasedAt` says when. A token of a program needs the scope `orders` or `read`.
         */
        get: operations["getOrder"];
        put?: never;
        post?: never;
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
         * @description Works with and without webhooks. A token of a program needs the scope `orders` or `read`.
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
         * @description The states that webhooks may be interested in, and those that may follow each. By default:
         *
         *     - `CREATED`: the order is accepted, and the parcel waits at the shipper
         *     - `PICKED_UP`: the carrier has the parcel
         *     - `IN_TRANSIT`: it is on its way; sent again at each stop
         *     - `OUT_FOR_DELIVERY`: the courier brings it today
         *     - `DELIVERED`: the recipient has it
         *     - `DELIVERY_FAILED`: nobody took it; another attempt or its return follows
         *     - `RETURNING`: it is on its way back to the shipper
         *     - `RETURNED`: the shipper has it back
         *     - `CANCELLED`: the order was cancelled before its delivery began
         *     - `LOST`: the carrier cannot find it A token of a program needs the scope `orders` or `webhooks` or `read`.
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
         * Simulate the journey of a shipment
         * @description For development; `SIMULATE` switches it on. The first state is recorded at once, each further one after the interval, and your webhooks are notified as usual. If the shipment is not created yet, the journey starts when it is. It ends early if another event changes the shipment so that the next state is not allowed. It pauses while the account is suspended. A token of a program needs the scope `orders`.
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
         * @description Shows owed deliveries, and finished ones with their outcome. The log is kept for 30 days by default. With `statusCode`, `errorCode`, `attemptedFrom`, `attemptedTo` or `attemptFailed`, a page checks the attempts of a few thousand deliveries: it may have fewer than `limit`, or none, although more follow. The list ends when `nextCursor` is null. A token of a program needs the scope `webhooks` or `read`.
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
         * @description Shows every attempt, newest first, 100 per page. A token of a program needs the scope `webhooks` or `read`.
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
         * Count the attempts of a webhook by hour
         * @description Every attempt in the log counts in the hour in which it began, including redeliveries, replays and notices, but not tests. It counts as soon as the log shows it, and only once. A token of a program needs the scope `webhooks` or `read`.
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
         * @description Works whatever the status of the webhook. The `tracking_id` of the sample is `TEST`. There is one attempt; the response shows it as the log does. A token of a program needs the scope `webhooks`.
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
         * @description Makes one attempt outside the schedule, with the same `webhook-id`, also after a success. If it fails, the delivery stays as it was. A token of a program needs the scope `webhooks`.
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
         * @description Sends the events of a time span again, oldest first: those whose delivery failed, is held or waits for a retry, and those never attempted because the webhook was paused, disabled or not yet registered. Deliveries that succeeded are not repeated. With `status` only a part of that is sent; `NEVER_ATTEMPTED` is what no attempt was made for. If nothing is queued, `reason` says why. Events older than the delivery log are not sent. `from` must be before `to`. A token of a program needs the scope `webhooks`.
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
         * @description Finished replays are stored as long as the delivery log. A token of a program needs the scope `webhooks` or `read`.
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
         * @description Shows its progress. A token of a program needs the scope `webhooks` or `read`.
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
         * @description No attempt of the replay starts after the response; an attempt under way ends and is not retried. A delivery that only the replay made due is `FAILED` again or no longer exists, as before; a delivery that was held or waiting for a retry continues as if there had been no replay. A finished replay stays as it is. A token of a program needs the scope `webhooks`.
         */
        post: operations["cancelReplay"];
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
         * @description Commits the state, its event and all deliveries owed for it together.
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
         * @description Records the valid events in the given order, and refuses the others one by one, each with a reason.
         */
        post: operations["recordEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a shipper's deliveries, newest first
         * @description Needs `shipperId` or `trackingId`. Shows owed deliveries, and finished ones with their outcome. The log is kept for 30 days by default. With `statusCode`, `errorCode`, `attemptedFrom`, `attemptedTo` or `attemptFailed`, a page checks the attempts of a few thousand deliveries: it may have fewer than `limit`, or none, although more follow. The list ends when `nextCursor` is null.
         */
        get: operations["listDeliveriesOfShipper"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a delivery of any shipper, with its attempts
         * @description Shows every attempt, newest first, 100 per page. Shows what its shipper sees. The audit log records each read (`DELIVERY_READ`), because payloads and responses may have personal data.
         */
        get: operations["getDeliveryOfShipper"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/shipments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a shipper's shipments, newest first
         * @description With `state`, or with a `shipperTrackingIdPrefix` that more than 1,000 shipments have, a page checks at most 5,000 shipments: it may have fewer than `limit`, or none, although more follow. The list ends when `nextCursor` is null.
         */
        get: operations["listShipmentsOfShipper"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/webhooks/{webhookId}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a webhook of any shipper
         * @description After the response, no attempt starts. Deliveries are held, and only an operator can resume the webhook. As in any pause, its shipper can still send tests and redeliveries.
         */
        post: operations["pauseWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/webhooks/{webhookId}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a webhook that an operator has paused
         * @description The webhook gets the status that it had, or `PAUSED` if its shipper has paused it since. If that is `ACTIVE`, it gets what was held. Changes nothing if it is `ACTIVE`.
         */
        post: operations["resumeWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/deliveries/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery of any shipper again now
         * @description Does what its shipper may do, within the same limits. The shipper sees that the operator asked for it.
         */
        post: operations["redeliverForShipper"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/webhooks/{webhookId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send what a webhook of any shipper missed
         * @description Does what its shipper may do, within the same limits. The shipper sees that the operator asked for it.
         */
        post: operations["replayForShipper"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/replays/{replayId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a replay of any shipper
         * @description Shows its progress.
         */
        get: operations["getReplayOfShipper"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the webhooks that fail, are owed the most, or are slow
         * @description `failing`: active webhooks with the highest share of failed attempts, then those that have been failing the longest. `backlog`: those that are owed the most. `slow`: those with the highest p95. There are no further pages. The ranks by attempts are up to a minute old. A backlog is counted as far as `isMore` says.
         */
        get: operations["listTopWebhooks"];
        put?: never;
        post?: never;
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
         * Show how the service is doing
         * @description Shows queues, lag, deliveries owed to webhooks that are not called, what shippers have stored today, open circuits, wrong clocks, replays, versions and processes. A part that cannot be read is left out, and `unread` says why; a queue has an error instead.
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
         * @description Replaces the recipient, the address and the parcel's contents in the order, and what was reported with its states (evidences, anomalies, places) in its events and notifications; deletes the receivers' responses from the log. This cannot be undone. Deliveries still owed for the shipment become `CANCELLED` (`ERASED`); none is sent after the response. Identifiers, states and times stay. Later states are recorded and sent without such data. The request may be repeated.
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
         * Explain where a delivery is
         * @description Says what the delivery waits for, which claim it has and what happens next, according to PostgreSQL. Shows ids, states and times only.
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
         * Cancel a replay of any shipper
         * @description Does what its shipper may do. A finished replay stays as it is.
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
         * Seal all secrets with the current key
         * @description Call it after you have changed `SECRETS_KEY` and set the previous key as `SECRETS_KEY_PREVIOUS`.
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
         * Invalidate all cursors of the feed
         * @description Call it after the database was restored in a way that the service cannot detect, such as from a snapshot of its disk. The service detects a restored dump and a promoted standby by itself. Readers of the feed get a 400 and begin again.
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
         * @description Every state change of your shipments, in the order of commit. No event ever appears before a cursor that was already returned, and the events of a shipment come in sequence. A reader that follows the cursors gets every event exactly once. A cursor is refused with 400 if it is older than the log (30 days by default), or if the database was restored or replaced by a standby since. A token of a program needs the scope `read`.
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
        /** @description The format of every failure. */
        Failure: {
            /**
             * @description Version of the response format.
             * @example 1.0.0
             */
            version: string;
            /**
             * @description What went wrong, as a code to act on.
             * @enum {string}
             */
            status: "INVALID_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "TOO_MANY_REQUESTS" | "UNAVAILABLE" | "INTERNAL";
            /**
             * Format: int64
             * @description When the response was sent, in milliseconds since 1970.
             * @example 1795262400000
             */
            timestamp: number;
            error: {
                /**
                 * @description What went wrong, in English.
                 * @example Something went wrong on our side.
                 */
                message: string;
                /**
                 * @description The same as the header `X-Request-Id`.
                 * @example c0ffee00-1234-4abc-8def-0123456789ab
                 */
                requestId: string;
                /** @description Every invalid field or parameter. */
                details?: components["schemas"]["WrongField"][];
            };
        };
        /** @description An invalid field or parameter. */
        WrongField: {
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
        };
        /** @description A token and its lifetime. */
        AccessToken: {
            /**
             * @description Access token. Send it as `Authorization: Bearer <token>`.
             * @example eyJhbGciOiJIUzI1NiJ9.e30.c2ln
             */
            token: string;
            /**
             * @description Lifetime of the token in seconds.
             * @example 3600
             */
            expiresIn: string;
        };
        /** @description The user who is logged in to the portal. */
        Session: {
            /** @description The user who is logged in; null in the operator's session. */
            user: {
                /**
                 * Format: uuid
                 * @description Identifier of the user.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                userId: string;
                /**
                 * @description The user's e-mail address.
                 * @example you@example.com
                 */
                email: string;
            } | null;
            shipper: {
                /**
                 * Format: uuid
                 * @description Identifier of the shipper.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                shipperId: string;
                /**
                 * @description Name of the shipper.
                 * @example Acme
                 */
                name: string;
            };
            /**
             * Format: date-time
             * @description When the user logged in, or the operator opened the portal.
             * @example 2026-11-21T12:00:00+00:00
             */
            startedAt: string;
            /**
             * Format: date-time
             * @description When the session ends unless it is used.
             * @example 2026-11-21T13:00:00+00:00
             */
            expiresAt: string;
            /**
             * Format: date-time
             * @description When it ends at the latest, used or not.
             * @example 2026-11-22T12:00:00+00:00
             */
            lastsUntil: string;
            features: {
                /**
                 * @description Whether journeys of shipments can be simulated.
                 * @example true
                 */
                simulate: boolean;
                /**
                 * @description Whether the service sends e-mails.
                 * @example false
                 */
                email: boolean;
            };
            /**
             * @description True if the session is the operator's, opened by a link: `user` is null, and every change is 403. Absent otherwise.
             * @example false
             */
            readOnly?: boolean;
            /**
             * Format: date-time
             * @description When the operator last opened this portal, read-only. Absent if that was not in the last 30 days.
             * @example 2026-11-21T12:00:00+00:00
             */
            supportOpenedAt?: string;
        };
        SessionCredentials: {
            /**
             * @description Account key.
             * @example ak_AAECAwQFBgcICQoLDA0ODxAREhM
             */
            key: string;
            /**
             * @description The user's e-mail address.
             * @example you@example.com
             */
            email: string;
            /**
             * @description The user's password.
             * @example correct horse battery staple
             */
            password: string;
        };
        /** @description A field of the body that may be a mistake. */
        Warning: {
            /**
             * @description The field of the body; `body` in the entry that counts the rest.
             * @example lotID
             */
            path: string;
            /**
             * @description What may be wrong: the field was ignored (with the nearest one that exists), or its value may be a mistake.
             * @example is not a field of this request and was ignored; did you mean lotId?
             */
            message: string;
        };
        PasswordLinkRequest: {
            /**
             * @description Account key.
             * @example ak_AAECAwQFBgcICQoLDA0ODxAREhM
             */
            key: string;
            /**
             * @description The user's e-mail address.
             * @example you@example.com
             */
            email: string;
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
             * @example you@example.com
             */
            email: string;
            /**
             * @description False until a password is set.
             * @example true
             */
            hasPassword: boolean;
            /**
             * Format: date-time
             * @description When the user was registered.
             * @example 2026-11-02T09:05:00+00:00
             */
            createdAt: string;
        };
        /** @description Who did or tried what, when and from where. */
        AuditEntry: {
            /**
             * Format: uuid
             * @description Identifier of the entry.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            auditId: string;
            /**
             * Format: date-time
             * @description When it was done, for the first time; for refusals, when they were written to the log.
             * @example 2026-11-21T12:00:00+00:00
             */
            at: string;
            /**
             * @description What was done, or refused.
             * @example SHIPPER_SUSPENDED
             * @enum {string}
             */
            action: "SHIPPER_CREATED" | "SHIPPER_RENAMED" | "SHIPPER_SUSPENDED" | "SHIPPER_RESUMED" | "SHIPPER_LIMITED" | "SHIPPER_REMOVED" | "ACCOUNT_KEY_ROTATED" | "USER_CREATED" | "USER_REMOVED" | "USER_SIGNED_OUT" | "SESSION_ENDED" | "PASSWORD_LINK_CREATED" | "PASSWORD_SET" | "SUPPORT_LINK_CREATED" | "SUPPORT_LINK_OPENED" | "TOKEN_CREATED" | "TOKEN_REVOKED" | "WEBHOOK_CREATED" | "WEBHOOK_UPDATED" | "WEBHOOK_PAUSED" | "WEBHOOK_RESUMED" | "WEBHOOK_DISABLED" | "WEBHOOK_DELETED" | "WEBHOOK_SECRET_ROTATED" | "WEBHOOK_SECRETS_ENDED" | "REPLAY_REQUESTED" | "REPLAY_CANCELLED" | "SHIPMENT_ERASED" | "ORDER_READ" | "DELIVERY_READ" | "DELIVERY_REDELIVERED" | "SECRETS_RESEALED" | "FEED_RENEWED" | "LOGIN_REFUSED" | "OPERATOR_REFUSED";
            /**
             * @description Whether it was done.
             * @enum {string}
             */
            outcome: "DONE" | "REFUSED";
            actor: {
                /**
                 * @description `TOKEN` is a program; `UNKNOWN` did not authenticate; `SERVICE` is the service itself.
                 * @enum {string}
                 */
                kind: "OPERATOR" | "USER" | "TOKEN" | "SERVICE" | "UNKNOWN";
                /**
                 * @description An operator's name, which shippers do not get, or the id of a user or token; else null.
                 * @example operator
                 */
                name: string | null;
                /**
                 * @description Where the request came from; shippers do not get an operator's address. For `UNKNOWN` it is the address block, an IPv4 /24 or an IPv6 /56; null if refusals of many callers are counted together.
                 * @example 203.0.113.7
                 */
                address: string | null;
            };
            /**
             * Format: uuid
             * @description The shipper it is about.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipperId: string | null;
            /**
             * Format: uuid
             * @description The user it is about.
             * @example null
             */
            userId: string | null;
            /**
             * Format: uuid
             * @description The webhook it is about.
             * @example null
             */
            webhookId: string | null;
            /**
             * Format: uuid
             * @description The shipment it is about.
             * @example null
             */
            shipmentId: string | null;
            /**
             * @description The tracking id of that shipment; null once the shipment is deleted with its shipper.
             * @example null
             */
            trackingId: string | null;
            /**
             * Format: uuid
             * @description The token of a program it is about.
             * @example null
             */
            tokenId: string | null;
            /**
             * @description Names of the given fields.
             * @example [
             *       "status"
             *     ]
             */
            fields: string[];
            /**
             * Format: int64
             * @description How many refusals, or changes within a minute, the entry stands for.
             * @example 1
             */
            count: number;
        };
        PasswordChange: {
            /**
             * @description The user's password.
             * @example correct horse battery staple
             */
            currentPassword: string;
            /**
             * @description New password.
             * @example correct horse battery staple
             */
            newPassword: string;
        };
        /** @description A session of the user in the portal. */
        ListedSession: {
            /**
             * Format: uuid
             * @description Identifier of the session.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            sessionId: string;
            /**
             * @description The browser that logged in, as it says.
             * @example Chrome on Linux
             */
            browser: string;
            /**
             * Format: date-time
             * @description When the user logged in.
             * @example 2026-11-21T12:00:00+00:00
             */
            startedAt: string;
            /**
             * Format: date-time
             * @description When it was last used, to some minutes.
             * @example 2026-11-21T12:00:00+00:00
             */
            lastUsedAt: string;
            /**
             * @description Whether it is the one that asks.
             * @example true
             */
            isCurrent: boolean;
        };
        /** @description A token of a program. */
        ProgramToken: {
            /**
             * Format: uuid
             * @description Identifier of the token.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            tokenId: string;
            /**
             * @description What it is for.
             * @example Shop
             */
            name: string;
            /**
             * @description What it may do. `orders`: place, list, track, simulate and cancel shipments. `webhooks`: everything under webhooks, deliveries and replays. `read`: read everything there is, the feed too.
             * @example [
             *       "orders"
             *     ]
             */
            scopes: ("orders" | "webhooks" | "read")[];
            /**
             * Format: uuid
             * @description The only webhook that it may use; null: every one.
             * @example null
             */
            webhookId: string | null;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-21T12:00:00+00:00
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it expires; null: never.
             * @example null
             */
            expiresAt: string | null;
            /**
             * Format: date
             * @description The last day (UTC) on which it was used; null: never.
             * @example 2026-11-21
             */
            lastUsedOn: string | null;
        };
        TokenRegistration: {
            /**
             * @description What it is for, in your own words.
             * @example Shop
             */
            name: string;
            /**
             * @description What it may do. `orders`: place, list, track, simulate and cancel shipments. `webhooks`: everything under webhooks, deliveries and replays. `read`: read everything there is, the feed too.
             * @example [
             *       "orders"
             *     ]
             */
            scopes: ("orders" | "webhooks" | "read")[];
            /**
             * Format: uuid
             * @description The only webhook that it may use, with the scopes `webhooks` and `read`. Default: every one.
             */
            webhookId?: string;
            /**
             * @description When it expires. Default: never. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
             * @example 2030-01-15T00:00:00Z
             */
            expiresAt?: string | number;
        };
        /** @description The token, which is shown only here. */
        CreatedToken: {
            /**
             * Format: uuid
             * @description Identifier of the token.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            tokenId: string;
            /**
             * @description What it is for.
             * @example Shop
             */
            name: string;
            /**
             * @description What it may do. `orders`: place, list, track, simulate and cancel shipments. `webhooks`: everything under webhooks, deliveries and replays. `read`: read everything there is, the feed too.
             * @example [
             *       "orders"
             *     ]
             */
            scopes: ("orders" | "webhooks" | "read")[];
            /**
             * Format: uuid
             * @description The only webhook that it may use; null: every one.
             * @example null
             */
            webhookId: string | null;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-21T12:00:00+00:00
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it expires; null: never.
             * @example null
             */
            expiresAt: string | null;
            /**
             * Format: date
             * @description Null: it was never used.
             * @example null
             */
            lastUsedOn: string | null;
            /**
             * @description Send it as `Authorization: Bearer <token>`. Store it; it is not shown again.
             * @example phk_1x9TqLz0cW4vJdYbKe7RmUa3HsGoNp5iFtQ8XyBn2Ch6DgZ0mX4Ue
             */
            token: string;
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
             * @example Acme
             */
            name: string;
            /**
             * @description `SUSPENDED`: its requests are refused and its deliveries held until it is resumed. `REMOVED`: for good.
             * @enum {string}
             */
            status: "ACTIVE" | "SUSPENDED" | "REMOVED";
            /**
             * Format: date-time
             * @description When it was registered.
             * @example 2026-11-02T09:00:00+00:00
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the previous account key expires; null if there is none.
             * @example null
             */
            previousKeyValidUntil: string | null;
            /**
             * @description Its API requests per second, averaged over 10 s; null: `API_RATE_LIMIT`.
             * @example null
             */
            rateLimit: number | null;
            /**
             * @description Its attempts in flight in each worker; null: no limit of its own.
             * @example null
             */
            maxConcurrency: number | null;
        };
        /** @description The new account key, which is shown only here. */
        RotatedAccountKey: {
            /**
             * @description The new account key of all its users; shown only here.
             * @example ak_FBUWFxgZGhscHR4fICEiIyQlJic
             */
            accountKey: string;
            /**
             * Format: date-time
             * @description When the previous key expires.
             * @example 2026-11-22T12:00:00+00:00
             */
            previousKeyValidUntil: string;
        };
        /** @description The link, which opens the shipper's portal. */
        PortalLink: {
            /**
             * Format: uri
             * @description Open it in a browser. It is good for one use, within 15 minutes.
             * @example https://parcelhook.example.com/support?token=Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms
             */
            url: string;
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
             * @description Give it to the user. It is good for one use, within 24 hours.
             * @example https://parcelhook.example.com/set-password?token=Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms
             */
            setPasswordUrl: string;
        };
        ListedWebhook: {
            /**
             * Format: uuid
             * @description Identifier of the webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * @description The states to be notified of. `*` stands for all of them but the notices, which report how your other webhooks are doing and must be named: `WEBHOOK_FAILING`, `WEBHOOK_RECOVERED`, `WEBHOOK_DISABLING`, `WEBHOOK_DISABLED` and `DELIVERY_EXHAUSTED`. A name within two letters of a state is refused.
             * @example [
             *       "*"
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
             * @description What a `PAUSED` or `DISABLED` webhook misses is held and sent once it is `ACTIVE` again. The service disables a webhook that fails for days, responds 410, or asks for it (`webhook-delivery: disable`).
             * @enum {string}
             */
            status: "ACTIVE" | "PAUSED" | "DISABLED";
            /**
             * @description Why it is `DISABLED`: it responded with 410 (`GONE`) or with the header `webhook-delivery: disable` (`REFUSED`), or nothing succeeded for 5 days, with 10 failed attempts of 3 deliveries on 2 days (`FAILING`).
             * @example null
             * @enum {string|null}
             */
            disabledReason: "GONE" | "REFUSED" | "FAILING" | null;
            /**
             * @description The name by which your programs find the webhook; null for none.
             * @example null
             */
            name: string | null;
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as possible.
             * @enum {string}
             */
            ordering: "SHIPMENT" | "NONE";
            /**
             * @description Whether to skip a state that is not delivered yet when a later one of its shipment is recorded.
             * @example false
             */
            supersede: boolean;
            /**
             * @description Headers sent with each notification; instead of its value, each has `••••`.
             * @example {}
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description Free text for yourself.
             * @example
             */
            description: string;
            /**
             * @description Attempts that may begin in any second, of redeliveries and tests, too. Deliveries beyond that wait, `HELD` by `RATE`. Null means no limit.
             * @example null
             */
            maxPerSecond: number | null;
            /**
             * @description An address to tell by e-mail when the webhook fails, recovers, is or will be disabled, or has used up the retries of deliveries. An address that is no user’s of yours gets a link to confirm it first. Null: none.
             * @example null
             */
            notifyEmail: string | null;
            /**
             * @description Whether e-mails are sent there: it is a user’s address, or was confirmed. Null without an address.
             * @example null
             */
            notifyEmailConfirmed: boolean | null;
            /**
             * Format: date-time
             * @description When it was registered.
             * @example 2026-11-20T16:00:00+00:00
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-20T16:00:00+00:00
             */
            updatedAt: string;
            /**
             * @description `OPERATOR`: the operator of the service has paused it, and only the operator can resume it. Else null.
             * @example null
             * @enum {string|null}
             */
            pausedBy: "OPERATOR" | null;
            /**
             * @description Interests that are not a state today. They are kept, because such a state may be added later.
             * @example []
             */
            unknownInterests: string[];
            /** @description With `include=health`: how its deliveries are going. */
            health?: {
                /**
                 * @description `OPEN`: it failed too often, and attempts are stopped for a while.
                 * @enum {string}
                 */
                circuit: "CLOSED" | "OPEN";
                /**
                 * Format: date-time
                 * @description When the wait of the circuit ends. The next probe is a delivery that is due by then, or else the next to become due, so this time may be in the past. Null while the circuit is closed.
                 * @example null
                 */
                nextProbeAt: string | null;
                /**
                 * Format: date-time
                 * @description When an attempt failed for the first time since the last success; null if the last attempt succeeded.
                 * @example null
                 */
                failedSince: string | null;
                /**
                 * Format: date-time
                 * @description When it is disabled at the earliest, if nothing succeeds until then: 5 days after its first failure since its last success. It also takes 10 failed attempts of 3 deliveries on 2 days (UTC). Null if it does not fail (90 % of at least 10 attempts in a minute, or an hour without a success over at least 3 attempts), or is not `ACTIVE`.
                 * @example null
                 */
                disablesAt: string | null;
                /**
                 * Format: date-time
                 * @description When a notification last arrived; null if none did. It may be up to an hour early if that notification was recorded days, or 50 others of its state, before it arrived, or is no longer in the log.
                 * @example 2026-11-21T12:00:00+00:00
                 */
                lastSuccessAt: string | null;
                /**
                 * Format: double
                 * @description Failed share of the attempts that began in the current hour (UTC) and the previous one, without tests; null if there are none.
                 * @example 0
                 */
                failureRate: number | null;
                /**
                 * Format: int64
                 * @description Waiting deliveries, counted up to 10,000.
                 * @example 0
                 */
                pendingCount: number;
                /**
                 * Format: date-time
                 * @description Since when what it misses is stored only as a position in your events, because it was not called and too many deliveries waited for it. When it is called again, these events become deliveries, in order, and this is null.
                 * @example null
                 */
                parkedSince: string | null;
            };
            /** @description With `include=stats`: its attempts in the last 24 hours. */
            stats?: components["schemas"]["WebhookStats"];
        };
        /** @description Attempts by hour (UTC), including hours without any: the oldest first, the current one last. */
        WebhookStats: {
            /** @description By hour, oldest first. */
            hours: {
                /**
                 * Format: date-time
                 * @description When the hour began.
                 * @example 2026-11-21T12:00:00+00:00
                 */
                hour: string;
                /**
                 * Format: int64
                 * @description Attempts that began in that hour and are finished.
                 * @example 42
                 */
                attempts: number;
                /**
                 * Format: int64
                 * @description Attempts that succeeded.
                 * @example 40
                 */
                succeeded: number;
                /**
                 * Format: int64
                 * @description Attempts that failed or were cut off.
                 * @example 2
                 */
                failed: number;
                /**
                 * Format: int64
                 * @description Half of its attempts took at most this long, in milliseconds, to within 5 %; null if none has a duration.
                 * @example 84
                 */
                p50Ms: number | null;
                /**
                 * Format: int64
                 * @description 95 % of its attempts took at most this long, in milliseconds, to within 5 %; null if none has a duration.
                 * @example 210
                 */
                p95Ms: number | null;
            }[];
        };
        WebhookRegistration: {
            /**
             * @description The states to be notified of. `*` stands for all of them but the notices, which report how your other webhooks are doing and must be named: `WEBHOOK_FAILING`, `WEBHOOK_RECOVERED`, `WEBHOOK_DISABLING`, `WEBHOOK_DISABLED` and `DELIVERY_EXHAUSTED`. A name within two letters of a state is refused.
             * @example [
             *       "*"
             *     ]
             */
            interests: string[];
            /**
             * @description Absolute URL that notifications are sent to; its host has at most 253 characters. A host in Unicode is converted to punycode.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress: string;
            /**
             * @description What a `PAUSED` webhook misses is held and sent once it is `ACTIVE` again.
             * @enum {string}
             */
            status?: "ACTIVE" | "PAUSED";
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as possible.
             * @enum {string}
             */
            ordering?: "SHIPMENT" | "NONE";
            /**
             * @description Whether to skip a state that is not delivered yet when a later one of its shipment is recorded.
             * @example false
             */
            supersede?: boolean;
            /**
             * @description Headers to send with each notification; those that the service or HTTP itself sets are refused. No response shows their values.
             * @example {
             *       "X-Team": "logistics"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /**
             * @description Attempts that may begin in any second, of redeliveries and tests, too. Deliveries beyond that wait, `HELD` by `RATE`. Null means no limit.
             * @example null
             */
            maxPerSecond?: number | null;
            /**
             * @description An address to tell by e-mail when the webhook fails, recovers, is or will be disabled, or has used up the retries of deliveries. An address that is no user’s of yours gets a link to confirm it first. Null: none.
             * @example null
             */
            notifyEmail?: string | null;
            /**
             * @description Free text for yourself; null means none.
             * @example Production
             */
            description?: string | null;
            /**
             * @description The name by which your programs find the webhook; null for none. No two webhooks of yours have the same.
             * @example orders-production
             */
            name?: string | null;
        };
        /** @description The webhook with its secret, which is shown only once. */
        WebhookWithSecret: {
            /**
             * Format: uuid
             * @description Identifier of the webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * @description The states to be notified of. `*` stands for all of them but the notices, which report how your other webhooks are doing and must be named: `WEBHOOK_FAILING`, `WEBHOOK_RECOVERED`, `WEBHOOK_DISABLING`, `WEBHOOK_DISABLED` and `DELIVERY_EXHAUSTED`. A name within two letters of a state is refused.
             * @example [
             *       "*"
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
             * @description What a `PAUSED` or `DISABLED` webhook misses is held and sent once it is `ACTIVE` again. The service disables a webhook that fails for days, responds 410, or asks for it (`webhook-delivery: disable`).
             * @enum {string}
             */
            status: "ACTIVE" | "PAUSED" | "DISABLED";
            /**
             * @description Why it is `DISABLED`: it responded with 410 (`GONE`) or with the header `webhook-delivery: disable` (`REFUSED`), or nothing succeeded for 5 days, with 10 failed attempts of 3 deliveries on 2 days (`FAILING`).
             * @example null
             * @enum {string|null}
             */
            disabledReason: "GONE" | "REFUSED" | "FAILING" | null;
            /**
             * @description The name by which your programs find the webhook; null for none.
             * @example null
             */
            name: string | null;
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as possible.
             * @enum {string}
             */
            ordering: "SHIPMENT" | "NONE";
            /**
             * @description Whether to skip a state that is not delivered yet when a later one of its shipment is recorded.
             * @example false
             */
            supersede: boolean;
            /**
             * @description Headers sent with each notification; instead of its value, each has `••••`.
             * @example {}
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description Free text for yourself.
             * @example
             */
            description: string;
            /**
             * @description Attempts that may begin in any second, of redeliveries and tests, too. Deliveries beyond that wait, `HELD` by `RATE`. Null means no limit.
             * @example null
             */
            maxPerSecond: number | null;
            /**
             * @description An address to tell by e-mail when the webhook fails, recovers, is or will be disabled, or has used up the retries of deliveries. An address that is no user’s of yours gets a link to confirm it first. Null: none.
             * @example null
             */
            notifyEmail: string | null;
            /**
             * @description Whether e-mails are sent there: it is a user’s address, or was confirmed. Null without an address.
             * @example null
             */
            notifyEmailConfirmed: boolean | null;
            /**
             * Format: date-time
             * @description When it was registered.
             * @example 2026-11-20T16:00:00+00:00
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-20T16:00:00+00:00
             */
            updatedAt: string;
            /**
             * @description `OPERATOR`: the operator of the service has paused it, and only the operator can resume it. Else null.
             * @example null
             * @enum {string|null}
             */
            pausedBy: "OPERATOR" | null;
            /**
             * @description Interests that are not a state today. They are kept, because such a state may be added later.
             * @example []
             */
            unknownInterests: string[];
            /**
             * @description Verifies signatures: `whsec_` and 32 bytes in Base64. Store it; it is not shown again.
             * @example whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=
             */
            secret: string;
        };
        /** @description The webhook, how its deliveries are going, and which secrets sign. */
        WebhookWithHealth: {
            /**
             * Format: uuid
             * @description Identifier of the webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * @description The states to be notified of. `*` stands for all of them but the notices, which report how your other webhooks are doing and must be named: `WEBHOOK_FAILING`, `WEBHOOK_RECOVERED`, `WEBHOOK_DISABLING`, `WEBHOOK_DISABLED` and `DELIVERY_EXHAUSTED`. A name within two letters of a state is refused.
             * @example [
             *       "*"
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
             * @description What a `PAUSED` or `DISABLED` webhook misses is held and sent once it is `ACTIVE` again. The service disables a webhook that fails for days, responds 410, or asks for it (`webhook-delivery: disable`).
             * @enum {string}
             */
            status: "ACTIVE" | "PAUSED" | "DISABLED";
            /**
             * @description Why it is `DISABLED`: it responded with 410 (`GONE`) or with the header `webhook-delivery: disable` (`REFUSED`), or nothing succeeded for 5 days, with 10 failed attempts of 3 deliveries on 2 days (`FAILING`).
             * @example null
             * @enum {string|null}
             */
            disabledReason: "GONE" | "REFUSED" | "FAILING" | null;
            /**
             * @description The name by which your programs find the webhook; null for none.
             * @example null
             */
            name: string | null;
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as possible.
             * @enum {string}
             */
            ordering: "SHIPMENT" | "NONE";
            /**
             * @description Whether to skip a state that is not delivered yet when a later one of its shipment is recorded.
             * @example false
             */
            supersede: boolean;
            /**
             * @description Headers sent with each notification; instead of its value, each has `••••`.
             * @example {}
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description Free text for yourself.
             * @example
             */
            description: string;
            /**
             * @description Attempts that may begin in any second, of redeliveries and tests, too. Deliveries beyond that wait, `HELD` by `RATE`. Null means no limit.
             * @example null
             */
            maxPerSecond: number | null;
            /**
             * @description An address to tell by e-mail when the webhook fails, recovers, is or will be disabled, or has used up the retries of deliveries. An address that is no user’s of yours gets a link to confirm it first. Null: none.
             * @example null
             */
            notifyEmail: string | null;
            /**
             * @description Whether e-mails are sent there: it is a user’s address, or was confirmed. Null without an address.
             * @example null
             */
            notifyEmailConfirmed: boolean | null;
            /**
             * Format: date-time
             * @description When it was registered.
             * @example 2026-11-20T16:00:00+00:00
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-20T16:00:00+00:00
             */
            updatedAt: string;
            /**
             * @description `OPERATOR`: the operator of the service has paused it, and only the operator can resume it. Else null.
             * @example null
             * @enum {string|null}
             */
            pausedBy: "OPERATOR" | null;
            /**
             * @description Interests that are not a state today. They are kept, because such a state may be added later.
             * @example []
             */
            unknownInterests: string[];
            health: {
                /**
                 * @description `OPEN`: it failed too often, and attempts are stopped for a while.
                 * @enum {string}
                 */
                circuit: "CLOSED" | "OPEN";
                /**
                 * Format: date-time
                 * @description When the wait of the circuit ends. The next probe is a delivery that is due by then, or else the next to become due, so this time may be in the past. Null while the circuit is closed.
                 * @example null
                 */
                nextProbeAt: string | null;
                /**
                 * Format: date-time
                 * @description When an attempt failed for the first time since the last success; null if the last attempt succeeded.
                 * @example null
                 */
                failedSince: string | null;
                /**
                 * Format: date-time
                 * @description When it is disabled at the earliest, if nothing succeeds until then: 5 days after its first failure since its last success. It also takes 10 failed attempts of 3 deliveries on 2 days (UTC). Null if it does not fail (90 % of at least 10 attempts in a minute, or an hour without a success over at least 3 attempts), or is not `ACTIVE`.
                 * @example null
                 */
                disablesAt: string | null;
                /**
                 * Format: date-time
                 * @description When a notification last arrived; null if none did. It may be up to an hour early if that notification was recorded days, or 50 others of its state, before it arrived, or is no longer in the log.
                 * @example 2026-11-21T12:00:00+00:00
                 */
                lastSuccessAt: string | null;
                /**
                 * Format: double
                 * @description Failed share of the attempts that began in the current hour (UTC) and the previous one, without tests; null if there are none.
                 * @example 0
                 */
                failureRate: number | null;
                /**
                 * Format: int64
                 * @description Waiting deliveries, counted up to 10,000.
                 * @example 0
                 */
                pendingCount: number;
                /**
                 * Format: date-time
                 * @description Since when what it misses is stored only as a position in your events, because it was not called and too many deliveries waited for it. When it is called again, these events become deliveries, in order, and this is null.
                 * @example null
                 */
                parkedSince: string | null;
            };
            /** @description Which secrets sign. None of them is shown. */
            secrets: {
                /**
                 * Format: date-time
                 * @description When the current secret was made; null if it is the first one.
                 * @example null
                 */
                rotatedAt: string | null;
                /** @description The earlier secrets that still sign, at most five; the first to end comes first. */
                earlier: {
                    /**
                     * Format: date-time
                     * @description When it stops signing.
                     * @example 2026-11-22T12:00:00+00:00
                     */
                    signsUntil: string;
                }[];
            };
        };
        WebhookChanges: {
            /**
             * @description The states to be notified of. `*` stands for all of them but the notices, which report how your other webhooks are doing and must be named: `WEBHOOK_FAILING`, `WEBHOOK_RECOVERED`, `WEBHOOK_DISABLING`, `WEBHOOK_DISABLED` and `DELIVERY_EXHAUSTED`. A name within two letters of a state is refused.
             * @example [
             *       "*"
             *     ]
             */
            interests?: string[];
            /**
             * @description Absolute URL that notifications are sent to; its host has at most 253 characters. A host in Unicode is converted to punycode.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress?: string;
            /**
             * @description What a `PAUSED` webhook misses is held and sent once it is `ACTIVE` again.
             * @enum {string}
             */
            status?: "ACTIVE" | "PAUSED";
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as possible.
             * @enum {string}
             */
            ordering?: "SHIPMENT" | "NONE";
            /**
             * @description Whether to skip a state that is not delivered yet when a later one of its shipment is recorded.
             * @example false
             */
            supersede?: boolean;
            /**
             * @description Headers to send with each notification; those that the service or HTTP itself sets are refused. No response shows their values. A value sent as `••••` stays unchanged, unless `targetAddress` moves to another origin: then it must be given again.
             * @example {
             *       "X-Team": "logistics"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /**
             * @description Attempts that may begin in any second, of redeliveries and tests, too. Deliveries beyond that wait, `HELD` by `RATE`. Null means no limit.
             * @example null
             */
            maxPerSecond?: number | null;
            /**
             * @description An address to tell by e-mail when the webhook fails, recovers, is or will be disabled, or has used up the retries of deliveries. An address that is no user’s of yours gets a link to confirm it first. Null: none.
             * @example null
             */
            notifyEmail?: string | null;
            /**
             * @description Free text for yourself; null means none.
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
             * @description The states to be notified of. `*` stands for all of them but the notices, which report how your other webhooks are doing and must be named: `WEBHOOK_FAILING`, `WEBHOOK_RECOVERED`, `WEBHOOK_DISABLING`, `WEBHOOK_DISABLED` and `DELIVERY_EXHAUSTED`. A name within two letters of a state is refused.
             * @example [
             *       "*"
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
             * @description What a `PAUSED` or `DISABLED` webhook misses is held and sent once it is `ACTIVE` again. The service disables a webhook that fails for days, responds 410, or asks for it (`webhook-delivery: disable`).
             * @enum {string}
             */
            status: "ACTIVE" | "PAUSED" | "DISABLED";
            /**
             * @description Why it is `DISABLED`: it responded with 410 (`GONE`) or with the header `webhook-delivery: disable` (`REFUSED`), or nothing succeeded for 5 days, with 10 failed attempts of 3 deliveries on 2 days (`FAILING`).
             * @example null
             * @enum {string|null}
             */
            disabledReason: "GONE" | "REFUSED" | "FAILING" | null;
            /**
             * @description The name by which your programs find the webhook; null for none.
             * @example null
             */
            name: string | null;
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as possible.
             * @enum {string}
             */
            ordering: "SHIPMENT" | "NONE";
            /**
             * @description Whether to skip a state that is not delivered yet when a later one of its shipment is recorded.
             * @example false
             */
            supersede: boolean;
            /**
             * @description Headers sent with each notification; instead of its value, each has `••••`.
             * @example {}
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description Free text for yourself.
             * @example
             */
            description: string;
            /**
             * @description Attempts that may begin in any second, of redeliveries and tests, too. Deliveries beyond that wait, `HELD` by `RATE`. Null means no limit.
             * @example null
             */
            maxPerSecond: number | null;
            /**
             * @description An address to tell by e-mail when the webhook fails, recovers, is or will be disabled, or has used up the retries of deliveries. An address that is no user’s of yours gets a link to confirm it first. Null: none.
             * @example null
             */
            notifyEmail: string | null;
            /**
             * @description Whether e-mails are sent there: it is a user’s address, or was confirmed. Null without an address.
             * @example null
             */
            notifyEmailConfirmed: boolean | null;
            /**
             * Format: date-time
             * @description When it was registered.
             * @example 2026-11-20T16:00:00+00:00
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-20T16:00:00+00:00
             */
            updatedAt: string;
            /**
             * @description `OPERATOR`: the operator of the service has paused it, and only the operator can resume it. Else null.
             * @example null
             * @enum {string|null}
             */
            pausedBy: "OPERATOR" | null;
            /**
             * @description Interests that are not a state today. They are kept, because such a state may be added later.
             * @example []
             */
            unknownInterests: string[];
        };
        WebhookDeclaration: {
            /**
             * @description The states to be notified of. `*` stands for all of them but the notices, which report how your other webhooks are doing and must be named: `WEBHOOK_FAILING`, `WEBHOOK_RECOVERED`, `WEBHOOK_DISABLING`, `WEBHOOK_DISABLED` and `DELIVERY_EXHAUSTED`. A name within two letters of a state is refused.
             * @example [
             *       "*"
             *     ]
             */
            interests?: string[];
            /**
             * @description Absolute URL that notifications are sent to; its host has at most 253 characters. A host in Unicode is converted to punycode.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress?: string;
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as possible.
             * @enum {string}
             */
            ordering?: "SHIPMENT" | "NONE";
            /**
             * @description Whether to skip a state that is not delivered yet when a later one of its shipment is recorded.
             * @example false
             */
            supersede?: boolean;
            /**
             * @description Headers to send with each notification; those that the service or HTTP itself sets are refused. No response shows their values. A value sent as `••••` stays unchanged, unless `targetAddress` moves to another origin: then it must be given again.
             * @example {
             *       "X-Team": "logistics"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /**
             * @description Attempts that may begin in any second, of redeliveries and tests, too. Deliveries beyond that wait, `HELD` by `RATE`. Null means no limit.
             * @example null
             */
            maxPerSecond?: number | null;
            /**
             * @description An address to tell by e-mail when the webhook fails, recovers, is or will be disabled, or has used up the retries of deliveries. An address that is no user’s of yours gets a link to confirm it first. Null: none.
             * @example null
             */
            notifyEmail?: string | null;
            /**
             * @description Free text for yourself; null means none.
             * @example Production
             */
            description?: string | null;
            /**
             * @description A secret of your own for a new webhook, so that your program has it from the start: `whsec_` and 24 to 64 random bytes in Base64. Only rotating changes it later.
             * @example whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=
             */
            secret?: string;
        };
        /** @description The webhook is new. */
        DeclaredWebhook: {
            /**
             * Format: uuid
             * @description Identifier of the webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * @description The states to be notified of. `*` stands for all of them but the notices, which report how your other webhooks are doing and must be named: `WEBHOOK_FAILING`, `WEBHOOK_RECOVERED`, `WEBHOOK_DISABLING`, `WEBHOOK_DISABLED` and `DELIVERY_EXHAUSTED`. A name within two letters of a state is refused.
             * @example [
             *       "*"
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
             * @description What a `PAUSED` or `DISABLED` webhook misses is held and sent once it is `ACTIVE` again. The service disables a webhook that fails for days, responds 410, or asks for it (`webhook-delivery: disable`).
             * @enum {string}
             */
            status: "ACTIVE" | "PAUSED" | "DISABLED";
            /**
             * @description Why it is `DISABLED`: it responded with 410 (`GONE`) or with the header `webhook-delivery: disable` (`REFUSED`), or nothing succeeded for 5 days, with 10 failed attempts of 3 deliveries on 2 days (`FAILING`).
             * @example null
             * @enum {string|null}
             */
            disabledReason: "GONE" | "REFUSED" | "FAILING" | null;
            /**
             * @description The name by which your programs find the webhook; null for none.
             * @example null
             */
            name: string | null;
            /**
             * @description `SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as possible.
             * @enum {string}
             */
            ordering: "SHIPMENT" | "NONE";
            /**
             * @description Whether to skip a state that is not delivered yet when a later one of its shipment is recorded.
             * @example false
             */
            supersede: boolean;
            /**
             * @description Headers sent with each notification; instead of its value, each has `••••`.
             * @example {}
             */
            headers: {
                [key: string]: string;
            };
            /**
             * @description Free text for yourself.
             * @example
             */
            description: string;
            /**
             * @description Attempts that may begin in any second, of redeliveries and tests, too. Deliveries beyond that wait, `HELD` by `RATE`. Null means no limit.
             * @example null
             */
            maxPerSecond: number | null;
            /**
             * @description An address to tell by e-mail when the webhook fails, recovers, is or will be disabled, or has used up the retries of deliveries. An address that is no user’s of yours gets a link to confirm it first. Null: none.
             * @example null
             */
            notifyEmail: string | null;
            /**
             * @description Whether e-mails are sent there: it is a user’s address, or was confirmed. Null without an address.
             * @example null
             */
            notifyEmailConfirmed: boolean | null;
            /**
             * Format: date-time
             * @description When it was registered.
             * @example 2026-11-20T16:00:00+00:00
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-20T16:00:00+00:00
             */
            updatedAt: string;
            /**
             * @description `OPERATOR`: the operator of the service has paused it, and only the operator can resume it. Else null.
             * @example null
             * @enum {string|null}
             */
            pausedBy: "OPERATOR" | null;
            /**
             * @description Interests that are not a state today. They are kept, because such a state may be added later.
             * @example []
             */
            unknownInterests: string[];
            /**
             * @description Verifies signatures. Store it; it is not shown again. Absent if you gave one.
             * @example whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=
             */
            secret?: string;
        };
        /** @description The new secret, which is shown only once. */
        RotatedSecret: {
            /**
             * Format: uuid
             * @description Identifier of the webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * @description The new secret. Store it; it is not shown again.
             * @example whsec_Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=
             */
            secret: string;
            /**
             * Format: date-time
             * @description When the old secret stops signing. Until then both sign, and so do those before it that were promised more time.
             * @example 2026-11-22T12:00:00+00:00
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
                 * @description House number.
                 * @example 222
                 */
                number: string;
                /**
                 * @description State or province.
                 * @example Ciudad de México
                 */
                administrativeArea: string;
                /**
                 * @description Municipality or county.
                 * @example Cuauhtémoc
                 */
                subAdministrativeArea: string;
                /**
                 * @description Two-letter country code (ISO 3166). Codes may be in any case; they are stored in upper case.
                 * @example MX
                 */
                country: string;
                /**
                 * @description Neighbourhood.
                 * @example Juárez
                 */
                neighborhood: string;
                /**
                 * @description Postal code.
                 * @example 06600
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
                 * @description Flat or office number.
                 * @example 4B
                 */
                intNumber?: string | null;
                /**
                 * Format: double
                 * @description Latitude in degrees.
                 * @example 19.427
                 */
                lat?: number | null;
                /**
                 * Format: double
                 * @description Longitude in degrees.
                 * @example -99.1677
                 */
                lng?: number | null;
            };
            /**
             * @description Your own identifier of the order; it need not be unique.
             * @example ORDER-1001
             */
            shipperTrackingId: string;
            /**
             * Format: date-time
             * @description When you hand in the parcel.
             * @example 2030-01-15T10:00:00Z
             */
            shipperDropoffDate: string;
            /**
             * Format: date-time
             * @description When the parcel should arrive; not before the drop-off.
             * @example 2030-01-17T18:00:00Z
             */
            expectedDeliveryDate: string;
            /**
             * @description The lot of the order.
             * @example LOT-7
             */
            lotId?: string | null;
            /** @description The recipient of the parcel. */
            recipientInformation: {
                /**
                 * @description Full name.
                 * @example Ana Torres
                 */
                fullName: string;
                /**
                 * @description Telephone number, digits only, without `+`.
                 * @example 5512345678
                 */
                phone: string;
                /**
                 * Format: email
                 * @description E-mail address.
                 * @example ana@example.com
                 */
                email?: string | null;
            };
            /** @description The parcel. */
            package: {
                /**
                 * @description Type of packaging, such as `UNIT`, `BOX`, `ENVELOPE` or `PALLET`: free text, stored as sent.
                 * @example UNIT
                 */
                packageType: string;
                /**
                 * @description Contents.
                 * @example Books
                 */
                description: string;
                /**
                 * Format: double
                 * @description Value of the contents.
                 * @example 349
                 */
                contentValue: number;
                /**
                 * @description Currency of the value: an active code of ISO 4217.
                 * @example MXN
                 */
                valueCurrency: string;
                /**
                 * Format: double
                 * @description Weight.
                 * @example 1.2
                 */
                weight: number;
                /**
                 * @description Unit of the weight: `KG`, `G`, `LB`, `OZ`.
                 * @example KG
                 */
                weightUnit: string;
                /**
                 * Format: double
                 * @description Length.
                 * @example 30
                 */
                length: number;
                /**
                 * Format: double
                 * @description Width.
                 * @example 20
                 */
                width: number;
                /**
                 * Format: double
                 * @description Height.
                 * @example 10
                 */
                height: number;
                /**
                 * @description Unit of length, width and height: `CM`, `MM`, `IN`, `M`.
                 * @example CM
                 */
                dimensionsUnit: string;
                /**
                 * @description The contents in detail: any JSON, returned as sent. At most 16,384 bytes as JSON.
                 * @example null
                 */
                items?: unknown;
            };
        };
        /** @description The accepted order. The shipment is created shortly after. */
        OrderResult: {
            recipientLocation: {
                /**
                 * @description Street.
                 * @example Avenida Reforma
                 */
                street: string;
                /**
                 * @description House number.
                 * @example 222
                 */
                number: string;
                /**
                 * @description State or province.
                 * @example Ciudad de México
                 */
                administrativeArea: string;
                /**
                 * @description Municipality or county.
                 * @example Cuauhtémoc
                 */
                subAdministrativeArea: string;
                /**
                 * @description Two-letter country code (ISO 3166). Codes may be in any case; they are stored in upper case.
                 * @example MX
                 */
                country: string;
                /**
                 * @description Neighbourhood.
                 * @example Juárez
                 */
                neighborhood: string;
                /**
                 * @description Postal code.
                 * @example 06600
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
                 * @description Flat or office number.
                 * @example 4B
                 */
                intNumber: string | null;
                /**
                 * Format: double
                 * @description Latitude in degrees.
                 * @example 19.427
                 */
                lat: number | null;
                /**
                 * Format: double
                 * @description Longitude in degrees.
                 * @example -99.1677
                 */
                lng: number | null;
            };
            /**
             * @description Your own identifier of the order; it need not be unique.
             * @example ORDER-1001
             */
            shipperTrackingId: string;
            /**
             * Format: date-time
             * @description When you hand in the parcel.
             * @example 2030-01-15T10:00:00+00:00
             */
            shipperDropoffDate: string;
            /**
             * Format: date-time
             * @description When the parcel should arrive.
             * @example 2030-01-17T18:00:00+00:00
             */
            expectedDeliveryDate: string;
            /**
             * @description The lot of the order.
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
                 * @description Telephone number, digits only, without `+`.
                 * @example 5512345678
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
                 * @description Type of packaging, such as `UNIT`, `BOX`, `ENVELOPE` or `PALLET`: free text, stored as sent.
                 * @example UNIT
                 */
                packageType: string;
                /**
                 * @description Contents.
                 * @example Books
                 */
                description: string;
                /**
                 * Format: double
                 * @description Value, without its fraction.
                 * @example 349
                 */
                contentValue: number;
                /**
                 * @description Currency of the value: an active code of ISO 4217.
                 * @example MXN
                 */
                valueCurrency: string;
                /**
                 * Format: double
                 * @description Weight.
                 * @example 1.2
                 */
                weight: number;
                /**
                 * @description Unit of the weight: `KG`, `G`, `LB`, `OZ`.
                 * @example KG
                 */
                weightUnit: string;
                /**
                 * Format: double
                 * @description Length.
                 * @example 30
                 */
                length: number;
                /**
                 * Format: double
                 * @description Width.
                 * @example 20
                 */
                width: number;
                /**
                 * Format: double
                 * @description Height.
                 * @example 10
                 */
                height: number;
                /**
                 * @description Unit of length, width and height: `CM`, `MM`, `IN`, `M`.
                 * @example CM
                 */
                dimensionsUnit: string;
                /**
                 * @description The contents in detail: any JSON, returned as sent. At most 262,144 bytes as JSON.
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
        /** @description Where you hand in the parcel, chosen by the service. */
        DropoffLocation: {
            /**
             * @description Street.
             * @example Avenida Insurgentes Sur
             */
            street: string;
            /**
             * @description State or province.
             * @example Ciudad de México
             */
            administrativeArea: string;
            /**
             * @description Municipality or county.
             * @example Benito Juárez
             */
            subAdministrativeArea: string;
            /**
             * @description Two-letter country code (ISO 3166). Codes may be in any case; they are stored in upper case.
             * @example MX
             */
            country: string;
            /**
             * @description Neighbourhood.
             * @example Crédito Constructor
             */
            neighborhood: string;
            /**
             * @description Kind of neighbourhood.
             * @example Suburb
             */
            neighborhoodType: string;
            /**
             * @description Postal code.
             * @example 03940
             */
            zipCode: string;
            /**
             * Format: double
             * @description Latitude in degrees.
             * @example 19.3629
             */
            lat: number;
            /**
             * Format: double
             * @description Longitude in degrees.
             * @example -99.1832
             */
            lng: number;
            /**
             * @description House number.
             * @example 1602
             */
            number: string;
            /**
             * @description Office number.
             * @example null
             */
            intNumber: string | null;
            /**
             * @description A landmark.
             * @example Next to the underground car park
             */
            reference: string;
            /**
             * @description Notes for the person who hands in a parcel.
             * @example Monday to Saturday, 09:00 to 19:00
             */
            observations: string;
        };
        /** @description The event is recorded, and its deliveries are owed. */
        RecordedEvent: {
            /**
             * @description The event: your own `eventId`, or the service's. It is the `webhook-id` of its notifications.
             * @example scan-20261121-0001
             */
            eventId: string;
        };
        /** @description The order as it was placed. */
        PlacedOrder: {
            recipientLocation: {
                /**
                 * @description Street.
                 * @example Avenida Reforma
                 */
                street: string;
                /**
                 * @description House number.
                 * @example 222
                 */
                number: string;
                /**
                 * @description State or province.
                 * @example Ciudad de México
                 */
                administrativeArea: string;
                /**
                 * @description Municipality or county.
                 * @example Cuauhtémoc
                 */
                subAdministrativeArea: string;
                /**
                 * @description Two-letter country code (ISO 3166). Codes may be in any case; they are stored in upper case.
                 * @example MX
                 */
                country: string;
                /**
                 * @description Neighbourhood.
                 * @example Juárez
                 */
                neighborhood: string;
                /**
                 * @description Postal code.
                 * @example 06600
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
                 * @description Flat or office number.
                 * @example 4B
                 */
                intNumber: string | null;
                /**
                 * Format: double
                 * @description Latitude in degrees.
                 * @example 19.427
                 */
                lat: number | null;
                /**
                 * Format: double
                 * @description Longitude in degrees.
                 * @example -99.1677
                 */
                lng: number | null;
            };
            /**
             * @description Your own identifier of the order; it need not be unique.
             * @example ORDER-1001
             */
            shipperTrackingId: string;
            /**
             * Format: date-time
             * @description When you hand in the parcel.
             * @example 2030-01-15T10:00:00+00:00
             */
            shipperDropoffDate: string;
            /**
             * Format: date-time
             * @description When the parcel should arrive.
             * @example 2030-01-17T18:00:00+00:00
             */
            expectedDeliveryDate: string;
            /**
             * @description The lot of the order.
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
                 * @description Telephone number, digits only, without `+`.
                 * @example 5512345678
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
                 * @description Type of packaging, such as `UNIT`, `BOX`, `ENVELOPE` or `PALLET`: free text, stored as sent.
                 * @example UNIT
                 */
                packageType: string;
                /**
                 * @description Contents.
                 * @example Books
                 */
                description: string;
                /**
                 * Format: double
                 * @description Value of the contents.
                 * @example 349
                 */
                contentValue: number;
                /**
                 * @description Currency of the value: an active code of ISO 4217.
                 * @example MXN
                 */
                valueCurrency: string;
                /**
                 * Format: double
                 * @description Weight.
                 * @example 1.2
                 */
                weight: number;
                /**
                 * @description Unit of the weight: `KG`, `G`, `LB`, `OZ`.
                 * @example KG
                 */
                weightUnit: string;
                /**
                 * Format: double
                 * @description Length.
                 * @example 30
                 */
                length: number;
                /**
                 * Format: double
                 * @description Width.
                 * @example 20
                 */
                width: number;
                /**
                 * Format: double
                 * @description Height.
                 * @example 10
                 */
                height: number;
                /**
                 * @description Unit of length, width and height: `CM`, `MM`, `IN`, `M`.
                 * @example CM
                 */
                dimensionsUnit: string;
                /**
                 * @description The contents in detail: any JSON, returned as sent. At most 262,144 bytes as JSON.
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
            /**
             * Format: date-time
             * @description When the order was accepted.
             * @example 2026-11-21T12:00:00+00:00
             */
            acceptedAt: string;
            /**
             * Format: date-time
             * @description When the recipient's data and the contents were erased: in their place is `ERASED` or null. Null if they were not.
             * @example null
             */
            erasedAt: string | null;
        };
        /** @description A shipment and its history. */
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
             * @description Your own identifier of the order; it need not be unique.
             * @example ORDER-1001
             */
            shipperTrackingId: string;
            /**
             * @description State now; null until the shipment is created.
             * @example CREATED
             */
            state: string | null;
            /** @description Its states, oldest first: the latest 1,000, or as many of them as fit in 1 MiB. The feed (`GET /v1/events`) has all of them. */
            history: {
                /**
                 * @description The new state.
                 * @example CREATED
                 */
                state: string;
                /**
                 * Format: int64
                 * @description When it changed, in milliseconds since 1970.
                 * @example 1795262400000
                 */
                timestamp: number;
                /**
                 * Format: double
                 * @description Null if not reported.
                 * @example null
                 */
                lat: number | null;
                /**
                 * Format: double
                 * @description Null if not reported.
                 * @example null
                 */
                lng: number | null;
                /**
                 * @description Anomalies reported with the state; null without any.
                 * @example null
                 */
                anomalies: unknown;
                /**
                 * @description Evidence reported with the state.
                 * @example []
                 */
                evidences: unknown[];
            }[];
        };
        /** @description A shipment, without its recipient. */
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
             * @description Your own identifier of the order; it need not be unique.
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
             * @description When its state last changed; until it is created, when the order was accepted.
             * @example 2026-11-21T12:00:00+00:00
             */
            updatedAt: string;
        };
        /** @description A state and those that may follow. */
        State: {
            /**
             * @description Name of the state.
             * @example CREATED
             */
            state: string;
            /**
             * @description Whether no state follows.
             * @example false
             */
            terminal: boolean;
            /**
             * @description The states that may follow.
             * @example [
             *       "PICKED_UP",
             *       "CANCELLED",
             *       "LOST"
             *     ]
             */
            next: string[];
        };
        /** @description The simulation has started. */
        Simulation: {
            /** @description The states it will go through. */
            states: ("CREATED" | "PICKED_UP" | "IN_TRANSIT" | "OUT_FOR_DELIVERY" | "DELIVERY_FAILED" | "RETURNING" | "DELIVERED" | "RETURNED" | "CANCELLED" | "LOST")[];
            /**
             * @description Milliseconds from one state to the next.
             * @example 1000
             */
            intervalMs: number;
        };
        /** @description One event owed to one webhook. */
        Delivery: {
            /**
             * Format: uuid
             * @description Identifier of the delivery: one event for one webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            deliveryId: string;
            /**
             * Format: uuid
             * @description The webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * Format: uri
             * @description Current address of the webhook, without the query.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress: string;
            /**
             * @description The event; the `webhook-id` of its notifications.
             * @example 01a1fdfa-4678-7b5c-9263-7e8f90a1b2c3
             */
            eventId: string;
            /**
             * @description The shipment; null for tests and notices.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId: string | null;
            /**
             * @description Your own identifier of the order; null for tests and notices.
             * @example ORDER-1001
             */
            shipperTrackingId: string | null;
            /**
             * @description State that it sends.
             * @example CREATED
             */
            state: string;
            /**
             * @description `PENDING` is due or waits for a retry, `SENDING` has an attempt under way, `HELD` waits for the reason in `heldBy`, `FAILED` has used up its retries or was refused by its receiver (`reason`).
             * @example SUCCEEDED
             * @enum {string}
             */
            status: "PENDING" | "SENDING" | "HELD" | "SUCCEEDED" | "FAILED" | "CANCELLED";
            /**
             * @description Why it is `HELD`: an earlier state of the shipment is still owed, the circuit of the webhook is open, the webhook is not active or called as fast as its `maxPerSecond` or its receiver allows, or the account is suspended.
             * @example null
             * @enum {string|null}
             */
            heldBy: "TURN" | "CIRCUIT" | "PAUSED" | "DISABLED" | "RATE" | "SUSPENDED" | null;
            /**
             * Format: date-time
             * @description When the wait of the circuit ends. The next probe is a delivery that is due by then, or else the next to become due, so this time may be in the past. Null unless it is `HELD` by `CIRCUIT`.
             * @example null
             */
            nextProbeAt: string | null;
            /**
             * @description Why it is `CANCELLED`: its webhook was deleted, a later state superseded it, it was owed for longer than the log is kept, or the personal data of its shipment was erased. `REFUSED`: it is `FAILED` with retries left, because the response had the header `webhook-delivery: abort-message`. Otherwise null.
             * @example null
             * @enum {string|null}
             */
            reason: "WEBHOOK_DELETED" | "SUPERSEDED" | "EXPIRED" | "ERASED" | "REFUSED" | null;
            /**
             * Format: int64
             * @description Attempts so far, including one under way.
             * @example 1
             */
            attemptCount: number;
            /** @description The last finished attempt; null if there is none. */
            lastAttempt: {
                /**
                 * Format: date-time
                 * @description When it began.
                 * @example 2026-11-21T12:00:00+00:00
                 */
                startedAt: string;
                /**
                 * Format: int64
                 * @description How long it took; null if that is not known.
                 * @example 84
                 */
                durationMs: number | null;
                /**
                 * Format: int64
                 * @description HTTP status of the response; null without one.
                 * @example 200
                 */
                statusCode: number | null;
                /**
                 * @description Why it failed; null if it succeeded. `TIMEOUT`: there was no complete response in time; `DNS`: the host has no address that may be called, or its name servers did not respond; `CONNECT`: nothing accepts connections at the address and port; `RESET`: the connection was closed before there was a response; `TLS`: the TLS handshake failed; `errorDetail` may say why; `ADDRESS_DENIED`: the target address may not be called, or not any more; `HTTP_STATUS`: the status of the response is not 2xx; redirects are not followed; `PROTOCOL`: the response is not HTTP/1.1, or the request could not be made; `LOST`: the process or thread that made the attempt ended before the outcome was known; the notification may have arrived, and is sent again unless it was a test.
                 * @example null
                 * @enum {string|null}
                 */
                errorCode: "TIMEOUT" | "DNS" | "CONNECT" | "RESET" | "TLS" | "ADDRESS_DENIED" | "HTTP_STATUS" | "PROTOCOL" | "LOST" | null;
            } | null;
            /**
             * Format: date-time
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
            /**
             * Format: date-time
             * @description When it was settled; null before that.
             * @example 2026-11-21T12:00:00+00:00
             */
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
             * @description The webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * Format: uri
             * @description Current address of the webhook, without the query.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress: string;
            /**
             * @description The event; the `webhook-id` of its notifications.
             * @example 01a1fdfa-4678-7b5c-9263-7e8f90a1b2c3
             */
            eventId: string;
            /**
             * @description The shipment; null for tests and notices.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId: string | null;
            /**
             * @description Your own identifier of the order; null for tests and notices.
             * @example ORDER-1001
             */
            shipperTrackingId: string | null;
            /**
             * @description State that it sends.
             * @example CREATED
             */
            state: string;
            /**
             * @description `PENDING` is due or waits for a retry, `SENDING` has an attempt under way, `HELD` waits for the reason in `heldBy`, `FAILED` has used up its retries or was refused by its receiver (`reason`).
             * @example SUCCEEDED
             * @enum {string}
             */
            status: "PENDING" | "SENDING" | "HELD" | "SUCCEEDED" | "FAILED" | "CANCELLED";
            /**
             * @description Why it is `HELD`: an earlier state of the shipment is still owed, the circuit of the webhook is open, the webhook is not active or called as fast as its `maxPerSecond` or its receiver allows, or the account is suspended.
             * @example null
             * @enum {string|null}
             */
            heldBy: "TURN" | "CIRCUIT" | "PAUSED" | "DISABLED" | "RATE" | "SUSPENDED" | null;
            /**
             * Format: date-time
             * @description When the wait of the circuit ends. The next probe is a delivery that is due by then, or else the next to become due, so this time may be in the past. Null unless it is `HELD` by `CIRCUIT`.
             * @example null
             */
            nextProbeAt: string | null;
            /**
             * @description Why it is `CANCELLED`: its webhook was deleted, a later state superseded it, it was owed for longer than the log is kept, or the personal data of its shipment was erased. `REFUSED`: it is `FAILED` with retries left, because the response had the header `webhook-delivery: abort-message`. Otherwise null.
             * @example null
             * @enum {string|null}
             */
            reason: "WEBHOOK_DELETED" | "SUPERSEDED" | "EXPIRED" | "ERASED" | "REFUSED" | null;
            /**
             * Format: int64
             * @description Attempts so far, including one under way.
             * @example 1
             */
            attemptCount: number;
            /** @description The last finished attempt; null if there is none. */
            lastAttempt: {
                /**
                 * Format: date-time
                 * @description When it began.
                 * @example 2026-11-21T12:00:00+00:00
                 */
                startedAt: string;
                /**
                 * Format: int64
                 * @description How long it took; null if that is not known.
                 * @example 84
                 */
                durationMs: number | null;
                /**
                 * Format: int64
                 * @description HTTP status of the response; null without one.
                 * @example 200
                 */
                statusCode: number | null;
                /**
                 * @description Why it failed; null if it succeeded. `TIMEOUT`: there was no complete response in time; `DNS`: the host has no address that may be called, or its name servers did not respond; `CONNECT`: nothing accepts connections at the address and port; `RESET`: the connection was closed before there was a response; `TLS`: the TLS handshake failed; `errorDetail` may say why; `ADDRESS_DENIED`: the target address may not be called, or not any more; `HTTP_STATUS`: the status of the response is not 2xx; redirects are not followed; `PROTOCOL`: the response is not HTTP/1.1, or the request could not be made; `LOST`: the process or thread that made the attempt ended before the outcome was known; the notification may have arrived, and is sent again unless it was a test.
                 * @example null
                 * @enum {string|null}
                 */
                errorCode: "TIMEOUT" | "DNS" | "CONNECT" | "RESET" | "TLS" | "ADDRESS_DENIED" | "HTTP_STATUS" | "PROTOCOL" | "LOST" | null;
            } | null;
            /**
             * Format: date-time
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
            /**
             * Format: date-time
             * @description When it was settled; null before that.
             * @example 2026-11-21T12:00:00+00:00
             */
            completedAt: string | null;
            /** @description The body that is sent. */
            payload: components["schemas"]["Notification"] | components["schemas"]["Notice"];
            /** @description Finished attempts, newest first, 100 per page. */
            attempts: components["schemas"]["Attempt"][];
            /**
             * @description Send it as `attemptsCursor` to get earlier attempts; null at the end.
             * @example null
             */
            nextAttemptsCursor: string | null;
        };
        /** @description A shipment entered a state. */
        Notification: {
            /**
             * @description New state of the shipment. `GET /v1/states` lists them, and the reference says what each means.
             * @example CREATED
             */
            state: string;
            /**
             * @description The same as `shipper_tracking_id`.
             * @example ORDER-1001
             */
            label_id: string;
            /**
             * @description Anomalies reported with the state; null without any.
             * @example null
             */
            anomalies: unknown;
            /**
             * @description Evidence reported with the state.
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
             * Format: int64
             * @description When the shipment entered the state, in milliseconds since 1970.
             * @example 1795262400000
             */
            timestamp: number;
            /**
             * Format: double
             * @description Latitude; null if not reported.
             * @example null
             */
            lat: number | null;
            /**
             * Format: double
             * @description Longitude; null if not reported.
             * @example null
             */
            lng: number | null;
        };
        /** @description One of your webhooks fails, has recovered, is or will be disabled, or has used up retries. */
        Notice: {
            /**
             * @description What happened to the webhook.
             * @enum {string}
             */
            state: "WEBHOOK_FAILING" | "WEBHOOK_RECOVERED" | "WEBHOOK_DISABLING" | "WEBHOOK_DISABLED" | "DELIVERY_EXHAUSTED";
            /**
             * Format: uuid
             * @description The webhook concerned.
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
             * @description `GONE`: it responded 410. `REFUSED`: it responded with `webhook-delivery: disable`. `FAILING`: nothing succeeded for 5 days, with 10 failed attempts of 3 deliveries on 2 days, or soon will not have. `CIRCUIT_OPEN`: 90 % of at least 10 attempts in a minute failed, and its circuit opened. `NO_SUCCESS`: nothing succeeded for an hour. Else null.
             * @example GONE
             * @enum {string|null}
             */
            reason: "GONE" | "REFUSED" | "FAILING" | "CIRCUIT_OPEN" | "NO_SUCCESS" | null;
            /**
             * Format: int64
             * @description When its first failure since its last success was; null if it was not failing.
             * @example 1795262400000
             */
            since: number | null;
            /**
             * Format: int64
             * @description When it is disabled at the earliest, if nothing succeeds until then; else null.
             * @example 1795262400000
             */
            disables_at: number | null;
            /**
             * Format: int64
             * @description Of `DELIVERY_EXHAUSTED`: the deliveries whose retries are used up since the last such notice; else null.
             * @example null
             */
            deliveries: number | null;
            /**
             * @description The shipments of some of these deliveries; else null.
             * @example null
             */
            tracking_ids: string[] | null;
            /**
             * Format: int64
             * @description When it happened, in milliseconds since 1970.
             * @example 1795262400000
             */
            timestamp: number;
        };
        /** @description One attempt, as in the log. */
        Attempt: {
            /**
             * Format: int64
             * @description Number of the attempt, from 1.
             * @example 1
             */
            number: number;
            /**
             * @description What caused it: the schedule, a redelivery, a test or a replay.
             * @enum {string}
             */
            trigger: "SCHEDULED" | "MANUAL" | "TEST" | "REPLAY";
            /**
             * @description The one who asked for the redelivery. Null for other attempts, and if that is not known.
             * @example null
             * @enum {string|null}
             */
            requestedBy: "SHIPPER" | "OPERATOR" | null;
            /**
             * Format: date-time
             * @description When it began.
             * @example 2026-11-21T12:00:00+00:00
             */
            startedAt: string;
            /**
             * Format: int64
             * @description How long it took; null if that is not known.
             * @example 84
             */
            durationMs: number | null;
            /**
             * Format: int64
             * @description How long the name took to resolve; 0 if it was in the cache. Null if the connection was reused, or if the address has no name. Also null if the attempt ended before it. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example 12
             */
            dnsMs: number | null;
            /**
             * Format: int64
             * @description How long the TCP connection took, through the egress proxy where there is one. Null if the connection was reused. Also null if the attempt ended before it. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example 18
             */
            connectMs: number | null;
            /**
             * Format: int64
             * @description How long the TLS handshake took. Null if the connection was reused, or for `http:`. Also null if the attempt ended before it. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example 25
             */
            tlsMs: number | null;
            /**
             * Format: int64
             * @description How long the response took to begin, from when the request was written. Also null if the attempt ended before it. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example 27
             */
            firstByteMs: number | null;
            /**
             * @description IP address of your server that the attempt went to, even if no connection was made, and even behind an egress proxy. Null if none was chosen. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example 203.0.113.7
             */
            remoteAddress: string | null;
            /** @description The time that the delivery waited before the attempt, in milliseconds, by cause: since the event was recorded for the first attempt, since it was due for any other. Null for redeliveries and tests, for a success within five seconds (unless the service runs with `LOG_DETAIL=all`), and if it is not known. */
            waitedMs: {
                /**
                 * Format: int64
                 * @description The wait for earlier states of its shipment.
                 * @example 0
                 */
                turn: number;
                /**
                 * Format: int64
                 * @description The wait for your server, which had as many attempts as it may have at once.
                 * @example 0
                 */
                receiver: number;
                /**
                 * Format: int64
                 * @description The wait while the circuit of the webhook was open.
                 * @example 0
                 */
                circuit: number;
                /**
                 * Format: int64
                 * @description The wait while the webhook was paused or disabled, or the account suspended.
                 * @example 0
                 */
                paused: number;
                /**
                 * Format: int64
                 * @description The wait for the `maxPerSecond` of the webhook, for a receiver that was overloaded, or for a host that has not agreed to more yet.
                 * @example 0
                 */
                rate: number;
                /**
                 * Format: int64
                 * @description The wait for us, while it could have been sent.
                 * @example 0
                 */
                us: number;
            } | null;
            /**
             * Format: int64
             * @description HTTP status of the response; null without one.
             * @example 200
             */
            statusCode: number | null;
            /**
             * @description Why it failed; null if it succeeded. `TIMEOUT`: there was no complete response in time; `DNS`: the host has no address that may be called, or its name servers did not respond; `CONNECT`: nothing accepts connections at the address and port; `RESET`: the connection was closed before there was a response; `TLS`: the TLS handshake failed; `errorDetail` may say why; `ADDRESS_DENIED`: the target address may not be called, or not any more; `HTTP_STATUS`: the status of the response is not 2xx; redirects are not followed; `PROTOCOL`: the response is not HTTP/1.1, or the request could not be made; `LOST`: the process or thread that made the attempt ended before the outcome was known; the notification may have arrived, and is sent again unless it was a test.
             * @example null
             * @enum {string|null}
             */
            errorCode: "TIMEOUT" | "DNS" | "CONNECT" | "RESET" | "TLS" | "ADDRESS_DENIED" | "HTTP_STATUS" | "PROTOCOL" | "LOST" | null;
            /**
             * @description More about the error; null if there is nothing to add. `EXPIRED`: with `TLS`: the certificate has expired; `SELF_SIGNED`: with `TLS`: the certificate, or the root of its chain, is self-signed; `WRONG_HOST`: with `TLS`: the certificate is for a host other than that of the address; `NOT_TLS`: with `TLS`: the port does not speak TLS, so the address may begin with `http://`; `INCOMPLETE_CHAIN`: with `TLS`: nothing leads from the certificate to a known authority; mostly, its intermediate certificates are not sent; `UNKNOWN_CA`: with `TLS`: the certificate, or its chain, is of an authority that is not publicly trusted; `OLD_TLS`: with `TLS`: the server speaks neither TLS 1.2 nor 1.3; `BAD_CERTIFICATE`: with `TLS`: the certificate is not valid yet, not for servers, signed too weakly, or one that its authority may not sign; `NO_COMMON_CIPHER`: with `TLS`: the server refused the handshake; mostly, it has no cipher, curve or kind of certificate that the service takes; `CLIENT_CERTIFICATE_REQUIRED`: with `TLS`: the server demands a client certificate, and none is sent, or it refuses the one that `GET /v1/egress` shows; `UNREACHABLE`: with `CONNECT`: no network leads to the address, or no host has it; `TOO_MANY_ADDRESSES`: with `DNS`: the host has more than 32 addresses, and none of them is called; `RESPONSE_TOO_LARGE`: with `PROTOCOL`, or beside a status: more than 64 KiB came, or 16 KiB of extensions of chunks; `MALFORMED_HEADER`: beside a status, which counts all the same: the headers after it are incomplete or not valid HTTP; `HEADERS_TOO_LARGE`: beside a status, which counts all the same: the headers after it exceed 16 KiB; `REFUSED`: with `HTTP_STATUS`: the response has `webhook-delivery: abort-message`, which ends the retries.
             * @example null
             * @enum {string|null}
             */
            errorDetail: "EXPIRED" | "SELF_SIGNED" | "WRONG_HOST" | "NOT_TLS" | "INCOMPLETE_CHAIN" | "UNKNOWN_CA" | "OLD_TLS" | "BAD_CERTIFICATE" | "NO_COMMON_CIPHER" | "CLIENT_CERTIFICATE_REQUIRED" | "UNREACHABLE" | "TOO_MANY_ADDRESSES" | "RESPONSE_TOO_LARGE" | "MALFORMED_HEADER" | "HEADERS_TOO_LARGE" | "REFUSED" | null;
            /**
             * @description The headers of the request, with names in lower case. The values of the webhook's own headers are shown as `••••`. Null if no request was sent or that is not known, or if the event was erased. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example {
             *       "host": "example.com",
             *       "content-type": "application/json",
             *       "user-agent": "Parcelhook/0.1.0",
             *       "webhook-id": "01a1fdfa-4678-7b5c-9263-7e8f90a1b2c3",
             *       "webhook-timestamp": "1795262400",
             *       "webhook-signature": "v1,AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
             *       "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
             *       "accept": "*\/*",
             *       "parcelhook-sequence": "1",
             *       "parcelhook-attempt": "1",
             *       "content-length": "195",
             *       "connection": "keep-alive"
             *     }
             */
            requestHeaders: {
                [key: string]: string;
            } | null;
            /**
             * @description The headers of the response, with names in lower case. Repeated ones are joined by commas, the values of `set-cookie` are shown as `••••`. At most 4 KiB: a header that no longer fits is left out. Null if there was no response, or if the event was erased. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example {
             *       "date": "Sat, 21 Nov 2026 12:00:00 GMT",
             *       "content-length": "2",
             *       "connection": "keep-alive"
             *     }
             */
            responseHeaders: {
                [key: string]: string;
            } | null;
            /**
             * @description First 4 KiB of the response as text.
             * @example ok
             */
            responseBody: string | null;
        };
        /** @description The attempt as in the log, whether it succeeded or not. */
        TestResult: {
            /**
             * Format: uuid
             * @description Identifier of the delivery: one event for one webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            deliveryId: string;
            /**
             * @description The event; the `webhook-id` of its notifications.
             * @example 01a1fdfa-4678-7b5c-9263-7e8f90a1b2c3
             */
            eventId: string;
            /**
             * Format: int64
             * @description Number of the attempt, from 1.
             * @example 1
             */
            number: number;
            /**
             * @description What caused it.
             * @enum {string}
             */
            trigger: "TEST";
            /**
             * @description The one who asked for the redelivery. Null for other attempts, and if that is not known.
             * @example null
             * @enum {string|null}
             */
            requestedBy: "SHIPPER" | "OPERATOR" | null;
            /**
             * Format: date-time
             * @description When it began.
             * @example 2026-11-21T12:00:00+00:00
             */
            startedAt: string;
            /**
             * Format: int64
             * @description How long it took; null if that is not known.
             * @example 84
             */
            durationMs: number | null;
            /**
             * Format: int64
             * @description How long the name took to resolve; 0 if it was in the cache. Null if the connection was reused, or if the address has no name. Also null if the attempt ended before it. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example 12
             */
            dnsMs: number | null;
            /**
             * Format: int64
             * @description How long the TCP connection took, through the egress proxy where there is one. Null if the connection was reused. Also null if the attempt ended before it. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example 18
             */
            connectMs: number | null;
            /**
             * Format: int64
             * @description How long the TLS handshake took. Null if the connection was reused, or for `http:`. Also null if the attempt ended before it. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example 25
             */
            tlsMs: number | null;
            /**
             * Format: int64
             * @description How long the response took to begin, from when the request was written. Also null if the attempt ended before it. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example 27
             */
            firstByteMs: number | null;
            /**
             * @description IP address of your server that the attempt went to, even if no connection was made, and even behind an egress proxy. Null if none was chosen. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example 203.0.113.7
             */
            remoteAddress: string | null;
            /** @description The time that the delivery waited before the attempt, in milliseconds, by cause: since the event was recorded for the first attempt, since it was due for any other. Null for redeliveries and tests, for a success within five seconds (unless the service runs with `LOG_DETAIL=all`), and if it is not known. */
            waitedMs: {
                /**
                 * Format: int64
                 * @description The wait for earlier states of its shipment.
                 * @example 0
                 */
                turn: number;
                /**
                 * Format: int64
                 * @description The wait for your server, which had as many attempts as it may have at once.
                 * @example 0
                 */
                receiver: number;
                /**
                 * Format: int64
                 * @description The wait while the circuit of the webhook was open.
                 * @example 0
                 */
                circuit: number;
                /**
                 * Format: int64
                 * @description The wait while the webhook was paused or disabled, or the account suspended.
                 * @example 0
                 */
                paused: number;
                /**
                 * Format: int64
                 * @description The wait for the `maxPerSecond` of the webhook, for a receiver that was overloaded, or for a host that has not agreed to more yet.
                 * @example 0
                 */
                rate: number;
                /**
                 * Format: int64
                 * @description The wait for us, while it could have been sent.
                 * @example 0
                 */
                us: number;
            } | null;
            /**
             * Format: int64
             * @description HTTP status of the response; null without one.
             * @example 200
             */
            statusCode: number | null;
            /**
             * @description Why it failed; null if it succeeded. `TIMEOUT`: there was no complete response in time; `DNS`: the host has no address that may be called, or its name servers did not respond; `CONNECT`: nothing accepts connections at the address and port; `RESET`: the connection was closed before there was a response; `TLS`: the TLS handshake failed; `errorDetail` may say why; `ADDRESS_DENIED`: the target address may not be called, or not any more; `HTTP_STATUS`: the status of the response is not 2xx; redirects are not followed; `PROTOCOL`: the response is not HTTP/1.1, or the request could not be made; `LOST`: the process or thread that made the attempt ended before the outcome was known; the notification may have arrived, and is sent again unless it was a test.
             * @example null
             * @enum {string|null}
             */
            errorCode: "TIMEOUT" | "DNS" | "CONNECT" | "RESET" | "TLS" | "ADDRESS_DENIED" | "HTTP_STATUS" | "PROTOCOL" | "LOST" | null;
            /**
             * @description More about the error; null if there is nothing to add. `EXPIRED`: with `TLS`: the certificate has expired; `SELF_SIGNED`: with `TLS`: the certificate, or the root of its chain, is self-signed; `WRONG_HOST`: with `TLS`: the certificate is for a host other than that of the address; `NOT_TLS`: with `TLS`: the port does not speak TLS, so the address may begin with `http://`; `INCOMPLETE_CHAIN`: with `TLS`: nothing leads from the certificate to a known authority; mostly, its intermediate certificates are not sent; `UNKNOWN_CA`: with `TLS`: the certificate, or its chain, is of an authority that is not publicly trusted; `OLD_TLS`: with `TLS`: the server speaks neither TLS 1.2 nor 1.3; `BAD_CERTIFICATE`: with `TLS`: the certificate is not valid yet, not for servers, signed too weakly, or one that its authority may not sign; `NO_COMMON_CIPHER`: with `TLS`: the server refused the handshake; mostly, it has no cipher, curve or kind of certificate that the service takes; `CLIENT_CERTIFICATE_REQUIRED`: with `TLS`: the server demands a client certificate, and none is sent, or it refuses the one that `GET /v1/egress` shows; `UNREACHABLE`: with `CONNECT`: no network leads to the address, or no host has it; `TOO_MANY_ADDRESSES`: with `DNS`: the host has more than 32 addresses, and none of them is called; `RESPONSE_TOO_LARGE`: with `PROTOCOL`, or beside a status: more than 64 KiB came, or 16 KiB of extensions of chunks; `MALFORMED_HEADER`: beside a status, which counts all the same: the headers after it are incomplete or not valid HTTP; `HEADERS_TOO_LARGE`: beside a status, which counts all the same: the headers after it exceed 16 KiB; `REFUSED`: with `HTTP_STATUS`: the response has `webhook-delivery: abort-message`, which ends the retries.
             * @example null
             * @enum {string|null}
             */
            errorDetail: "EXPIRED" | "SELF_SIGNED" | "WRONG_HOST" | "NOT_TLS" | "INCOMPLETE_CHAIN" | "UNKNOWN_CA" | "OLD_TLS" | "BAD_CERTIFICATE" | "NO_COMMON_CIPHER" | "CLIENT_CERTIFICATE_REQUIRED" | "UNREACHABLE" | "TOO_MANY_ADDRESSES" | "RESPONSE_TOO_LARGE" | "MALFORMED_HEADER" | "HEADERS_TOO_LARGE" | "REFUSED" | null;
            /**
             * @description The headers of the request, with names in lower case. The values of the webhook's own headers are shown as `••••`. Null if no request was sent or that is not known, or if the event was erased. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example {
             *       "host": "example.com",
             *       "content-type": "application/json",
             *       "user-agent": "Parcelhook/0.1.0",
             *       "webhook-id": "01a1fdfa-4678-7b5c-9263-7e8f90a1b2c3",
             *       "webhook-timestamp": "1795262400",
             *       "webhook-signature": "v1,AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
             *       "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
             *       "accept": "*\/*",
             *       "parcelhook-sequence": "1",
             *       "parcelhook-attempt": "1",
             *       "content-length": "195",
             *       "connection": "keep-alive"
             *     }
             */
            requestHeaders: {
                [key: string]: string;
            } | null;
            /**
             * @description The headers of the response, with names in lower case. Repeated ones are joined by commas, the values of `set-cookie` are shown as `••••`. At most 4 KiB: a header that no longer fits is left out. Null if there was no response, or if the event was erased. Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.
             * @example {
             *       "date": "Sat, 21 Nov 2026 12:00:00 GMT",
             *       "content-length": "2",
             *       "connection": "keep-alive"
             *     }
             */
            responseHeaders: {
                [key: string]: string;
            } | null;
            /**
             * @description First 4 KiB of the response as text.
             * @example ok
             */
            responseBody: string | null;
        };
        /** @description What to send again. */
        ReplayRange: {
            /**
             * @description Start of the span. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
             * @example 2026-11-20T00:00:00Z
             */
            from: string | number;
            /**
             * @description End of the span. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
             * @example 2026-11-21T12:00:00Z
             */
            to: string | number;
            /**
             * @description Only deliveries with this status now. `NEVER_ATTEMPTED`: events without a delivery, and deliveries without an attempt that are held because the webhook is not called. Without it, all that was missed.
             * @enum {string}
             */
            status?: "FAILED" | "HELD" | "PENDING" | "NEVER_ATTEMPTED";
            /**
             * @description The service's identifier of the shipment.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId?: string;
        };
        /** @description The replay has begun. It sends as fast as the receiver accepts. */
        Replay: {
            /**
             * Format: int64
             * @description Deliveries it will send, counted now; null if they are not counted yet, for example because the span has 10,000 events or more.
             * @example 12
             */
            queued: number | null;
            /**
             * @description Why `queued` is 0: nothing was recorded in that span, nothing that the webhook is interested in, everything succeeded or is on its way, the log no longer holds that span, or what is left of it was erased, or is parked (`parkedSince` of the webhook) and is sent without a replay as soon as the webhook is called again, or has another status than the requested one. Null if `queued` is not 0.
             * @example null
             * @enum {string|null}
             */
            reason: "NOTHING_RECORDED" | "NO_INTEREST" | "ALL_SUCCEEDED" | "EXPIRED" | "ERASED" | "PARKED" | "OTHER_STATUS" | null;
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
             * @description The webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * @description `DONE` once all its deliveries are settled.
             * @enum {string}
             */
            status: "RUNNING" | "DONE" | "CANCELLED";
            /**
             * Format: int64
             * @description Its deliveries that are settled: succeeded, failed or cancelled.
             * @example 7
             */
            done: number;
            /**
             * Format: int64
             * @description Deliveries to send; null until all are found.
             * @example 12
             */
            total: number | null;
            /**
             * Format: date-time
             * @description Start of the span, as requested.
             * @example 2026-11-21T12:00:00+00:00
             */
            from: string;
            /**
             * Format: date-time
             * @description End of the span, as requested.
             * @example 2026-11-21T12:00:00+00:00
             */
            to: string;
            /**
             * @description The requested `status`; null for all.
             * @example null
             * @enum {string|null}
             */
            deliveryStatus: "FAILED" | "HELD" | "PENDING" | "NEVER_ATTEMPTED" | null;
            /**
             * @description The requested shipment; null for all.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId: string | null;
            /**
             * @description The one who requested it.
             * @enum {string}
             */
            requestedBy: "SHIPPER" | "OPERATOR";
            /**
             * Format: date-time
             * @description When it was requested.
             * @example 2026-11-21T12:00:00+00:00
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it ended; null before that.
             * @example 2026-11-21T12:00:00+00:00
             */
            finishedAt: string | null;
        };
        ShipmentEvent: {
            /**
             * @description The service's identifier of the shipment.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId: string;
            /**
             * @description The new state of the shipment.
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
             * Format: int64
             * @description When it happened, in milliseconds since 1970, not seconds. Default: now.
             * @example 1795262400000
             */
            timestamp?: number;
            /**
             * Format: double
             * @description Latitude in degrees.
             * @example 19.427
             */
            lat?: number | null;
            /**
             * Format: double
             * @description Longitude in degrees.
             * @example -99.1677
             */
            lng?: number | null;
            /**
             * @description Passed on unchanged. At most 16,384 bytes as JSON.
             * @example null
             */
            anomalies?: unknown;
            /**
             * @description Passed on unchanged. At most 16,384 bytes as JSON.
             * @example []
             */
            evidences?: unknown[];
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
                /** @description Every invalid field or parameter. */
                details?: components["schemas"]["WrongField"][];
            };
        };
        /** @description The webhook. */
        OperatedWebhook: {
            /**
             * Format: uuid
             * @description Identifier of the webhook.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            webhookId: string;
            /**
             * Format: uuid
             * @description Its shipper.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipperId: string;
            /**
             * @description The name by which your programs find the webhook; null for none.
             * @example null
             */
            name: string | null;
            /**
             * Format: uri
             * @description Where notifications are sent, without the query.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress: string;
            /**
             * @description What a `PAUSED` or `DISABLED` webhook misses is held and sent once it is `ACTIVE` again. The service disables a webhook that fails for days, responds 410, or asks for it (`webhook-delivery: disable`).
             * @enum {string}
             */
            status: "ACTIVE" | "PAUSED" | "DISABLED";
            /**
             * @description Why it is `DISABLED`: it responded with 410 (`GONE`) or with the header `webhook-delivery: disable` (`REFUSED`), or nothing succeeded for 5 days, with 10 failed attempts of 3 deliveries on 2 days (`FAILING`).
             * @example null
             * @enum {string|null}
             */
            disabledReason: "GONE" | "REFUSED" | "FAILING" | null;
            /**
             * @description `OPERATOR`: the operator of the service has paused it, and only the operator can resume it. Else null.
             * @example null
             * @enum {string|null}
             */
            pausedBy: "OPERATOR" | null;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-21T12:00:00+00:00
             */
            updatedAt: string;
        };
        /** @description A webhook that may need attention. */
        TopWebhook: {
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
            /**
             * @description The name of its shipper.
             * @example Acme
             */
            shipperName: string;
            /**
             * @description The name by which your programs find the webhook; null for none.
             * @example null
             */
            name: string | null;
            /**
             * Format: uri
             * @description Where notifications are sent, without the query.
             * @example https://example.com/hooks/parcelhook
             */
            targetAddress: string;
            /**
             * @description Its status.
             * @example ACTIVE
             * @enum {string}
             */
            status: "ACTIVE" | "PAUSED" | "DISABLED";
            /**
             * @description `OPEN`: it failed too often, and is only probed.
             * @example OPEN
             * @enum {string}
             */
            circuit: "CLOSED" | "OPEN";
            /**
             * @description Why it is not called; null if it is.
             * @example CIRCUIT
             * @enum {string|null}
             */
            heldBy: "CIRCUIT" | "PAUSED" | "DISABLED" | "SUSPENDED" | null;
            /**
             * Format: date-time
             * @description Its first failure since its last success; null if there is none.
             * @example null
             */
            failingSince: string | null;
            /**
             * Format: int64
             * @description Deliveries owed to it.
             * @example 120
             */
            pendingCount: number;
            /**
             * @description Whether it is owed more than were counted.
             * @example false
             */
            isMore: boolean;
            /**
             * Format: double
             * @description Share of failed attempts in the current hour and the one before it; null without any.
             * @example 1
             */
            failureRate: number | null;
            /**
             * Format: int64
             * @description What 95 % of the attempts did not exceed, in the current hour or the one before it, whichever had more; null without any.
             * @example 15000
             */
            p95Ms: number | null;
        };
        /** @description How the service is doing. */
        Status: {
            /** @description The processes that were seen within the last hour, by role, at most 200. A process that stops in good order leaves the list at once. */
            processes?: components["schemas"]["Process"][];
            /** @description The deliveries owed: those that wait for the service, and those that wait for others. */
            backlog?: {
                /**
                 * Format: int64
                 * @description Deliveries that wait for the service; counted up to 10,000 in all.
                 * @example 0
                 */
                sendable: number;
                /**
                 * Format: int64
                 * @description How long the oldest of them has been sendable.
                 * @example 0
                 */
                oldestSendableSeconds: number;
                /**
                 * Format: int64
                 * @description Deliveries that are being sent.
                 * @example 3
                 */
                sending: number;
                /**
                 * @description Deliveries that wait for others, by cause: `receiver` (it has as many attempts as it may), `turn`, `retry`, `circuit`, `paused`, `disabled`, `suspended`.
                 * @example {
                 *       "receiver": 12,
                 *       "turn": 0,
                 *       "retry": 4,
                 *       "circuit": 0,
                 *       "paused": 0,
                 *       "disabled": 0,
                 *       "suspended": 0
                 *     }
                 */
                waiting: {
                    [key: string]: number;
                };
            };
            /**
             * @description The parts that could not be read, and why. They are left out.
             * @example {}
             */
            unread: {
                [key: string]: string;
            };
            /**
             * @description Jobs by queue and state, or why a queue could not be read.
             * @example {
             *       "creation": {
             *         "waiting": 0,
             *         "active": 1,
             *         "delayed": 0
             *       }
             *     }
             */
            queues?: {
                [key: string]: components["schemas"]["QueueStatus"];
            };
            lag?: {
                /**
                 * Format: int64
                 * @description Orders whose shipment is not created yet; counted up to 10,000.
                 * @example 0
                 */
                ordersToCreate: number;
                /**
                 * Format: int64
                 * @description Deliveries that are due; counted up to 10,000.
                 * @example 0
                 */
                deliveriesDue: number;
                /**
                 * Format: int64
                 * @description How long the oldest of them has been due.
                 * @example 0
                 */
                oldestDueSeconds: number;
            };
            /** @description Deliveries owed to webhooks that are not called: paused, disabled, with an open circuit, or of a suspended shipper. */
            uncalled?: {
                /**
                 * Format: int64
                 * @description Deliveries owed; counted up to 200,000 in total, up to the same number for each webhook.
                 * @example 12
                 */
                deliveries: number;
                /**
                 * @description Whether there are more deliveries than were counted.
                 * @example false
                 */
                isMore: boolean;
                /**
                 * Format: int64
                 * @description Webhooks to which they are owed.
                 * @example 1
                 */
                webhooks: number;
                /** @description The shippers that are owed the most, at most 10. */
                shippers: components["schemas"]["UncalledOfShipper"][];
            };
            /** @description The bytes that shippers have stored today, and their limit. */
            storedBytes?: {
                /**
                 * Format: int64
                 * @description `STORED_BYTES_PER_DAY`; 0: no limit.
                 * @example 1073741824
                 */
                limit: number;
                /** @description The shippers that have stored the most today (UTC), at most 10. */
                shippers: components["schemas"]["StoredBytesOfShipper"][];
            };
            /**
             * Format: int64
             * @description Webhooks whose circuit is open.
             * @example 1
             */
            openCircuits?: number;
            /** @description Those webhooks, at most 100; the last to begin failing comes first. */
            circuits?: components["schemas"]["OpenCircuit"][];
            /** @description Processes whose clocks differ from PostgreSQL's by more than 30 s, at most 100; the worst come first. */
            clocks?: components["schemas"]["WrongClock"][];
            /** @description Running replays, and the newest finished ones. */
            replays?: components["schemas"]["ReplayProgress"][];
            versions: {
                /**
                 * @description Version of the service.
                 * @example 0.1.0
                 */
                parcelhook: string;
                /**
                 * @description Version of Node.
                 * @example 24.11.0
                 */
                node: string;
                /**
                 * @description Version of PostgreSQL; null if it could not be read.
                 * @example 18.0
                 */
                postgres: string | null;
                /**
                 * @description The store behind the queue.
                 * @enum {string}
                 */
                queueEngine: "redis" | "postgres";
            };
        };
        /** @description A process of the service. */
        Process: {
            /**
             * @description Its role.
             * @example worker
             */
            role: string;
            /**
             * @description Name of the machine or the container.
             * @example worker-2
             */
            host: string;
            /**
             * @description Version of the service.
             * @example 0.1.0
             */
            version: string;
            /**
             * @description The commit that it was built from; null if that is not known.
             * @example 3e0e04b7d1c2
             */
            commit: string | null;
            /**
             * Format: date-time
             * @description When it started.
             * @example 2026-11-21T12:00:00+00:00
             */
            startedAt: string;
            /**
             * Format: date-time
             * @description When it was last seen.
             * @example 2026-11-21T12:00:00+00:00
             */
            seenAt: string;
            /**
             * @description Whether it was seen less than 90 s ago.
             * @example true
             */
            isAlive: boolean;
        };
        /** @description The jobs of a queue by state, or an error. */
        QueueStatus: {
            /**
             * Format: int64
             * @description Jobs that are waiting.
             * @example 0
             */
            waiting?: number;
            /**
             * Format: int64
             * @description Jobs that are active.
             * @example 0
             */
            active?: number;
            /**
             * Format: int64
             * @description Jobs that are delayed.
             * @example 0
             */
            delayed?: number;
            /**
             * @description Why it could not be read.
             * @example ECONNREFUSED
             */
            error?: string;
        };
        /** @description Deliveries owed to webhooks of a shipper that are not called. */
        UncalledOfShipper: {
            /**
             * Format: uuid
             * @description The shipper.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipperId: string;
            /**
             * @description Its name.
             * @example Acme
             */
            name: string;
            /**
             * Format: int64
             * @description Deliveries owed; counted up to 200,000 in total, up to the same number for each webhook.
             * @example 12
             */
            deliveries: number;
            /**
             * @description Whether there are more deliveries than were counted.
             * @example false
             */
            isMore: boolean;
            /**
             * Format: int64
             * @description Webhooks to which they are owed.
             * @example 1
             */
            webhooks: number;
        };
        /** @description The bytes stored for a shipper today. */
        StoredBytesOfShipper: {
            /**
             * Format: uuid
             * @description The shipper.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipperId: string;
            /**
             * @description Its name.
             * @example Acme
             */
            name: string;
            /**
             * Format: int64
             * @description Bytes of its orders, events and responses that were stored today (UTC).
             * @example 52428800
             */
            bytes: number;
            /**
             * @description Whether its orders are refused.
             * @example false
             */
            isLimited: boolean;
        };
        /** @description A webhook whose circuit is open. */
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
            /**
             * Format: date-time
             * @description Its first failure since its last success; null if an attempt that began earlier has succeeded since.
             * @example 2026-11-21T12:00:00+00:00
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * @description When the wait of the circuit ends. The next probe is a delivery that is due by then, or else the next to become due, so this time may be in the past.
             * @example 2026-11-21T12:00:30+00:00
             */
            nextProbeAt: string;
        };
        /** @description A process whose clock is wrong. */
        WrongClock: {
            /**
             * @description Name of the machine or the container.
             * @example worker-2
             */
            host: string;
            /**
             * @description Role of the process.
             * @example worker
             */
            role: string;
            /**
             * Format: double
             * @description How far it is ahead; negative if it is behind.
             * @example 600
             */
            aheadSeconds: number;
            /**
             * Format: date-time
             * @description When it was last seen so.
             * @example 2026-11-21T12:00:00+00:00
             */
            seenAt: string;
        };
        /** @description The shipment, without personal data. */
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
             * @description When its personal data was first erased.
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
            /**
             * Format: uuid
             * @description Its shipment; null if the notification belongs to none.
             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
             */
            shipmentId: string | null;
            /**
             * @description The trackingId of its shipment, or null.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId: string | null;
            /**
             * Format: int64
             * @description The event's number among those of its shipment.
             * @example 1
             */
            sequence: number;
            /**
             * @description The state it reports.
             * @example CREATED
             */
            state: string;
            /**
             * Format: date-time
             * @description The time of this explanation, by PostgreSQL's clock.
             * @example 2026-11-21T12:05:00+00:00
             */
            asOf: string;
            /**
             * @description Where it is: owed, finished, or in neither, though its event and webhook exist.
             * @enum {string}
             */
            place: "OUTBOX" | "LOG" | "NOWHERE";
            /**
             * @description Its status in the outbox or the log.
             * @enum {string|null}
             */
            status: "READY" | "SENDING" | "RETRY" | "SUCCEEDED" | "FAILED" | "CANCELLED" | null;
            /**
             * @description Why it was cancelled; else null.
             * @example null
             */
            reason: string | null;
            /**
             * Format: int64
             * @description Attempts begun.
             * @example 0
             */
            attemptCount: number;
            /**
             * Format: int64
             * @description Scheduled attempts that failed, while it is owed.
             * @example 0
             */
            failureCount: number;
            /**
             * Format: date-time
             * @description When its next attempt may begin; null while it waits its turn.
             * @example 2026-11-21T12:00:00+00:00
             */
            dueAt: string | null;
            /**
             * Format: date-time
             * @description When it was finished; null before that.
             * @example null
             */
            completedAt: string | null;
            /** @description What keeps it from being sent. Every reason has to end. */
            waitsFor: components["schemas"]["DeliveryWait"][];
            /** @description The earlier state of the shipment that blocks it. */
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
                 * Format: int64
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
            /** @description The last finished attempt. */
            lastAttempt: {
                /**
                 * Format: int64
                 * @description Its number.
                 * @example 1
                 */
                number: number;
                /**
                 * Format: date-time
                 * @description When it began.
                 * @example 2026-11-21T12:00:00+00:00
                 */
                startedAt: string;
                /**
                 * Format: int64
                 * @description HTTP status of the response; null without one.
                 * @example 503
                 */
                statusCode: number | null;
                /**
                 * @description Why it failed; null if it succeeded.
                 * @example HTTP_STATUS
                 */
                errorCode: string | null;
                /** @description The time that the delivery waited before the attempt, in milliseconds, by cause: since the event was recorded for the first attempt, since it was due for any other. Null for redeliveries and tests, for a success within five seconds (unless the service runs with `LOG_DETAIL=all`), and if it is not known. */
                waitedMs: {
                    /**
                     * Format: int64
                     * @description The wait for earlier states of its shipment.
                     * @example 0
                     */
                    turn: number;
                    /**
                     * Format: int64
                     * @description The wait for your server, which had as many attempts as it may have at once.
                     * @example 0
                     */
                    receiver: number;
                    /**
                     * Format: int64
                     * @description The wait while the circuit of the webhook was open.
                     * @example 0
                     */
                    circuit: number;
                    /**
                     * Format: int64
                     * @description The wait while the webhook was paused or disabled, or the account suspended.
                     * @example 0
                     */
                    paused: number;
                    /**
                     * Format: int64
                     * @description The wait for the `maxPerSecond` of the webhook, for a receiver that was overloaded, or for a host that has not agreed to more yet.
                     * @example 0
                     */
                    rate: number;
                    /**
                     * Format: int64
                     * @description The wait for us, while it could have been sent.
                     * @example 0
                     */
                    us: number;
                } | null;
            } | null;
            /** @description The current attempt. */
            claim: {
                /**
                 * Format: int64
                 * @description The number of the attempt.
                 * @example 1
                 */
                attempt: number;
                /**
                 * @description Whether the attempt was requested by hand.
                 * @example false
                 */
                isByHand: boolean;
                /**
                 * Format: date-time
                 * @description When the claim of its worker expires.
                 * @example 2026-11-21T12:00:00+00:00
                 */
                leaseUntil: string | null;
                /**
                 * @description Whether that time has passed.
                 * @example false
                 */
                hasLapsed: boolean;
            } | null;
            /**
             * Format: date-time
             * @description When an attempt by hand was requested, if it has not been made yet.
             * @example null
             */
            redeliveryRequestedAt: string | null;
            /**
             * @description The same in words.
             * @example Its webhook is paused.
             */
            why: string;
            /**
             * @description What happens next, and who does it.
             * @example It continues when the shipper sets the webhook to ACTIVE.
             */
            next: string;
        };
        /** @description What keeps a delivery from being sent. */
        DeliveryWait: {
            /**
             * @description What it waits for.
             * @example PAUSED
             * @enum {string}
             */
            reason: "DELETED" | "SUSPENDED" | "PAUSED" | "DISABLED" | "REPLAY_CANCELLED" | "CIRCUIT" | "TURN" | "RETRY" | "LIMIT" | "RATE" | "ROOM" | "LEASE" | "PARKED";
            /**
             * Format: date-time
             * @description When the reason ends, if known.
             * @example null
             */
            until: string | null;
        };
        /** @description The result of sealing all secrets with the current key. */
        ResealedSecrets: {
            /**
             * Format: int64
             * @description Webhooks whose secrets, headers or query were sealed with another key, and are now sealed with the current one.
             * @example 42
             */
            resealed: number;
            /**
             * Format: int64
             * @description Webhooks with something that neither key can open.
             * @example 0
             */
            unreadable: number;
        };
        /** @description The feed was renewed. */
        RenewedFeed: {
            /**
             * Format: date-time
             * @description Since then, earlier cursors are refused with 400.
             * @example 2026-11-21T12:00:00+00:00
             */
            renewedAt: string;
        };
        /** @description A state change of a shipment. */
        FeedEvent: {
            /**
             * @description Identifier of the event; the `webhook-id` of its notifications.
             * @example 01a1fdfa-4678-7b5c-9263-7e8f90a1b2c3
             */
            eventId: string;
            /**
             * Format: int64
             * @description Number of the event within its shipment, from 1.
             * @example 1
             */
            sequence: number;
            /**
             * @description The service's identifier of the shipment.
             * @example PH1M7YZMHG0R8EB1NC38
             */
            trackingId: string;
            /**
             * @description The new state of the shipment.
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
        PasswordChoice: {
            /**
             * @description Token of the link.
             * @example Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms
             */
            token: string;
            /**
             * @description New password.
             * @example correct horse battery staple
             */
            password: string;
        };
        AddressConfirmation: {
            /**
             * @description Token of the link.
             * @example Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms
             */
            token: string;
        };
        SupportOpening: {
            /**
             * @description Token of the link.
             * @example Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms
             */
            token: string;
        };
        /** @description The process is alive. */
        Health: {
            /**
             * @description The process is alive.
             * @enum {string}
             */
            status: "OK";
        };
        /** @description The dependencies of the process, as of the last second. */
        Readiness: {
            /**
             * @description Whether the process is ready for work.
             * @enum {string}
             */
            status: "OK" | "UNAVAILABLE";
            /**
             * @description `OK` or the failure of each dependency, with the reason if the request has an operator token that may read. Some dependencies may fail without making the process unready.
             * @example {
             *       "postgres": "OK",
             *       "queue": "OK"
             *     }
             */
            checks: {
                [key: string]: string;
            };
        };
    };
    responses: {
        /** @description A body, parameter or header is invalid, or the endpoint has no such query parameter; `error.details` names every wrong field. */
        InvalidRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The key, the credentials or the token is missing, wrong, expired or revoked. The message says what is missing or malformed, never which part is wrong. Log in again. */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The token is valid, but the key is another shipper's, the account is suspended, or a program's or the operator's token does not allow it. Or the request has the portal's cookie, but does not come from a page of the service. */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description It does not exist, or it belongs to another shipper. */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The path exists, but does not accept this method; `Allow` lists those that it accepts. */
        MethodNotAllowed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The request is valid, but conflicts with the current state. */
        Conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The body is larger than 256 KiB. */
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
        /** @description Too many requests: wait as long as `Retry-After` says. */
        TooManyRequests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The database is out of reach; nothing was accepted, unless `message` says that the outcome is unknown. Send the request again after `Retry-After`, an order with its `Idempotency-Key`. */
        Unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description Any other failure, such as an internal error (500), has the same format. */
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
            /** @description A token and its lifetime. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
    getSession: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Set by the browser: the request comes from a page of this service.
                 * @example same-origin
                 */
                "Sec-Fetch-Site": "same-origin";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user who is logged in to the portal. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Session"] | null;
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            403: components["responses"]["Forbidden"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    createSession: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Set by the browser: the request comes from a page of this service.
                 * @example same-origin
                 */
                "Sec-Fetch-Site": "same-origin";
                /**
                 * @description Proves that a page of this service sends the request: other sites cannot set this header.
                 * @example 1
                 */
                "Parcelhook-Csrf": "1";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionCredentials"];
            };
        };
        responses: {
            /** @description The user who is logged in to the portal. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "CREATED";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Session"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Set by the browser: the request comes from a page of this service.
                 * @example same-origin
                 */
                "Sec-Fetch-Site": "same-origin";
                /**
                 * @description Proves that a page of this service sends the request: other sites cannot set this header.
                 * @example 1
                 */
                "Parcelhook-Csrf": "1";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended, or there was none. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The session has ended, or there was none. */
                        data: Record<string, never>;
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            403: components["responses"]["Forbidden"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    requestPasswordLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordLinkRequest"];
            };
        };
        responses: {
            /** @description The same whether there is such a user or not. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The same whether there is such a user or not. */
                        data: Record<string, never>;
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listOwnUsers: {
        parameters: {
            query?: {
                /**
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the previous page.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Users of the shipper, in order of registration. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Users of the shipper, in order of registration. */
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
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listOwnAudit: {
        parameters: {
            query?: {
                /**
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the previous page.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                cursor?: string;
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            /** @description The password is set. The session that asked for it goes on, with another cookie. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The password is set. The session that asked for it goes on, with another cookie. */
                        data: Record<string, never>;
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Too many requests, or too many logins: the limits of login apply. */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sessions that have not ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Sessions that have not ended. */
                        data: {
                            sessions: components["schemas"]["ListedSession"][];
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
    endSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All sessions and access tokens of the user have ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description All sessions and access tokens of the user have ended. */
                        data: Record<string, never>;
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
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The session.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The session has ended. */
                        data: Record<string, never>;
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
    listTokens: {
        parameters: {
            query?: {
                /**
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the previous page.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tokens in the order in which they were made. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Tokens in the order in which they were made. */
                        data: {
                            tokens: components["schemas"]["ProgramToken"][];
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
    createToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenRegistration"];
            };
        };
        responses: {
            /** @description The token, which is shown only here. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "CREATED";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["CreatedToken"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description You have 50 tokens, none of which has expired. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Too many requests, or 200 tokens were made within an hour. */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The token.
                 * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                 */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token is revoked. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The token is revoked. */
                        data: {
                            /**
                             * Format: uuid
                             * @description Identifier of the token.
                             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                             */
                            tokenId: string;
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
    listShippers: {
        parameters: {
            query?: {
                /**
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the previous page.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                cursor?: string;
                /** @description Only shippers with this status. */
                status?: "ACTIVE" | "SUSPENDED" | "REMOVED";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Shippers, in order of registration. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Shippers, in order of registration. */
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
                     * @example Acme
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "CREATED";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Shipper"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
                 * @example 01a19b7c-a680-7d2e-8f30-4b5c6d7e8f90
                 */
                shipperId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The shipper is removed: no request is accepted and no attempt starts from now on. Its data is deleted step by step. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The shipper is removed: no request is accepted and no attempt starts from now on. Its data is deleted step by step. */
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
                 * @example 01a19b7c-a680-7d2e-8f30-4b5c6d7e8f90
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
                     * @example Acme
                     */
                    name?: string;
                    /**
                     * @description `SUSPENDED`: its requests get 403 and its deliveries are held. `ACTIVE`: what was held is sent.
                     * @enum {string}
                     */
                    status?: "ACTIVE" | "SUSPENDED";
                    /**
                     * @description Its API requests per second, averaged over 10 s; null: `API_RATE_LIMIT`.
                     * @example null
                     */
                    rateLimit?: number | null;
                    /**
                     * @description Its attempts in flight in each worker; null: no limit of its own.
                     * @example null
                     */
                    maxConcurrency?: number | null;
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["ShipperAccount"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
                 * @example 01a19b7c-a680-7d2e-8f30-4b5c6d7e8f90
                 */
                shipperId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description How long the previous key stays valid, up to 30d.
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["RotatedAccountKey"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
    createPortalLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The shipper.
                 * @example 01a19b7c-a680-7d2e-8f30-4b5c6d7e8f90
                 */
                shipperId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The link, which opens the shipper's portal. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "CREATED";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["PortalLink"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the previous page.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The shipper.
                 * @example 01a19b7c-a680-7d2e-8f30-4b5c6d7e8f90
                 */
                shipperId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Users of the shipper, in order of registration. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Users of the shipper, in order of registration. */
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
                 * @example 01a19b7c-a680-7d2e-8f30-4b5c6d7e8f90
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
                     * @example you@example.com
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "CREATED";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["User"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The shipper already has a user with this e-mail address. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
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
                 * @example 01a19b81-3a60-7e3f-9041-5c6d7e8f90a1
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "CREATED";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The link. */
                        data: {
                            /**
                             * Format: uri
                             * @description Give it to the user. It is good for one use, within 24 hours.
                             * @example https://parcelhook.example.com/set-password?token=Zm9yLXRoZS1kb2N1bWVudC1vbmx5LW5vdC1hLWxpbms
                             */
                            setPasswordUrl: string;
                        };
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
    removeUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The user.
                 * @example 01a19b81-3a60-7e3f-9041-5c6d7e8f90a1
                 */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: every token of the user is refused within 10 seconds. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Done: every token of the user is refused within 10 seconds. */
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
                 * @example 01a19b81-3a60-7e3f-9041-5c6d7e8f90a1
                 */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: every token of the user is refused within 10 seconds. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Done: every token of the user is refused within 10 seconds. */
                        data: {
                            /**
                             * Format: uuid
                             * @description Identifier of the user.
                             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                             */
                            userId: string;
                        };
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the previous page.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                cursor?: string;
                /**
                 * @description Only about this shipper.
                 * @example 01a19b7c-a680-7d2e-8f30-4b5c6d7e8f90
                 */
                shipperId?: string;
                /**
                 * @description Only about this user.
                 * @example 01a19b81-3a60-7e3f-9041-5c6d7e8f90a1
                 */
                userId?: string;
                /**
                 * @description Only about this webhook.
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
                 */
                webhookId?: string;
                /**
                 * @description Only what this operator (by name), user or token (by id) did.
                 * @example operator
                 */
                actor?: string;
                /** @description Only this action. */
                action?: "SHIPPER_CREATED" | "SHIPPER_RENAMED" | "SHIPPER_SUSPENDED" | "SHIPPER_RESUMED" | "SHIPPER_LIMITED" | "SHIPPER_REMOVED" | "ACCOUNT_KEY_ROTATED" | "USER_CREATED" | "USER_REMOVED" | "USER_SIGNED_OUT" | "SESSION_ENDED" | "PASSWORD_LINK_CREATED" | "PASSWORD_SET" | "SUPPORT_LINK_CREATED" | "SUPPORT_LINK_OPENED" | "TOKEN_CREATED" | "TOKEN_REVOKED" | "WEBHOOK_CREATED" | "WEBHOOK_UPDATED" | "WEBHOOK_PAUSED" | "WEBHOOK_RESUMED" | "WEBHOOK_DISABLED" | "WEBHOOK_DELETED" | "WEBHOOK_SECRET_ROTATED" | "WEBHOOK_SECRETS_ENDED" | "REPLAY_REQUESTED" | "REPLAY_CANCELLED" | "SHIPMENT_ERASED" | "ORDER_READ" | "DELIVERY_READ" | "DELIVERY_REDELIVERED" | "SECRETS_RESEALED" | "FEED_RENEWED" | "LOGIN_REFUSED" | "OPERATOR_REFUSED";
                /** @description Only actions that were done, or only refused ones. */
                outcome?: "DONE" | "REFUSED";
                /**
                 * @description Only at this time or later. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-21T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Only at this time or earlier. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-22T00:00:00Z
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the previous page.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                cursor?: string;
                /** @description Only those with this status. */
                status?: "ACTIVE" | "PAUSED" | "DISABLED";
                /**
                 * @description What to add to each webhook, separated by commas: `health` (how its deliveries are going) and `stats` (its attempts in the last 24 hours).
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
            /** @description Webhooks in order of creation. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Webhooks in order of creation. */
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
                "application/json": components["schemas"]["WebhookRegistration"];
            };
        };
        responses: {
            /** @description The webhook with its secret, which is shown only once. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "CREATED";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["WebhookWithSecret"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description You have reached the maximum number of webhooks of a shipper, or have a webhook of this name. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Too many requests, or too many webhooks created, or moved to another host, within an hour by you or for this destination. */
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
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook, how its deliveries are going, and which secrets sign. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook is deleted. No attempt to it starts any more. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The webhook is deleted. No attempt to it starts any more. */
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
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Webhook"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The operator has paused this webhook, and only the operator can resume it. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Too many requests, or too many webhooks created, or moved to another host, within an hour by you or for this destination. Or more than 60 changes of this webhook within a minute. */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    declareWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description What your programs know the webhook by: 1 to 64 printable characters without `/`.
                 * @example orders-production
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookDeclaration"];
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Webhook"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            /** @description The webhook is new. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "CREATED";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["DeclaredWebhook"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description The webhook has another secret than the one given, or you have reached the maximum number of webhooks of a shipper. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Too many requests, or too many webhooks created, or moved to another host, within an hour by you or for this destination. Or more than 60 changes of this webhook within a minute. */
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
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description How long the old secret continues to sign, up to 30d.
                     * @default 24h
                     * @example 24h
                     */
                    overlap?: string;
                };
            };
        };
        responses: {
            /** @description The new secret, which is shown only once. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["RotatedSecret"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description Five earlier secrets still sign. The message says until when. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Too many requests, or more than 60 changes of this webhook within a minute. */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    endEarlierSecrets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The earlier secrets have ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The earlier secrets have ended. */
                        data: {
                            /**
                             * Format: uuid
                             * @description Identifier of the webhook.
                             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                             */
                            webhookId: string;
                            /**
                             * Format: int64
                             * @description How many secrets signed until now.
                             * @example 1
                             */
                            ended: number;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description Too many requests, or more than 60 changes of this webhook within a minute. */
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The addresses that notifications come from. */
                        data: {
                            /**
                             * @description Networks in CIDR notation; empty if the operator has not named any.
                             * @example [
                             *       "198.51.100.0/28",
                             *       "2001:db8:7::/64"
                             *     ]
                             */
                            addresses: string[];
                            /** @description The certificate that a receiver is shown which asks for one (mTLS). Absent if there is none. */
                            certificate?: {
                                /**
                                 * @description Its subject.
                                 * @example CN=parcelhook.example.com
                                 */
                                subject: string;
                                /**
                                 * @description Its SHA-256 fingerprint.
                                 * @example 10:17:1E:25:2C:33:3A:41:48:4F:56:5D:64:6B:72:79:80:87:8E:95:9C:A3:AA:B1:B8:BF:C6:CD:D4:DB:E2:E9
                                 */
                                fingerprint256: string;
                                /**
                                 * Format: date-time
                                 * @description When it ends.
                                 * @example 2030-01-15T00:00:00+00:00
                                 */
                                validTo: string;
                            };
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
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the previous page.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                cursor?: string;
                /**
                 * @description Only shipments with this identifier of yours, which need not be unique.
                 * @example ORDER-1001
                 */
                shipperTrackingId?: string;
                /**
                 * @description Only shipments for which your identifier begins with this; upper and lower case differ.
                 * @example ORDER-1001
                 */
                shipperTrackingIdPrefix?: string;
                /**
                 * @description Only shipments in this state now. A shipment that is not created yet has no state. The states: `CREATED`, `PICKED_UP`, `IN_TRANSIT`, `OUT_FOR_DELIVERY`, `DELIVERY_FAILED`, `RETURNING`, `DELIVERED`, `RETURNED`, `CANCELLED`, `LOST`.
                 * @example CREATED
                 */
                state?: string;
                /**
                 * @description Only shipments accepted at this time or later. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-21T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Only shipments accepted before this time. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-22T00:00:00Z
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
                 * @description Makes it safe to send the order again: for 24 hours, the same key and body get the first response again. Unknown fields are not compared.
                 * @example order-1001
                 */
                "Idempotency-Key"?: string;
                /**
                 * @description W3C Trace Context. Every notification that this request causes is sent with its trace id. If it is absent or invalid, a new trace begins. The sampled flag and `tracestate` are ignored.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: string;
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
            /** @description The accepted order. The shipment is created shortly after. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "CREATED";
                        /**
                         * Format: uuid
                         * @description Identifies the processing of the order.
                         * @example c0ffee00-1234-4abc-8def-0123456789ab
                         */
                        processId: string;
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["OrderResult"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
            /** @description Too many requests, or you have reached the bytes that may be stored in a day (UTC). */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    cancelShipment: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description W3C Trace Context. Every notification that this request causes is sent with its trace id. If it is absent or invalid, a new trace begins. The sampled flag and `tracestate` are ignored.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: string;
            };
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
            /** @description The event is recorded, and its deliveries are owed. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["RecordedEvent"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The state of the shipment does not allow it any more. The message says what it allows. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    getOrder: {
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
            /** @description The order as it was placed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["PlacedOrder"];
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
            /** @description A shipment and its history. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The catalogue of states. */
                        data: {
                            /** @description Every state a shipment can be in; the first is that of a new shipment. */
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
                    /** @description The states to go through, one after the other. Default: the shortest way to DELIVERED. */
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
            /** @description The simulation has started. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Simulation"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The catalogue of states does not allow this journey from the state of the shipment (the message says what it allows), or another simulation of the shipment is under way. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Too many requests, or 100 simulations of your shipments are under way, or 1,000 were started within an hour. */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /**
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the previous page.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                cursor?: string;
                /**
                 * @description Only deliveries to this webhook.
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
                 */
                webhookId?: string;
                /**
                 * @description The service's identifier of the shipment.
                 * @example PH1M7YZMHG0R8EB1NC38
                 */
                trackingId?: string;
                /**
                 * @description Only deliveries of shipments with this identifier of yours. At most 1,000 shipments may have it.
                 * @example ORDER-1001
                 */
                shipperTrackingId?: string;
                /**
                 * @description Only deliveries of this event: the `webhook-id` of a notification.
                 * @example 01a1fdfa-4678-7b5c-9263-7e8f90a1b2c3
                 */
                eventId?: string;
                /**
                 * @description Only deliveries of this state. The states: `CREATED`, `PICKED_UP`, `IN_TRANSIT`, `OUT_FOR_DELIVERY`, `DELIVERY_FAILED`, `RETURNING`, `DELIVERED`, `RETURNED`, `CANCELLED`, `LOST`, `WEBHOOK_FAILING`, `WEBHOOK_RECOVERED`, `WEBHOOK_DISABLING`, `WEBHOOK_DISABLED`, `DELIVERY_EXHAUSTED`.
                 * @example CREATED
                 */
                state?: string;
                /** @description Only deliveries with this status now; `UNFINISHED`: `PENDING`, `SENDING` or `HELD`. */
                status?: "PENDING" | "SENDING" | "HELD" | "SUCCEEDED" | "FAILED" | "CANCELLED" | "UNFINISHED";
                /**
                 * @description Only deliveries whose last attempt got this HTTP status.
                 * @example 500
                 */
                statusCode?: number;
                /** @description Only deliveries whose last attempt failed with this error. */
                errorCode?: "TIMEOUT" | "DNS" | "CONNECT" | "RESET" | "TLS" | "ADDRESS_DENIED" | "HTTP_STATUS" | "PROTOCOL" | "LOST";
                /**
                 * @description Only deliveries of events recorded at this time or later. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-21T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Only deliveries of events recorded before this time. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-22T00:00:00Z
                 */
                to?: string;
                /**
                 * @description Only deliveries with an attempt at this time or later, and before `attemptedTo`. Tests do not count. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-21T10:00:00Z
                 */
                attemptedFrom?: string;
                /**
                 * @description Only deliveries with an attempt before this time. Tests do not count. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-21T11:00:00Z
                 */
                attemptedTo?: string;
                /**
                 * @description Only deliveries with an attempt that failed (`true`) or succeeded (`false`), between `attemptedFrom` and `attemptedTo` if given. Tests do not count.
                 * @example true
                 */
                attemptFailed?: boolean;
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
                 * @description `nextAttemptsCursor` of the previous page of attempts.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                attemptsCursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The delivery.
                 * @example 01a1fdfa-4678-7b5c-a374-8f90a1b2c3d4
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
                 * @description How many hours, including the current one.
                 * @example 24
                 */
                hours?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Attempts by hour (UTC), including hours without any: the oldest first, the current one last. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description State of the sample.
                     * @default CREATED
                     * @example CREATED
                     * @enum {string}
                     */
                    state?: "CREATED" | "PICKED_UP" | "IN_TRANSIT" | "OUT_FOR_DELIVERY" | "DELIVERY_FAILED" | "RETURNING" | "DELIVERED" | "RETURNED" | "CANCELLED" | "LOST";
                };
            };
        };
        responses: {
            /** @description The attempt as in the log, whether it succeeded or not. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["TestResult"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Five of your tests are under way, or too many tests, redeliveries and replays were requested within an hour for this webhook, for your webhooks or for their destination. */
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
                 * @example 01a1fdfa-4678-7b5c-a374-8f90a1b2c3d4
                 */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: a worker sends it at once. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Accepted: a worker sends it at once. */
                        data: {
                            /**
                             * Format: uuid
                             * @description Identifier of the delivery: one event for one webhook.
                             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                             */
                            deliveryId: string;
                        };
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The delivery was cancelled, its webhook is deleted, its event was erased, or its shipper is suspended. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description The delivery was redelivered 100 times within a day, or too many tests, redeliveries and replays were requested within an hour for this webhook, for your webhooks or for their destination. */
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
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
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
            /** @description The replay has begun. It sends as fast as the receiver accepts. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Replay"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description 10 replays of this webhook, or 20 of all webhooks of its shipper, are still looking for deliveries. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description Too many requests, or too many tests, redeliveries and replays were requested within an hour for this webhook, for your webhooks or for their destination. */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listReplays: {
        parameters: {
            query?: {
                /**
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the previous page.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["ReplayProgress"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
    recordEvent: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description W3C Trace Context. Every notification that this request causes is sent with its trace id. If it is absent or invalid, a new trace begins. The sampled flag and `tracestate` are ignored.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: string;
            };
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
                     * @description The new state of the shipment.
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
                     * Format: int64
                     * @description When it happened, in milliseconds since 1970, not seconds. Default: now.
                     * @example 1795262400000
                     */
                    timestamp?: number;
                    /**
                     * Format: double
                     * @description Latitude in degrees.
                     * @example 19.427
                     */
                    lat?: number | null;
                    /**
                     * Format: double
                     * @description Longitude in degrees.
                     * @example -99.1677
                     */
                    lng?: number | null;
                    /**
                     * @description Passed on unchanged. At most 16,384 bytes as JSON.
                     * @example null
                     */
                    anomalies?: unknown;
                    /**
                     * @description Passed on unchanged. At most 16,384 bytes as JSON.
                     * @example []
                     */
                    evidences?: unknown[];
                };
            };
        };
        responses: {
            /** @description The event is recorded, and its deliveries are owed. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["RecordedEvent"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
            header?: {
                /**
                 * @description W3C Trace Context. Every notification that this request causes is sent with its trace id. If it is absent or invalid, a new trace begins. The sampled flag and `tracestate` are ignored.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    events: components["schemas"]["ShipmentEvent"][];
                };
            };
        };
        responses: {
            /** @description The result of each event. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The result of each event. */
                        data: {
                            /** @description One result for each event, in order. */
                            results: (components["schemas"]["RecordedEvent"] | components["schemas"]["RefusedEvent"])[];
                        };
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
    listDeliveriesOfShipper: {
        parameters: {
            query?: {
                /**
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the previous page.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                cursor?: string;
                /**
                 * @description Only deliveries to this webhook.
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
                 */
                webhookId?: string;
                /**
                 * @description The service's identifier of the shipment.
                 * @example PH1M7YZMHG0R8EB1NC38
                 */
                trackingId?: string;
                /**
                 * @description Only deliveries of shipments with this identifier of yours. At most 1,000 shipments may have it.
                 * @example ORDER-1001
                 */
                shipperTrackingId?: string;
                /**
                 * @description Only deliveries of this event: the `webhook-id` of a notification.
                 * @example 01a1fdfa-4678-7b5c-9263-7e8f90a1b2c3
                 */
                eventId?: string;
                /**
                 * @description Only deliveries of this state. The states: `CREATED`, `PICKED_UP`, `IN_TRANSIT`, `OUT_FOR_DELIVERY`, `DELIVERY_FAILED`, `RETURNING`, `DELIVERED`, `RETURNED`, `CANCELLED`, `LOST`, `WEBHOOK_FAILING`, `WEBHOOK_RECOVERED`, `WEBHOOK_DISABLING`, `WEBHOOK_DISABLED`, `DELIVERY_EXHAUSTED`.
                 * @example CREATED
                 */
                state?: string;
                /** @description Only deliveries with this status now; `UNFINISHED`: `PENDING`, `SENDING` or `HELD`. */
                status?: "PENDING" | "SENDING" | "HELD" | "SUCCEEDED" | "FAILED" | "CANCELLED" | "UNFINISHED";
                /**
                 * @description Only deliveries whose last attempt got this HTTP status.
                 * @example 500
                 */
                statusCode?: number;
                /** @description Only deliveries whose last attempt failed with this error. */
                errorCode?: "TIMEOUT" | "DNS" | "CONNECT" | "RESET" | "TLS" | "ADDRESS_DENIED" | "HTTP_STATUS" | "PROTOCOL" | "LOST";
                /**
                 * @description Only deliveries of events recorded at this time or later. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-21T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Only deliveries of events recorded before this time. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-22T00:00:00Z
                 */
                to?: string;
                /**
                 * @description Only deliveries with an attempt at this time or later, and before `attemptedTo`. Tests do not count. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-21T10:00:00Z
                 */
                attemptedFrom?: string;
                /**
                 * @description Only deliveries with an attempt before this time. Tests do not count. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-21T11:00:00Z
                 */
                attemptedTo?: string;
                /**
                 * @description Only deliveries with an attempt that failed (`true`) or succeeded (`false`), between `attemptedFrom` and `attemptedTo` if given. Tests do not count.
                 * @example true
                 */
                attemptFailed?: boolean;
                /**
                 * @description Only deliveries of this shipper.
                 * @example 01a19b7c-a680-7d2e-8f30-4b5c6d7e8f90
                 */
                shipperId?: string;
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
            /** @description There is no such shipper. */
            404: components["responses"]["NotFound"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    getDeliveryOfShipper: {
        parameters: {
            query?: {
                /**
                 * @description `nextAttemptsCursor` of the previous page of attempts.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                attemptsCursor?: string;
                /**
                 * @description Only if it is a delivery of this shipper.
                 * @example 01a19b7c-a680-7d2e-8f30-4b5c6d7e8f90
                 */
                shipperId?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The delivery.
                 * @example 01a1fdfa-4678-7b5c-a374-8f90a1b2c3d4
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listShipmentsOfShipper: {
        parameters: {
            query: {
                /**
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description `nextCursor` of the previous page.
                 * @example AZehssPUfl-KmwwdLj9KWwobLD1O
                 */
                cursor?: string;
                /**
                 * @description Only shipments with this identifier of yours, which need not be unique.
                 * @example ORDER-1001
                 */
                shipperTrackingId?: string;
                /**
                 * @description Only shipments for which your identifier begins with this; upper and lower case differ.
                 * @example ORDER-1001
                 */
                shipperTrackingIdPrefix?: string;
                /**
                 * @description Only shipments in this state now. A shipment that is not created yet has no state. The states: `CREATED`, `PICKED_UP`, `IN_TRANSIT`, `OUT_FOR_DELIVERY`, `DELIVERY_FAILED`, `RETURNING`, `DELIVERED`, `RETURNED`, `CANCELLED`, `LOST`.
                 * @example CREATED
                 */
                state?: string;
                /**
                 * @description Only shipments accepted at this time or later. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-21T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Only shipments accepted before this time. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-22T00:00:00Z
                 */
                to?: string;
                /**
                 * @description The shipper whose shipments are listed.
                 * @example 01a19b7c-a680-7d2e-8f30-4b5c6d7e8f90
                 */
                shipperId: string;
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
            /** @description There is no such shipper. */
            404: components["responses"]["NotFound"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    pauseWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["OperatedWebhook"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
    resumeWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
                 */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["OperatedWebhook"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description Its shipper has paused it, or it is `DISABLED`. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    redeliverForShipper: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The delivery.
                 * @example 01a1fdfa-4678-7b5c-a374-8f90a1b2c3d4
                 */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: a worker sends it at once. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Accepted: a worker sends it at once. */
                        data: {
                            /**
                             * Format: uuid
                             * @description Identifier of the delivery: one event for one webhook.
                             * @example 0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
                             */
                            deliveryId: string;
                        };
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The delivery was cancelled, its webhook is deleted, its event was erased, or its shipper is suspended. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    replayForShipper: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The webhook.
                 * @example 01a1f9af-a400-7c1d-9e2f-3a4b5c6d7e8f
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
            /** @description The replay has begun. It sends as fast as the receiver accepts. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["Replay"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description 10 replays of this webhook, or 20 of all webhooks of its shipper, are still looking for deliveries. */
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    getReplayOfShipper: {
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listTopWebhooks: {
        parameters: {
            query?: {
                /**
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description What leads.
                 * @example failing
                 */
                sort?: "failing" | "backlog" | "slow";
                /**
                 * @description All webhooks of this shipper instead, as far as `limit` goes.
                 * @example 01a19b7c-a680-7d2e-8f30-4b5c6d7e8f90
                 */
                shipperId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhooks of all shippers that lead by `sort`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description The webhooks of all shippers that lead by `sort`. */
                        data: {
                            webhooks: components["schemas"]["TopWebhook"][];
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
                 * @description The trackingId of the shipment, or its shipmentId.
                 * @example PH1M7YZMHG0R8EB1NC38
                 */
                trackingId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The shipment, without personal data. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["ErasedShipment"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
                 * @example 01a1fdfa-4678-7b5c-a374-8f90a1b2c3d4
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["ReplayProgress"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
            /** @description The result of sealing all secrets with the current key. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["ResealedSecrets"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
            /** @description The feed was renewed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        data: components["schemas"]["RenewedFeed"];
                        /** @description Fields of the body that the endpoint does not have, and values that may be a mistake; absent if there are none. The first 100 fields are named; if there are more, one entry says how many. */
                        warnings?: components["schemas"]["Warning"][];
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
                 * @description Events after this: the `nextCursor` of the previous response, or `latest` for future events only. It is a place among all events, so `trackingId` may change from page to page. Without it and without `from`, the log is read from its beginning.
                 * @example XwweDn0LTC6aUz9tKhuchAAAAAAAAAAAAaH99pyAejuAQVxtfo-QoQAAAAAAAA
                 */
                after?: string;
                /**
                 * @description Events recorded at this time or later, as far back as the log goes. A future time counts as now. Cannot be combined with `after`. ISO 8601 with an offset, a date (its midnight UTC), or milliseconds since 1970 (not seconds).
                 * @example 2026-11-21T00:00:00Z
                 */
                from?: string;
                /**
                 * @description Maximum number of items in the page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description The service's identifier of the shipment.
                 * @example PH1M7YZMHG0R8EB1NC38
                 */
                trackingId?: string;
                /**
                 * @description How long to wait if there are no events yet: up to 30 s. The response comes with the first event, or empty.
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
                         * @description Version of the response format.
                         * @example 1.0.0
                         */
                        version: string;
                        /** @enum {string} */
                        status: "OK";
                        /**
                         * Format: int64
                         * @description When the response was sent, in milliseconds since 1970.
                         * @example 1795262400000
                         */
                        timestamp: number;
                        /** @description Events, oldest first. */
                        data: {
                            events: components["schemas"]["FeedEvent"][];
                            /**
                             * @description Where to continue: send it as `after`. It is set even if nothing follows yet.
                             * @example XwweDn0LTC6aUz9tKhuchAAAAAAAAAAAAaH9-kZ4e1ySY36PkKGywwAAAAAAAA
                             */
                            nextCursor: string;
                        };
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description Too many requests, or 50 requests are waiting already, or too many responses are unread. */
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
}
