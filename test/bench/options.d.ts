import type { Phase } from './phases/phase.js';
import type { Settings } from './settings.js';
export interface Options {
    settings: Omit<Settings, 'hasRedis'>;
    phases: Phase[];
    withCeiling: boolean;
    ceilingPosts: number;
    repeat: number;
    /** What is measured: one build, or two in turn. */
    builds: {
        name: string;
        dist: string;
        node: string;
        env: Record<string, string>;
    }[];
    postgresBinDir: string | undefined;
    withStatements: boolean;
    profileDir: string | undefined;
    dataDir: string;
    json: boolean;
    out: string | undefined;
}
/** Reads the command line; ends the program where it is wrong. */
export declare function parseOptions(all: Phase[]): Options;
