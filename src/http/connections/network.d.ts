/** The block an address belongs to, that one customer or attacker usually has: an IPv4 /24 or an IPv6 /56. */
export declare function networkOf(address: string | undefined): string;
export declare const isLoopback: (address: string | undefined) => boolean;
