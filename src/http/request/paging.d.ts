import { z } from 'zod';
/** `limit` and `cursor` of every list (contract, section 2). The cursor stands for the last id of the page before. */
export declare const paging: {
    limit: z.ZodPipe<z.ZodDefault<z.ZodString>, z.ZodTransform<number, string>>;
    cursor: z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>>;
};
/** Cuts a page of `limit` from rows read with `limit + 1`, and the cursor of the next one, null at the end. */
export declare function cutPage<Row>(rows: Row[], limit: number, idOf: (row: Row) => string): {
    page: Row[];
    nextCursor: string | null;
};
/** Ids in paths: one that is not of the form of an id names nothing, which is 404 rather than 400. */
export declare const isUuid: (text: string) => boolean;
