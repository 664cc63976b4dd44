import { describe, expect, test } from '@jest/globals';
import express from 'express';
import fc from 'fast-check';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { directProxies } from '../../../../src/http/origin.js';
import { createConnections, endOfPiece } from '../../../../src/http/connections/connections.js';

class FakeSocket extends EventEmitter {
  destroyed = false;
  writableLength = 0;
  constructor(readonly remoteAddress: string) {
    super();
  }
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

class FakeResponse extends EventEmitter {
  destroyed = false;
  writableLength = 0;
  destroy(): this {
    this.destroyed = true;
    return this;
  }
}

const limits = { maxConnections: 8, maxPerBlock: 2 };

function world(trustProxy: number | string[] = ['10.0.0.1']) {
  const dropped: string[] = [];
  const isProxy = directProxies(express().set('trust proxy', trustProxy));
  const connections = createConnections({ ...limits, isProxy, onDropped: (why) => void dropped.push(why) });
  const connect = (address: string) => {
    const socket = new FakeSocket(address);
    connections.add(socket as unknown as Socket);
    return socket;
  };
  const ask = (socket: FakeSocket, complete = true) => {
    const response = new FakeResponse();
    connections.begin(
      { socket, complete, rawHeaders: [] } as unknown as IncomingMessage,
      response as unknown as ServerResponse,
    );
    return response;
  };
  return { connections, connect, ask, dropped };
}

describe('connection places', () => {
  test('an address block has its share, in which a new connection replaces the longest idle one', () => {
    const { connect, ask, dropped } = world();
    const [first, second] = [connect('192.0.2.1'), connect('192.0.2.77')];
    ask(first).emit('close'); // idle after its response
    const third = connect('192.0.2.3');
    expect([first, second, third].map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
    expect(dropped).toEqual(['displaced']);
  });

  test('if none is idle, the oldest connection whose request is incomplete for a second is closed', async () => {
    const { connect, ask, dropped } = world();
    const [first, second] = [connect('192.0.2.1'), connect('192.0.2.2')];
    ask(first, false);
    ask(second, false);
    expect(connect('192.0.2.3').destroyed).toBe(true); // their bodies may still be arriving
    await sleep(1_050);
    const fourth = connect('192.0.2.4');
    expect([first, second, fourth].map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
    expect(dropped).toEqual(['refused', 'displaced']);
  });

  test('a connection waiting for its response is never closed: the new one is refused', () => {
    const { connect, ask, dropped } = world();
    const sockets = [connect('192.0.2.1'), connect('192.0.2.2')];
    sockets.map((socket) => ask(socket));
    expect(connect('192.0.2.3').destroyed).toBe(true);
    expect(dropped).toEqual(['refused']);
    expect(sockets.some(({ destroyed }) => destroyed)).toBe(false);
  });

  test.each(['127.0.0.1', '::1', '10.0.0.1'])(
    '%s, which many clients share, may have all places',
    (address) => {
      const { connections, connect, dropped } = world();
      for (let n = 0; n < limits.maxConnections; n += 1) connect(address);
      expect([connections.count(), dropped]).toEqual([limits.maxConnections, []]);
      expect(connect('192.0.2.1').destroyed).toBe(false); // replaces one of the largest block
      expect([connections.count(), dropped]).toEqual([limits.maxConnections, ['displaced']]);
    },
  );

  test.each<[number | string[], string, number]>([
    [1, '203.0.113.9', limits.maxPerBlock],
    [2, '2001:db8::9', limits.maxPerBlock],
    [1, '10.1.2.3', limits.maxConnections],
    [1, '::ffff:172.17.0.1', limits.maxConnections],
    [1, '100.64.0.7', limits.maxConnections],
    [1, 'fd00::1', limits.maxConnections],
    [['203.0.113.0/24'], '203.0.113.9', limits.maxConnections],
    [['203.0.113.0/24'], '10.1.2.3', limits.maxPerBlock],
  ])('with the proxies %p a direct client from %s may have %p', (trustProxy, address, most) => {
    const { connections, connect } = world(trustProxy);
    for (let n = 0; n <= limits.maxConnections; n += 1) connect(address);
    expect(connections.count()).toBe(most);
  });

  test('a broken connection ends all its responses, including queued ones', () => {
    const { connect, ask } = world();
    const socket = connect('192.0.2.1');
    let ended = 0;
    for (let n = 0; n < 3; n += 1) ask(socket).once('close', () => (ended += 1));
    socket.destroy();
    expect(ended).toBe(3);
  });

  test('never exceed the connection limit', () => {
    const step = fc.record({
      act: fc.constantFrom('connect', 'ask', 'answer', 'leave'),
      block: fc.integer({ min: 0, max: 6 }),
      pick: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const { connections, connect, ask } = world();
        let sockets: FakeSocket[] = [];
        let responses: FakeResponse[] = [];
        for (const { act, block, pick } of steps) {
          const socket = sockets[pick % Math.max(1, sockets.length)];
          if (act === 'connect') sockets.push(connect(`192.0.${block}.${pick % 256}`));
          else if (act === 'ask' && socket) responses.push(ask(socket));
          else if (act === 'answer') responses.shift()?.emit('close');
          else socket?.destroy();
          sockets = sockets.filter(({ destroyed }) => !destroyed);
          responses = responses.filter(({ destroyed }) => !destroyed);
          expect(connections.count()).toBe(sockets.length);
          expect(sockets.length).toBeLessThanOrEqual(limits.maxConnections);
          for (let n = 0; n <= 6; n += 1)
            expect(
              sockets.filter(({ remoteAddress }) => remoteAddress.startsWith(`192.0.${n}.`)).length,
            ).toBeLessThanOrEqual(limits.maxPerBlock);
        }
      }),
    );
  });
});

describe('what is read in pieces', () => {
  const head = (name: string) => `GET /${name} HTTP/1.1\r\n\r\n`;

  test('a chunk is cut into pieces of at most so many heads, which together are the chunk', () => {
    const text = fc.oneof(fc.constant('\r\n'), fc.constant('\r\n\r\n'), fc.nat(99).map(String).map(head));
    fc.assert(
      fc.property(fc.array(text), fc.integer({ min: 1, max: 9 }), (texts, heads) => {
        const chunk = Buffer.from(texts.join(''));
        const pieces: string[] = [];
        for (let from = 0; from < chunk.length;) {
          const end = endOfPiece(chunk, from, heads);
          pieces.push(chunk.subarray(from, end).toString());
          from = end;
        }
        expect(pieces.join('')).toBe(chunk.toString());
        for (const piece of pieces) expect(piece.split(' HTTP/1.1').length - 1).toBeLessThanOrEqual(heads);
      }),
    );
  });
});
