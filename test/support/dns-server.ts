import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv6, type Server } from 'node:net';

export interface DnsResponse {
  addresses: string[];
  ttl?: number;
  delayMs?: number;
}

/** `SILENT`: no response at all. */
export type DnsReply = DnsResponse | keyof typeof codes | 'SILENT';

export interface DnsServer {
  address: string;
  /** One entry per query, including unanswered ones and those repeated over TCP. */
  asked: { name: string; type: 'A' | 'AAAA'; transport: 'udp' | 'tcp'; at: number }[];
  close(): Promise<void>;
}

const typeA = 1;
const typeAaaa = 28;
const responseTo = 0x8180; // a response, recursion desired and available
const truncated = 0x0200;
/** RFC 1035, 4.1.1 */
const codes = { SERVFAIL: 2, NXDOMAIN: 3 };
/** Longer responses are repeated over TCP. */
const maxUdpBytes = 512;

/** A and AAAA records over UDP and TCP, and silence. */
export async function startDnsServer(
  reply: (name: string, type: 'A' | 'AAAA') => DnsReply,
): Promise<DnsServer> {
  const asked: DnsServer['asked'] = [];
  const respond = (query: Buffer, transport: 'udp' | 'tcp', send: (response: Buffer) => void) => {
    const { name, type, end } = questionOf(query);
    const family = type === typeA ? 'A' : 'AAAA';
    asked.push({ name, type: family, transport, at: Date.now() });
    const said = reply(name, family);
    if (said === 'SILENT') return undefined;
    const respond = () => send(responseOf(query.subarray(0, end), type, said));
    if (typeof said === 'string' || said.delayMs === undefined) return void respond();
    return setTimeout(respond, said.delayMs);
  };

  const { socket, server } = await onePort();
  socket.setMaxListeners(0); // one for each delayed response
  socket.on('message', (query, { port, address }) => {
    const timer = respond(query, 'udp', (response) => {
      const fits = response.length <= maxUdpBytes;
      socket.send(fits ? response : cutShort(response, query.length), port, address);
    });
    if (timer) socket.once('close', () => clearTimeout(timer));
  });
  server.on('connection', (connection) => {
    let unread: Buffer = Buffer.alloc(0);
    connection.on('error', () => undefined);
    connection.on('data', (chunk) => {
      unread = Buffer.concat([unread, chunk]);
      while (unread.length >= 2 && unread.length >= 2 + unread.readUInt16BE()) {
        const end = 2 + unread.readUInt16BE();
        const timer = respond(unread.subarray(2, end), 'tcp', (response) => {
          const length = Buffer.alloc(2);
          length.writeUInt16BE(response.length);
          connection.write(Buffer.concat([length, response]));
        });
        if (timer) connection.once('close', () => clearTimeout(timer));
        unread = unread.subarray(end);
      }
    });
  });
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: async () => {
      server.close();
      await new Promise<void>((resolve) => socket.close(resolve));
    },
  };
}

async function onePort(): Promise<{ socket: Socket; server: Server }> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const server = createServer();
  server.listen(socket.address().port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return { socket, server };
  } catch {
    socket.close();
    return onePort();
  }
}

/** RFC 1035, 4.1.2: labels with their lengths, type and class, after a head of 12 bytes. */
function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function responseOf(question: Buffer, type: number, reply: Exclude<DnsReply, 'SILENT'>): Buffer {
  const [code, records] = typeof reply === 'string' ? [codes[reply], []] : [0, recordsOf(reply, type)];
  const response = Buffer.concat([question, ...records]);
  response.writeUInt16BE(responseTo | code, 2);
  response.writeUInt16BE(1, 4);
  response.writeUInt16BE(records.length, 6);
  response.writeUInt16BE(0, 8);
  response.writeUInt16BE(0, 10);
  return response;
}

function cutShort(response: Buffer, bytes: number): Buffer {
  const short = Buffer.from(response.subarray(0, questionOf(response.subarray(0, bytes)).end));
  short.writeUInt16BE(responseTo | truncated, 2);
  short.writeUInt16BE(0, 6);
  return short;
}

const made = new WeakMap<DnsResponse, Map<number, Buffer[]>>();

/** Cached, because a response may have thousands of records. */
function recordsOf(response: DnsResponse, type: number): Buffer[] {
  const byType = made.get(response) ?? new Map<number, Buffer[]>();
  made.set(response, byType);
  const records =
    byType.get(type) ??
    response.addresses.flatMap((ip) =>
      (isIPv6(ip) ? typeAaaa : typeA) === type ? record(ip, type, response.ttl ?? 0) : [],
    );
  byType.set(type, records);
  return records;
}

/** The name of the question (a pointer to it), type, IN, TTL and address; IPv6 as eight groups. */
function record(ip: string, type: number, ttl: number): Buffer {
  const address =
    type === typeA
      ? ip.split('.').map(Number)
      : ip.split(':').flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff]);
  const bytes = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, address.length, ...address]);
  bytes.writeUInt32BE(ttl, 6);
  return bytes;
}

/** As many addresses as two responses of 64 KiB can have: 4,000 of IPv4 and 2,100 of IPv6. */
export const hugeResponse: DnsResponse = {
  addresses: [
    ...Array.from({ length: 4_000 }, (_, n) => `127.1.${n >> 8}.${n & 0xff}`),
    ...Array.from({ length: 2_100 }, (_, n) => `2001:db8:0:0:0:0:0:${n.toString(16)}`),
  ],
  ttl: 60,
};
