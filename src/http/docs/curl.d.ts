import type { Method, Operation } from '../openapi/types.js';
/** A command for a POSIX shell that has URL, and KEY and TOKEN or OPERATOR_TOKEN where they are needed. */
export declare function curlOf(method: Method, path: string, operation: Operation): string;
