import { z } from 'zod';
/** Addresses and CIDRs separated by commas, as networks. */
export declare const networks: z.ZodPipe<z.ZodString, z.ZodTransform<string[], string>>;
/** As `dns.setServers` takes them: `10.0.0.53`, `10.0.0.53:5353`, `[2001:db8::53]:5353`. */
export declare const nameServers: z.ZodPipe<z.ZodString, z.ZodTransform<string[], string>>;
