/** A network in its usual form: `10.0.0.0/8`, `2001:db8::/32`. */
export type Network = string;
/** One address or CIDR as a network, its host bits cleared; null if it is neither. */
export declare function parseNetwork(text: string): Network | null;
/** Whether a plain address is in one of the networks, also as IPv4 inside IPv6 (mapped, or translated by NAT64). */
export declare function inNetworks(networks: readonly Network[]): (ip: string) => boolean;
