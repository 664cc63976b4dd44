export interface Answer<Data = Record<string, any>> {
    httpStatus: number;
    headers: Headers;
    /** The whole envelope. */
    body: {
        version: string;
        status: string;
        timestamp: number;
        processId?: string;
        data: Data;
        error: {
            message: string;
            requestId: string;
            details?: {
                path: string;
                message: string;
            }[];
        };
    };
    data: Data;
}
export interface Request {
    method?: string;
    body?: unknown;
    /** Sent as it is, instead of `body`. */
    raw?: string | Buffer;
    headers?: Record<string, string>;
}
/** One request over HTTP; the answer with its envelope parsed. */
export declare function request(url: string, options?: Request): Promise<Answer>;
export declare const operator: (service: {
    url: string;
}, path: string, options?: Request) => Promise<Answer<Record<string, any>>>;
export interface Account {
    shipperId: string;
    userId: string;
    accountKey: string;
    email: string;
    password: string;
    token: string;
    /** A request of this account: key and token are added. */
    call(path: string, options?: Request): Promise<Answer>;
}
export declare const basic: (email: string, password: string) => string;
/** Registers a shipper with a user through the operator API and logs in. */
export declare function registerAccount(service: {
    url: string;
}, email?: string): Promise<Account>;
/** The specification's order, complete; every optional field left out. */
export declare const sampleOrder: () => {
    recipientLocation: {
        street: string;
        number: string;
        administrativeArea: string;
        subAdministrativeArea: string;
        country: string;
        neighborhood: string;
        postalCode: string;
        notes: string;
        reference: string;
    };
    shipperTrackingId: string;
    shipperDropoffDate: string;
    expectedDeliveryDate: string;
    recipientInformation: {
        fullName: string;
        phone: string;
    };
    package: {
        packageType: string;
        description: string;
        contentValue: number;
        valueCurrency: string;
        weight: number;
        weightUnit: string;
        length: number;
        width: number;
        height: number;
        dimensionsUnit: string;
    };
};
/** Places an order; its tracking id. */
export declare function placeOrder(account: Account, shipperTrackingId?: string): Promise<string>;
/** Registers a webhook for all states unless `fields` say otherwise. */
export declare function registerWebhook(account: Account, targetAddress: string, fields?: object): Promise<{
    webhookId: string;
    secret: string;
}>;
