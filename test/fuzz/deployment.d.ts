import { type RunningProcess } from '../process.js';
/** No limit on how often is asked; what is sent to webhooks goes to public names only, of which there are none here. */
export declare const fuzzSettings: {
    API_RATE_LIMIT: string;
    LOGIN_LIMIT_ACCOUNT: string;
    LOGIN_LIMIT_IP: string;
    DELIVERY_TIMEOUT: string;
    ALLOW_PRIVATE_TARGETS: string;
    ALLOW_HTTP_TARGETS: string;
};
export interface Deployment {
    url: string;
    process: RunningProcess;
    stop(): Promise<void>;
}
/** One process of the service as in production, on a PostgreSQL of its own. */
export declare function startDeployment(): Promise<Deployment>;
