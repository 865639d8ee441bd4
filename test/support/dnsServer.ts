import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { isIPv4 } from 'node:net';

const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };
const FAILURES = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;

/** Returns how the server answers a query: with IPv4 or IPv6 addresses, with a failure, or not at all. */
export type Zone = (name: string, type: 'A' | 'AAAA') => readonly string[] | keyof typeof FAILURES | 'silence';

/** Starts a local DNS server. Returns a resolver that uses it, and the list of received queries. */
export async function startDns(zone: Zone): Promise<{ resolver: Resolver; queries: string[]; stop: () => void }> {
  const queries: string[] = [];
  const socket = createSocket('udp4', (query, from) => {
    const { name, type, end } = questionOf(query);
    queries.push(`${type} ${name}`);
    const answer = zone(name, type);
    if (answer === 'silence') return;
    const addresses = typeof answer === 'string' ? [] : answer.filter((address) => isIPv4(address) === (type === 'A'));
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 | (typeof answer === 'string' ? FAILURES[answer] : 0), 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...addresses.map(recordOf)]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const resolver = new Resolver({ timeout: 200, maxTimeout: 200, tries: 2 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return { resolver, queries, stop: () => socket.close() };
}

function questionOf(query: Buffer): { name: string; type: 'A' | 'AAAA'; end: number } {
  const labels: string[] = [];
  let offset = 12;
  for (let length = query.readUInt8(offset); length > 0; length = query.readUInt8(offset)) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  return { name: labels.join('.'), type: TYPES[query.readUInt16BE(offset + 1)] ?? 'A', end: offset + 5 };
}

/** Returns a record that may be cached for an hour. The tested code must not cache it anyway. */
function recordOf(address: string): Buffer {
  const data = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(isIPv4(address) ? 1 : 28, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(3_600, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function ipv6Bytes(address: string): Buffer {
  const [front = [], back = []] = address.split('::').map((half) => half.split(':').filter(Boolean));
  const groups = address.includes('::')
    ? [...front, ...new Array<string>(8 - front.length - back.length).fill('0'), ...back]
    : front;
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
