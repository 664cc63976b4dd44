import { z } from 'zod';
declare const catalogueFile: z.ZodObject<{
    initial: z.ZodString;
    states: z.ZodArray<z.ZodObject<{
        name: z.ZodString;
        next: z.ZodArray<z.ZodString>;
    }, z.core.$strip>>;
}, z.core.$strip>;
type CatalogueFile = z.output<typeof catalogueFile>;
/** Which states there are and which changes are allowed: pure data and a question. */
export interface StateCatalogue {
    initial: string;
    names: ReadonlySet<string>;
    /** `from` is null for a shipment that is not created yet. */
    allows(from: string | null, to: string): boolean;
    /** Whether nothing follows. */
    isTerminal(state: string): boolean;
}
export declare function createCatalogue(file?: CatalogueFile): StateCatalogue;
/** Reads STATES_FILE. Throws an Error that names what is wrong in the file. */
export declare function readCatalogue(path: string): StateCatalogue;
export {};
