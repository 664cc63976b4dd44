import type fc from 'fast-check';
import type { OpenApiDocument } from '../../../src/http/openapi/schemas.js';
import { tokenScopes } from '../../../src/http/route.js';
import { responseChecker } from '../../support/openapi.js';
import {
  basic,
  fromPortal,
  newProgram,
  openSession,
  registerAccount,
  type Account,
  type ApiResponse,
} from '../../support/client.js';
import { operatorToken } from '../../support/process.js';
import { requestsOf, type Draft } from './requests.js';
import { prepare, send, type Prepared, type Proofs } from './send.js';
import { isNamed } from './values.js';

export interface Fuzzer {
  requests: fc.Arbitrary<Draft>;
  probe(draft: Draft): Promise<void>;
  seen: Map<string, number>;
}

const keptOfEachName = 50;

export async function createFuzzer(service: { url: string }): Promise<Fuzzer> {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
  const checker = responseChecker(document);
  const seen = new Map<string, number>();
  const memory = createMemory();
  let accounts = 0;
  let account = await newAccount();

  async function newAccount(): Promise<Account & { cookie: string; programToken: string }> {
    accounts += 1;
    const added = await registerAccount(service, `user${accounts}@example.com`);
    const { token: programToken } = await newProgram(service, added, { scopes: [...tokenScopes] });
    return { ...added, cookie: await openSession(service, added), programToken };
  }
  const proofs = (): Proofs => ({
    accountKey: { query: ['key', account.accountKey] },
    accessToken: { headers: { authorization: `Bearer ${account.token}` } },
    programToken: { headers: { authorization: `Bearer ${account.programToken}` } },
    credentials: { headers: { authorization: basic(account.email, account.password) } },
    cookie: { headers: { ...fromPortal, cookie: account.cookie } },
    operatorToken: { headers: { authorization: `Bearer ${operatorToken}` } },
  });
  const prepared = (draft: Draft): Prepared => {
    const { accountKey: key, email, password } = account;
    const isLogin = draft.operationId === 'createSession' && draft.kind === 'valid';
    const body = { ...(draft.body as object), key, email, password };
    return prepare(isLogin ? { ...draft, body } : draft, proofs(), memory.lookUp);
  };

  async function probe(draft: Draft): Promise<void> {
    let sent = prepared(draft);
    let response = await send(service.url, sent);
    if (draft.kind === 'valid' && [401, 403].includes(response.httpStatus)) {
      // A valid request may have ended the account.
      account = await newAccount();
      sent = prepared(draft);
      response = await send(service.url, sent);
    }
    const what = `${draft.operationId} ${draft.method} ${response.httpStatus}`;
    seen.set(what, (seen.get(what) ?? 0) + 1);
    try {
      judge(draft, response);
    } catch (error) {
      throw new Error(described(sent, response, draft, error), { cause: error });
    }
    if (response.httpStatus < 300) memory.keep(response.data);
  }

  function judge(draft: Draft, response: ApiResponse): void {
    const { operation, path } = checker.operations.get(draft.operationId)!;
    if (response.httpStatus >= 500) throw new Error('a 5xx');
    if (!response.headers.has('x-request-id')) throw new Error('no X-Request-Id');
    const operations = Object.entries(document.paths[path]!);
    const called = operations.find(([method]) => method.toUpperCase() === draft.method)?.[1];
    if (draft.method === 'HEAD')
      return expectHead(
        response,
        operations.some(([method]) => method === 'get'),
      );
    if (!called) return expectRefusedMethod(response, Object.keys(document.paths[path]!));
    // Requests too long to be read belong to no operation.
    if (response.httpStatus === 431) return checker.checkShared('Unexpected', response.body);
    checker.check(called.operationId, response);
    const refused = [400, 401, 403, 413, 415].includes(response.httpStatus);
    if (draft.kind === 'valid' && refused && !isBeyondSchemas(response))
      throw new Error(`${operation.operationId} refuses what the document allows`);
  }

  function expectHead({ httpStatus }: ApiResponse, hasGet: boolean): void {
    if (hasGet === (httpStatus === 405)) throw new Error('HEAD is accepted exactly where GET is');
  }

  function expectRefusedMethod(response: ApiResponse, methods: string[]): void {
    checker.checkShared('MethodNotAllowed', response.body);
    const allowed = [
      ...methods.map((name) => name.toUpperCase()),
      ...(methods.includes('get') ? ['HEAD'] : []),
    ];
    const given = response.headers.get('allow')?.split(', ').sort().join();
    if (response.httpStatus !== 405 || given !== allowed.sort().join())
      throw new Error(`not 405 that allows ${allowed.join(', ')}`);
  }

  return { requests: requestsOf(document), probe, seen };
}

/** The newest values, by field name. */
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

function described(prepared: Prepared, response: ApiResponse, { kind }: Draft, error: unknown): string {
  const { method, path, headers, body } = prepared;
  return [
    `${(error as Error).message.slice(0, longest)}`,
    `a ${kind} request: ${method} ${path.slice(0, longest)}`,
    JSON.stringify(headers).slice(0, longest),
    (body?.toString() ?? '').slice(0, longest),
    `got ${response.httpStatus} ${JSON.stringify(response.body).slice(0, longest)}`,
  ].join('\n');
}

const beyondSchemas =
  /^must be before to$|^is required, unless |^is required to create |^cannot be combined with after$|^is not of this database|^is masked, but|^belongs to another list|^must not be before shipperDropoffDate$|looks like seconds$|which would lose digits|of more digits than they need$|^must be in the future$|^must not have orders beside webhookId|^is not one of your webhooks$|^is not your password$|^must be left out: this service sends no e-mails/;

/** Errors that no schema can express: incompatible fields, integers within any JSON, or a cursor that was never issued. */
const isBeyondSchemas = ({ body }: ApiResponse): boolean => {
  const details = (body as { error?: { details?: { message: string }[] } } | undefined)?.error?.details;
  return details?.every(({ message }) => beyondSchemas.test(message)) ?? false;
};
