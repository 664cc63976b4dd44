/**
 * The address with a host in Unicode as its punycode. A label is taken if it is the usual form of what it becomes: one
 * that only maps to something else (full-width letters, circled digits, invisible characters, other full stops) is left
 * as it is, and refused for that.
 */
export declare function asciiAddress(text: string): string;
