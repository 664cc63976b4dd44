import { z } from 'zod';
export declare const momentInQuery: (description: string) => z.ZodOptional<z.ZodPipe<z.ZodString, z.ZodTransform<Date, string>>>;
export declare const momentInBody: (description: string, example: string) => z.ZodPipe<z.ZodUnion<readonly [z.ZodString, z.ZodNumber]>, z.ZodTransform<Date, string | number>>;
