export type ErrorCode = 'TIMEOUT' | 'DNS' | 'CONNECT' | 'RESET' | 'TLS' | 'ADDRESS_DENIED' | 'HTTP_STATUS' | 'PROTOCOL';
/** Which entry of the log a failed exchange makes. */
export declare function errorCodeOf(error: unknown): ErrorCode;
