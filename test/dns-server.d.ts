export interface DnsAnswer {
    addresses: string[];
    ttl?: number;
}
/** What a name server says of a name: its IPv4 addresses, that there is no such name, or nothing at all. */
export type DnsReply = DnsAnswer | 'NXDOMAIN' | 'SILENT';
export interface DnsServer {
    /** As DNS_SERVERS takes it. */
    address: string;
    /** One entry for each query, also those that were not answered. */
    asked: {
        name: string;
        type: 'A' | 'AAAA';
        at: number;
    }[];
    close(): Promise<void>;
}
/** A small real name server on loopback: A records over UDP, and silence. */
export declare function startDnsServer(reply: (name: string) => DnsReply): Promise<DnsServer>;
