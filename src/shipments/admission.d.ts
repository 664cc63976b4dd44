export interface Admission {
    /**
     * Resolves when the order may be accepted, with what to call when it has had its share; shippers take turns. Throws
     * ApiError UNAVAILABLE where too many wait already.
     */
    enter(shipperId: string): Promise<() => void>;
}
export interface AdmissionOptions {
    /** Orders under way at once. */
    atOnce: number;
    /** Deliveries that could go out now and wait for this process. */
    pressure(): number;
    /** With so many of them no order is accepted until they have gone out. */
    mostPressure: number;
}
/** What is owed goes before what is asked for: accepting slows down, nothing is refused. */
export declare function createAdmission(options: AdmissionOptions): Admission;
