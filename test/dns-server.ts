import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface DnsAnswer {
  addresses: string[];
  ttl?: number;
  /** How late it answers. */
  delayMs?: number;
}

/** What a name server says of a name: its IPv4 addresses, that there is no such name, or nothing at all. */
export type DnsReply = DnsAnswer | 'NXDOMAIN' | 'SILENT';

export interface DnsServer {
  /** As DNS_SERVERS takes it. */
  address: string;
  /** One entry for each query, also those that were not answered. */
  asked: { name: string; type: 'A' | 'AAAA'; at: number }[];
  close(): Promise<void>;
}

const typeA = 1;
const responseTo = 0x8180; // an answer, recursion desired and available
const nxdomain = 3;

/** A small real name server on loopback: A records over UDP, and silence. */
export async function startDnsServer(reply: (name: string) => DnsReply): Promise<DnsServer> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
  const asked: DnsServer['asked'] = [];
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    asked.push({ name, type: type === typeA ? 'A' : 'AAAA', at: Date.now() });
    const answer = reply(name);
    if (answer === 'SILENT') return;
    const respond = () => socket.send(responseOf(query.subarray(0, end), type, answer), port, address);
    if (answer === 'NXDOMAIN' || answer.delayMs === undefined) return respond();
    const timer = setTimeout(respond, answer.delayMs);
    socket.once('close', () => clearTimeout(timer));
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
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

function responseOf(question: Buffer, type: number, answer: Exclude<DnsReply, 'SILENT'>): Buffer {
  const known = answer !== 'NXDOMAIN';
  const records = known && type === typeA ? answer.addresses.map((ip) => record(ip, answer.ttl ?? 0)) : [];
  const response = Buffer.concat([question, ...records]);
  response.writeUInt16BE(responseTo | (known ? 0 : nxdomain), 2);
  response.writeUInt16BE(1, 4);
  response.writeUInt16BE(records.length, 6);
  response.writeUInt16BE(0, 8);
  response.writeUInt16BE(0, 10);
  return response;
}

/** The name of the question (a pointer to it), A, IN, its time to live, four bytes of address. */
function record(ip: string, ttl: number): Buffer {
  const bytes = Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4, ...ip.split('.').map(Number)]);
  bytes.writeUInt32BE(ttl, 6);
  return bytes;
}
