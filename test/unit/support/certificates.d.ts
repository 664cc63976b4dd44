export interface Pair {
    key: string;
    cert: string;
}
/** For shop.example.org and 127.0.0.1, until 2125. */
export declare const good: Pair;
/** For other.example.org, until 2125. */
export declare const otherHost: Pair;
/** For 127.0.0.1, until 2 January 2024. */
export declare const expired: Pair;
