import { z } from 'zod';
/** `500ms`, `15s`, `5m`, `2h`, `1d` as milliseconds; null where the text is none of these. */
export declare function parseDurationMs(text: string): number | null;
/** A zod schema for one duration within bounds; the parsed value is in milliseconds. */
export declare function duration(bounds: {
    minMs: number;
    maxMs: number;
}): z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>;
