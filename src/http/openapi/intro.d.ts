/** Groups of operations, in the order in which an integrator needs them. */
export declare const tags: readonly [{
    readonly name: 'Accounts';
    readonly description: 'Access tokens and passwords. The operator registers accounts.';
}, {
    readonly name: 'Shipments';
    readonly description: 'Hand over orders and follow the shipments that come of them.';
}, {
    readonly name: 'Webhooks';
    readonly description: 'Have state changes pushed to an address of yours instead of asking for them.';
}, {
    readonly name: 'Deliveries';
    readonly description: 'What was sent to your webhooks, attempt by attempt, and sending it again.';
}, {
    readonly name: 'Operator';
    readonly description: 'For who runs the service: accounts, state events and maintenance.';
}, {
    readonly name: 'Health';
    readonly description: 'For load balancers and monitoring, and this document.';
}];
export type Tag = (typeof tags)[number]['name'];
export declare const title = "Parcelhook";
export declare const introduction: string;
/** What proves who is calling, by the name under which operations refer to it. */
export declare const securitySchemes: {
    accountKey: {
        type: string;
        in: string;
        name: string;
        description: string;
    };
    credentials: {
        type: string;
        scheme: string;
        description: string;
    };
    accessToken: {
        type: string;
        scheme: string;
        bearerFormat: string;
        description: string;
    };
    operatorToken: {
        type: string;
        scheme: string;
        description: string;
    };
};
export declare const securityOf: {
    login: {
        accountKey: never[];
        credentials: never[];
    }[];
    shipper: {
        accountKey: never[];
        accessToken: never[];
    }[];
    operator: {
        operatorToken: never[];
    }[];
};
