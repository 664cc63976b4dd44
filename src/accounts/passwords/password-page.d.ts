import { Router } from 'express';
import { z } from 'zod';
import type { Database } from '../../platform/database/postgres.js';
/** Contract, section 6: 12 to 128 characters. */
export declare const password: z.ZodString;
export declare const linkToken: z.ZodString;
export declare const form: z.ZodObject<{
    token: z.ZodString;
    password: z.ZodString;
}, z.core.$strip>;
/** The page behind a password link: a form, and its submission. */
export declare function passwordPage(db: Database, onPasswordSet: () => void): Router;
