import type fc from 'fast-check';
import type { OpenApiDocument } from '../../src/http/openapi/types.js';
import { answerChecker } from '../api/openapi-support.js';
import { basic, registerAccount, type Account, type Answer } from '../client.js';
import { operatorToken } from '../process.js';
import { requestsOf, type Draft } from './requests.js';
import { prepare, send, type Prepared } from './send.js';
import { isNamed } from './values.js';

export interface Fuzzer {
  requests: fc.Arbitrary<Draft>;
  /** Sends it; rejects where the answer is not one that the document promises. */
  probe(draft: Draft): Promise<void>;
  /** Answers by operation and HTTP status. */
  seen: Map<string, number>;
}

const keptOfEachName = 50;

/** Fuzzes a running service by the document it serves: what it finds there is called, whatever it is. */
export async function createFuzzer(service: { url: string }): Promise<Fuzzer> {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
  const checker = answerChecker(document);
  const seen = new Map<string, number>();
  const memory = createMemory();
  let accounts = 0;
  let account: Account = await newAccount();

  function newAccount(): Promise<Account> {
    accounts += 1;
    return registerAccount(service, `user${accounts}@example.com`);
  }
  const proofs = () => ({
    accountKey: { query: ['key', account.accountKey] as [string, string] },
    accessToken: { header: `Bearer ${account.token}` },
    credentials: { header: basic(account.email, account.password) },
    operatorToken: { header: `Bearer ${operatorToken}` },
  });

  async function probe(draft: Draft): Promise<void> {
    let prepared = prepare(draft, proofs(), memory.lookUp);
    let answer = await send(service.url, prepared);
    if (draft.kind === 'valid' && [401, 403].includes(answer.httpStatus)) {
      // A valid request may have ended the account.
      account = await newAccount();
      prepared = prepare(draft, proofs(), memory.lookUp);
      answer = await send(service.url, prepared);
    }
    const what = `${draft.operationId} ${draft.method} ${answer.httpStatus}`;
    seen.set(what, (seen.get(what) ?? 0) + 1);
    try {
      judge(draft, answer);
    } catch (error) {
      throw new Error(described(prepared, answer, draft, error), { cause: error });
    }
    if (answer.httpStatus < 300) memory.keep(answer.data);
  }

  function judge(draft: Draft, answer: Answer): void {
    const { operation, path } = checker.operations.get(draft.operationId)!;
    if (answer.httpStatus >= 500) throw new Error('a 5xx');
    if (!answer.headers.has('x-request-id')) throw new Error('no X-Request-Id');
    const operations = Object.entries(document.paths[path]!);
    const called = operations.find(([method]) => method.toUpperCase() === draft.method)?.[1];
    if (draft.method === 'HEAD')
      return expectHead(
        answer,
        operations.some(([method]) => method === 'get'),
      );
    if (!called) return expectRefusedMethod(answer, Object.keys(document.paths[path]!));
    // What is too long to be read is of no operation.
    if (answer.httpStatus === 431) return checker.checkShared('Unexpected', answer.body);
    checker.check(called.operationId, answer);
    const refused = [400, 401, 403, 413, 415].includes(answer.httpStatus);
    if (draft.kind === 'valid' && refused && !isBeyondSchemas(answer))
      throw new Error(`${operation.operationId} refuses what the document allows`);
  }

  function expectHead({ httpStatus }: Answer, hasGet: boolean): void {
    if (hasGet === (httpStatus === 405)) throw new Error('HEAD is taken where GET is, and only there');
  }

  function expectRefusedMethod(answer: Answer, methods: string[]): void {
    checker.checkShared('MethodNotAllowed', answer.body);
    const allowed = [
      ...methods.map((name) => name.toUpperCase()),
      ...(methods.includes('get') ? ['HEAD'] : []),
    ];
    const given = answer.headers.get('allow')?.split(', ').sort().join();
    if (answer.httpStatus !== 405 || given !== allowed.sort().join())
      throw new Error(`not 405 that allows ${allowed.join(', ')}`);
  }

  return { requests: requestsOf(document), probe, seen };
}

/** Remembers the ids and cursors of answers by their names, the newest of each. */
function createMemory() {
  const values = new Map<string, unknown[]>();
  const keep = (value: unknown, name = ''): void => {
    if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value))
        keep(inner, key !== 'nextCursor' ? key : 'events' in value ? 'after' : 'cursor');
    else if (isNamed(name) && typeof value === 'string')
      values.set(name, [value, ...(values.get(name) ?? [])].slice(0, keptOfEachName));
  };
  const lookUp = (name: string, pick: number): unknown => {
    const known = values.get(name) ?? [];
    return pick % 10 === 0 ? undefined : known[pick % Math.max(1, known.length)];
  };
  return { keep: (data: unknown) => keep(data), lookUp };
}

const longest = 2_000;

function described(prepared: Prepared, answer: Answer, { kind }: Draft, error: unknown): string {
  const { method, path, headers, body } = prepared;
  return [
    `${(error as Error).message.slice(0, longest)}`,
    `a ${kind} request: ${method} ${path.slice(0, longest)}`,
    JSON.stringify(headers).slice(0, longest),
    (body?.toString() ?? '').slice(0, longest),
    `was answered ${answer.httpStatus} ${JSON.stringify(answer.body).slice(0, longest)}`,
  ].join('\n');
}

const beyondSchemas =
  /^must be before to$|^must not be there beside after$|^is not of this database|^is masked, but/;

/** What no schema can tell: that one field does not go with another, or that a cursor was never given out. */
const isBeyondSchemas = ({ body }: Answer): boolean => {
  const details = (body as { error?: { details?: { message: string }[] } } | undefined)?.error?.details;
  return details?.every(({ message }) => beyondSchemas.test(message)) ?? false;
};
