import { afterAll, expect, test } from '@jest/globals';
import express from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { createBoxes } from '../../../src/inbox/boxes.js';
import { createInboxReceiver } from '../../../src/inbox/inbox.js';

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
