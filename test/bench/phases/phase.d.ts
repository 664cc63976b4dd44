import type { Measured } from '../figures.js';
import type { Settings } from '../settings.js';
import type { System } from '../system.js';
export interface Phase {
    name: string;
    /** In one line, for the help and the report. */
    title: string;
    cases(settings: Settings): Case[];
}
/** Measured on one system after the other; what it deploys it clears away. */
export interface Case {
    title: string;
    run(system: System, settings: Settings, say: (line: string) => void): Promise<Measured[]>;
}
