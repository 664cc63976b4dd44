import { type Scenario } from './scenario.js';
export declare const heldScenario: Scenario;
