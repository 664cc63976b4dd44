import { type Scenario } from './scenario.js';
export declare const replay: Scenario;
