export interface DestinationPolicy {
    /** Development: private addresses, localhost, single-label names and any port may be called. */
    allowPrivateTargets: boolean;
    allowHttpTargets: boolean;
    /** Default `[80, 443, 8080, 8443]`; not looked at where private targets are allowed. */
    allowedPorts: readonly number[];
    /** The operator's: never to be called, whatever else is allowed. */
    isDenied(ip: string): boolean;
    /** Where the service itself is reached. */
    publicUrl: URL | null;
}
/** What is public in name but not in fact: IANA's IPv4 special-purpose registry (RFC 6890) and one cloud. */
export declare const DENIED_IPV4_RANGES: readonly ['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '168.63.129.16/32', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'];
/** Exceptions from the range above. */
export declare const DENIED_IPV6_RANGES: readonly ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];
/**
 * Whether a webhook must not be sent to this address. What is no plain address (a zone id, another spelling
 * of IPv4) is denied under every policy.
 */
export declare function isDeniedAddress(ip: string, policy: DestinationPolicy): boolean;
