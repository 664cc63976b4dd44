declare const markup: unique symbol;
/** Text that is HTML; `html` and `trusted` make it and nothing else does. */
export interface Html {
    [markup]: string;
}
type Part = Html | Html[] | string | number | false | undefined;
/** For text that is HTML or CSS by our own hand. */
export declare const trusted: (text: string) => Html;
/**
 * A template of HTML. Whatever is put into it is escaped, unless it is HTML itself; false and undefined are nothing.
 * Line breaks of the template itself count as one space.
 */
export declare const html: (strings: TemplateStringsArray, ...parts: Part[]) => Html;
export declare const toText: (page: Html) => string;
/** What descriptions are written in: paragraphs, and code in backticks. */
export declare const prose: (text: string) => Html[];
/** One line of a description. */
export declare const phrase: (text: string) => Html[];
export {};
