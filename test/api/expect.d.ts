import type { Account, Answer } from '../client.js';
export declare const uuidForm: RegExp;
export declare const offsetForm: RegExp;
/** The whole form of a failure (contract, section 2): envelope, code, request id, the headers that belong to it. */
export declare function expectFailure(answer: Answer, httpStatus: number): void;
/** 400, and exactly these paths named (in any order, each at least once). */
export declare function expectWrong(answer: Answer, paths: string[]): void;
/** The whole form of a success: the envelope, with `processId` on order integration only. */
export declare function expectSuccess(answer: Answer, httpStatus: 200 | 201 | 202): void;
/** Integer milliseconds, of this minute. */
export declare function expectRecent(timestamp: number): void;
/** Tracks until the shipment is in that state; the answer. */
export declare function untilState(account: Account, trackingId: string, state: string): Promise<Answer>;
