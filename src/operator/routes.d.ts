import type { NewEvent, RecordResult } from '../events/record.js';
import { type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
export interface OperatorDependencies {
    db: Database;
    publicUrl(): string;
    /** States an event may name. */
    knownStates: ReadonlySet<string>;
    recordEvent(event: NewEvent): Promise<RecordResult>;
    recordEvents(events: NewEvent[]): Promise<RecordResult[]>;
    status(): Promise<object>;
}
/** The operator API of contract, section 6. */
export declare function operatorRoutes(deps: OperatorDependencies): Route[];
