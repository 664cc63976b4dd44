export declare const readReadme: () => string;
export declare const writeReadme: (text: string) => void;
/** The code blocks under a heading, up to the next one of the same rank. Throws where there is no such heading. */
export declare function codeBlocks(heading: string): {
    language: string;
    code: string;
}[];
