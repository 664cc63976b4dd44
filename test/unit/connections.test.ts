import { describe, expect, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import fc from 'fast-check';
import { createConnections } from '../../src/http/connections/connections.js';
import { directProxies } from '../../src/http/connections/network.js';

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

const limits = { most: 8, maxOfBlock: 2 };

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

describe('the places for connections', () => {
  test('an address block has its share, in which a new connection takes the place of the longest idle one', () => {
    const { connect, ask, dropped } = world();
    const [first, second] = [connect('192.0.2.1'), connect('192.0.2.77')];
    ask(first).emit('close'); // answered: idle since just now
    const third = connect('192.0.2.3');
    expect([first, second, third].map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
    expect(dropped).toEqual(['displaced']);
  });

  test('whose request has not ended for a second is pushed out where nobody is idle, the oldest first', async () => {
    const { connect, ask, dropped } = world();
    const [first, second] = [connect('192.0.2.1'), connect('192.0.2.2')];
    ask(first, false);
    ask(second, false);
    expect(connect('192.0.2.3').destroyed).toBe(true); // their bodies may be on the way
    await sleep(1_050);
    const fourth = connect('192.0.2.4');
    expect([first, second, fourth].map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
    expect(dropped).toEqual(['refused', 'displaced']);
  });

  test('what is being answered is never pushed out: the new one is refused', () => {
    const { connect, ask, dropped } = world();
    const sockets = [connect('192.0.2.1'), connect('192.0.2.2')];
    sockets.map((socket) => ask(socket));
    expect(connect('192.0.2.3').destroyed).toBe(true);
    expect(dropped).toEqual(['refused']);
    expect(sockets.some(({ destroyed }) => destroyed)).toBe(false);
  });

  test.each(['127.0.0.1', '::1', '10.0.0.1'])('%s, behind which are many, may have them all', (address) => {
    const { connections, connect, dropped } = world();
    for (let n = 0; n < limits.most; n += 1) connect(address);
    expect([connections.count(), dropped]).toEqual([limits.most, []]);
    expect(connect('192.0.2.1').destroyed).toBe(false); // takes a place of who has most
    expect([connections.count(), dropped]).toEqual([limits.most, ['displaced']]);
  });

  test.each<[number | string[], string, number]>([
    [1, '203.0.113.9', limits.maxOfBlock],
    [2, '2001:db8::9', limits.maxOfBlock],
    [1, '10.1.2.3', limits.most],
    [1, '::ffff:172.17.0.1', limits.most],
    [1, '100.64.0.7', limits.most],
    [1, 'fd00::1', limits.most],
    [['203.0.113.0/24'], '203.0.113.9', limits.most],
    [['203.0.113.0/24'], '10.1.2.3', limits.maxOfBlock],
  ])('with the proxies %p, who connects directly from %s may have %p', (trustProxy, address, most) => {
    const { connections, connect } = world(trustProxy);
    for (let n = 0; n <= limits.most; n += 1) connect(address);
    expect(connections.count()).toBe(most);
  });

  test('a connection that breaks ends all its answers, those that wait behind another too', () => {
    const { connect, ask } = world();
    const socket = connect('192.0.2.1');
    let ended = 0;
    for (let n = 0; n < 3; n += 1) ask(socket).once('close', () => (ended += 1));
    socket.destroy();
    expect(ended).toBe(3);
  });

  test('are never more than there are, whoever comes, asks and goes', () => {
    const step = fc.record({
      act: fc.constantFrom('connect', 'ask', 'answer', 'leave'),
      block: fc.integer({ min: 0, max: 6 }),
      pick: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const { connections, connect, ask } = world();
        let sockets: FakeSocket[] = [];
        let answers: FakeResponse[] = [];
        for (const { act, block, pick } of steps) {
          const socket = sockets[pick % Math.max(1, sockets.length)];
          if (act === 'connect') sockets.push(connect(`192.0.${block}.${pick % 256}`));
          else if (act === 'ask' && socket) answers.push(ask(socket));
          else if (act === 'answer') answers.shift()?.emit('close');
          else socket?.destroy();
          sockets = sockets.filter(({ destroyed }) => !destroyed);
          answers = answers.filter(({ destroyed }) => !destroyed);
          expect(connections.count()).toBe(sockets.length);
          expect(sockets.length).toBeLessThanOrEqual(limits.most);
          for (let n = 0; n <= 6; n += 1)
            expect(
              sockets.filter(({ remoteAddress }) => remoteAddress.startsWith(`192.0.${n}.`)).length,
            ).toBeLessThanOrEqual(limits.maxOfBlock);
        }
      }),
    );
  });
});
