import { z } from 'zod';
import { type OperatorClient } from '../client.js';
declare const errorShape: z.ZodObject<{
    status: z.ZodString;
    message: z.ZodString;
    details: z.ZodOptional<z.ZodArray<z.ZodObject<{
        path: z.ZodString;
        message: z.ZodString;
    }, z.core.$strip>>>;
}, z.core.$strip>;
/** What became of one line: the id of the recorded event or why there is none. */
export type LineResult = {
    line: number;
} & ({
    eventId: string;
} | {
    error: z.output<typeof errorShape>;
});
export interface LoadDependencies {
    client: Pick<OperatorClient, 'post'>;
    chunks: AsyncIterable<Buffer>;
    /** Called once per line that is not blank, in the file's order. */
    report(result: LineResult): Promise<void>;
    /** Called after every batch. */
    onProgress(readBytes: number): void;
}
/** Sends a file of events, one JSON object a line, in batches one after the other: a shipment's order is kept. */
export declare function loadEvents({ client, chunks, report, onProgress }: LoadDependencies): Promise<void>;
export {};
