import { type Scenario } from './scenario.js';
export declare const manyWebhooks: Scenario;
