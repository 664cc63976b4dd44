import { afterAll, expect, test, describe } from '@jest/globals';
import express from 'express';
import fc from 'fast-check';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { sign } from '../../../src/engine/send/headers.js';
import { createInboxAddresses } from '../../../src/inbox/boxes.js';
import { type Item, createBoxes } from '../../../src/inbox/boxes.js';
import { createInboxReceiver, problemOf } from '../../../src/inbox/inbox.js';
import { newSecret } from '../../../src/engine/send/sealing.js';

describe('what is kept', () => {
  const item = (itemId: string): Item => ({
    itemId,
    receivedAt: new Date(0),
    headers: {},
    body: '',
    problem: null,
    answered: '200',
  });

  test('a shipper has the newest hundred items, and at most fifty shippers have any', () => {
    const boxes = createBoxes();
    for (let n = 1; n <= 101; n += 1) boxes.add('first', item(`${n}`));
    const ids = boxes.of('first').items.map(({ itemId }) => itemId);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([100, '101', '2']);
    for (let n = 1; n <= 49; n += 1) boxes.add(`shipper ${n}`, item('one'));
    expect(boxes.of('first').items).toHaveLength(100); // and so used last
    boxes.add('the fifty-first', item('one'));
    expect(boxes.of('shipper 1').items).toEqual([]);
    expect(boxes.of('first').items).toHaveLength(100);
  });

  test('a failure lasts as often as was said, another one replaces it, and emptying leaves it', () => {
    const boxes = createBoxes();
    const answers = (count: number) => Array.from({ length: count }, () => boxes.nextAnswer('one'));
    expect(answers(1)).toEqual(['200']);
    boxes.fail('one', 'TIMEOUT', 2);
    expect(boxes.empty('one')).toBe(0);
    expect(answers(1)).toEqual(['TIMEOUT']);
    boxes.fail('one', 'RESET', 1);
    expect(answers(2)).toEqual(['RESET', '200']);
    boxes.fail('one', '410', null);
    expect(answers(3)).toEqual(['410', '410', '410']);
    expect(boxes.nextAnswer('another')).toBe('200');
  });
});

describe('an address', () => {
  const base = 'http://127.0.0.1:8080';
  const addresses = createInboxAddresses(base, 'a secret');
  const tokenOf = (shipperId: string) => addresses.addressOf(shipperId).slice(`${base}/inbox/`.length);

  test('an address identifies its shipper, and nobody else can make one', () => {
    fc.assert(
      fc.property(fc.uuid(), (shipperId) => {
        const token = tokenOf(shipperId);
        expect(token).toMatch(/^[\w-]{43}$/);
        expect(addresses.shipperOf(token)).toBe(shipperId);
        expect(createInboxAddresses(base, 'another secret').shipperOf(token)).toBeNull();
      }),
    );
  });

  test('a changed or made-up token identifies nobody', () => {
    const token = tokenOf('0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b');
    fc.assert(
      fc.property(fc.nat(42), fc.constantFrom(...'Aa0_-'), (at, character) => {
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        fc.pre(changed !== token);
        expect(addresses.shipperOf(changed)).toBeNull();
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => void expect(addresses.shipperOf(text)).toBeNull()));
  });
});

describe('a signature', () => {
  const atSeconds = 1_790_000_000;
  const secret = newSecret();
  const signed = (body: string, signature = sign([secret], 'id', atSeconds, body)) => ({
    headers: {
      'webhook-id': 'id',
      'webhook-timestamp': String(atSeconds),
      'webhook-signature': signature,
    },
    body,
  });
  const problem = (arrival: Parameters<typeof problemOf>[0], secrets = [secret], secondsLater = 0) =>
    problemOf(arrival, secrets, (atSeconds + secondsLater) * 1_000);

  test('what one of the secrets has signed verifies, up to five minutes away from the clock', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: -300, max: 300 }), (body, late) => {
        expect(problem(signed(body), [newSecret(), secret], late)).toBeNull();
      }),
    );
    const rotated = signed('{}', sign([newSecret(), secret], 'id', atSeconds, '{}'));
    expect(problem(rotated)).toBeNull();
  });

  test('anything else does not, and the reason is named', () => {
    const arrival = signed('{}');
    const without = (name: string) => ({ ...arrival, headers: { ...arrival.headers, [name]: undefined } });
    for (const name of Object.keys(arrival.headers))
      expect(problem(without(name))).toContain(`${name} is missing`);
    expect(problem(arrival, [])).toMatch(/^No webhook of yours/);
    expect(problem(arrival, [newSecret()])).toMatch(/^No signature matches/);
    expect(problem({ ...arrival, body: '{ }' })).toMatch(/^No signature matches/);
    expect(problem(signed('{}', ''))).toMatch(/is missing/);
    expect(problem(arrival, [secret], 301)).toBe('webhook-timestamp is 301 s away from the clock.');
    expect(problem({ ...arrival, headers: { ...arrival.headers, 'webhook-timestamp': 'now' } })).toMatch(
      /not a number/,
    );
  });
});

describe('a request', () => {
  const boxes = createBoxes();
  let whileSecretsAreRead = async (): Promise<void> => {};
  const { handler, endHolds } = createInboxReceiver({
    addresses: { addressOf: String, shipperOf: (token) => token },
    boxes,
    secretsOf: async () => {
      await whileSecretsAreRead();
      return [];
    },
    bodyBytes: () => () => {},
    maxHoldMs: 60_000,
  });
  const server = createServer(express().use(handler));
  afterAll(() => {
    endHolds();
    server.close();
  });

  test('senders that leave before their time-out begins take no place from others', async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    boxes.fail('one', 'TIMEOUT', null);
    const send = () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      socket.write('POST /inbox/one HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}');
      return socket;
    };
    const untilAnswered = async (count: number) => {
      while (boxes.of('one').items.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    for (let n = 1; n <= 20; n += 1) {
      const left = once(server, 'connection').then(([socket]: Socket[]) => once(socket!, 'close'));
      const sender = send();
      whileSecretsAreRead = async () => {
        sender.destroy();
        await left;
      };
      await untilAnswered(n);
    }
    whileSecretsAreRead = async () => {};
    const sender = send();
    await untilAnswered(21);
    sender.destroy();
    expect(boxes.of('one').items[0]!.answered).toBe('TIMEOUT');
  });
});
