/** `data` of an operation's success response. */
export type DataOf<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses & (200 | 201 | 202)]: Responses[Status] extends {
        content: { 'application/json': { data: infer Data } };
      }
        ? Data
        : never;
    }[keyof Responses & (200 | 201 | 202)]
  : never;

/** Times that a caller gives as text or as a `Date`. */
type TimeField = 'from' | 'to' | 'shipperDropoffDate' | 'expectedDeliveryDate' | 'expiresAt';

export type WithDates<Values> = Values extends object
  ? { [Name in keyof Values]: Name extends TimeField ? Values[Name] | Date : Values[Name] }
  : Values;

export type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } }
  ? WithDates<NonNullable<Query>>
  : never;

export type BodyOf<Operation> = Operation extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? WithDates<Body>
  : never;
