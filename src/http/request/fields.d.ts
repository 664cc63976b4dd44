import { z } from 'zod';
/** Fields that many requests and answers share, as the API's document shows them. */
export declare const uuid: (description: string) => z.ZodUUID;
export declare const moment: (description: string) => z.ZodISODateTime;
export declare const milliseconds: (description: string) => z.ZodInt;
export declare const trackingId: z.ZodString;
/** Any JSON; what JavaScript or PostgreSQL could stumble over was refused when the body was read. */
export declare const anyJson: (description: string, example: unknown) => z.ZodUnknown;
/** Of a text that is trimmed and must not be empty then, for the document. */
export declare const notBlank = "^[^\\u0000]*[^\\s\\u0000\\uFEFF][^\\u0000]*$";
/** How long what was before a rotation is good, parsed to milliseconds: a day unless it is said. */
export declare const overlap: (description: string) => z.ZodPipe<z.ZodDefault<z.ZodString>, z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
/** An id in a path. Any text passes: what has not the form of an id names nothing, which is 404 rather than 400. */
export declare const idInPath: (description: string) => z.ZodString;
/** What is wrong with a request, field by field. */
export declare const details: z.ZodOptional<z.ZodArray<z.ZodObject<{
    path: z.ZodString;
    message: z.ZodString;
}, z.core.$strip>>>;
/** Of a list. */
export declare const nextCursor: z.ZodNullable<z.ZodString>;
