import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { environment } from '../../../lib/app/capability.ts';
import { addressPolicy, isAllowedAddress, isAllowedHost } from '../../../lib/net/addressPolicy.ts';
import { testProperty } from '../../support/testProperty.ts';

const loopbackToo = { allowLoopback: true };

/** Returns whether a URL with this host is allowed. The host is not looked up. */
const allowsUrl = (host: string, policy = { allowLoopback: false }) =>
  isAllowedHost(new URL(`http://${host}/hook`).hostname, policy);

// Copied from the IANA registries of special-purpose addresses, and not from the library under test.
const special4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map((cidr) => {
  const [base = '', bits = ''] = cidr.split('/');
  return { base: numberOf(base), size: 2 ** (32 - Number(bits)) };
});

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

const partsOf = (n: number) => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255] as const;
const dotted = (n: number) => partsOf(n).join('.');
const isSpecial = (n: number) => special4.some(({ base, size }) => n >= base && n < base + size);
const hex4 = (n: number) => n.toString(16).padStart(4, '0');

/** Returns all forms in which a URL can contain an IPv4 address. */
function spellings(n: number): string[] {
  const [a, b, c, d] = partsOf(n);
  const octal = (part: number) => `0${part.toString(8)}`;
  return [
    dotted(n),
    `${dotted(n)}.`,
    `${dotted(n)}..`,
    String(n),
    `0x${n.toString(16)}`,
    `0${n.toString(8)}`,
    [a, b, c, d].map(octal).join('.'),
    [a, b, c, d].map((part) => `0x${part.toString(16)}`).join('.'),
    `${a}.${(n & 0xffffff) >>> 0}`,
    `${a}.${b}.${n & 0xffff}`,
    `${octal(a)}.0x${b.toString(16)}.${n & 0xffff}`,
    `[::ffff:${dotted(n)}]`,
    `[::ffff:${hex4(n >>> 16)}:${hex4(n & 0xffff)}]`,
    `[0:0:0:0:0:FFFF:${hex4(n >>> 16)}:${hex4(n & 0xffff)}]`,
  ];
}

const inSpecial4 = fc
  .constantFrom(...special4)
  .chain(({ base, size }) => fc.integer({ min: 0, max: size - 1 }).map((offset) => base + offset));
const anyIpv4 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const groups = (count: number) => fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: count, maxLength: count });
const ipv6 = (parts: readonly number[]) => parts.map((part) => part.toString(16)).join(':');

describe('isAllowedAddress', () => {
  testProperty(
    'allows exactly the public addresses, in every spelling',
    [fc.oneof(inSpecial4, anyIpv4)],
    (n) => {
      const isWrong = (isAllowed: boolean) => isAllowed === isSpecial(n);
      expect([
        ...[dotted(n)].filter((address) => isWrong(isAllowedAddress(address))),
        ...spellings(n).filter((host) => isWrong(allowsUrl(host))),
      ]).toEqual([]);
    },
    { numRuns: 4_000 },
  );

  test('decides exactly at the edges of each special range', () => {
    const edges = special4.flatMap(({ base, size }) => [base - 1, base, base + size - 1, base + size]);
    const addresses = edges.filter((n) => n >= 0 && n < 2 ** 32);
    expect(addresses.filter((n) => isAllowedAddress(dotted(n)) === isSpecial(n)).map(dotted)).toEqual([]);
  });

  test('rejects IPv6 addresses outside the assigned public range', () => {
    const outside = groups(8)
      .filter(([first = 0]) => first < 0x2000 || first > 0x3fff)
      .filter((parts) => !(parts.slice(0, 5).every((part) => part === 0) && parts[5] === 0xffff));
    fc.assert(
      fc.property(outside, (parts) => {
        expect(isAllowedAddress(ipv6(parts))).toBe(false);
        expect(allowsUrl(`[${ipv6(parts)}]`)).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  testProperty(
    'allows assigned public IPv6 addresses',
    [fc.integer({ min: 0x2400, max: 0x2fff }).filter((first) => first !== 0x2620), groups(7)],
    (first, rest) => {
      expect(isAllowedAddress(ipv6([first, ...rest]))).toBe(true);
      expect(allowsUrl(`[${ipv6([first, ...rest])}]`)).toBe(true);
    },
    { numRuns: 1_000 },
  );

  test.each([
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['unique local', 'fd00::1'],
    ['the metadata service of EC2', 'fd00:ec2::254'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['documentation', '2001:db8::1'],
    ['newer documentation', '3fff::1'],
    ['segment routing', '5f00::1'],
    ['discard', '100::1'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['6to4 of a private address', '2002:a00:1::'],
    ['6to4 of a public one', '2002:808:808::'],
    ['ORCHID', '2001:20::1'],
    ['NAT64 of loopback', '64:ff9b::7f00:1'],
    ['NAT64 of the metadata service', '64:ff9b::a9fe:a9fe'],
    ['local NAT64', '64:ff9b:1::1'],
    ['IPv4-translated', '::ffff:0:127.0.0.1'],
    ['IPv4-compatible', '::127.0.0.1'],
    ['IPv4-compatible in hexadecimal', '::7f00:1'],
    ['benchmarking', '2001:2::1'],
    ['AS112', '2620:4f:8000::1'],
  ])('rejects an address that is %s', (_what, address) => {
    expect(isAllowedAddress(address)).toBe(false);
    if (!address.includes('%')) expect(allowsUrl(`[${address}]`)).toBe(false);
  });

  test.each([
    ['nothing', ''],
    ['a name', 'example.com'],
    ['an address and a port', '8.8.8.8:80'],
    ['brackets', '[2606:4700::1111]'],
    ['five numbers', '1.2.3.4.5'],
    ['a number out of range', '256.1.1.1'],
  ])('rejects text that is not an address: %s', (_what, text) => {
    expect(isAllowedAddress(text)).toBe(false);
  });
});

describe('isAllowedHost', () => {
  test.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'a.b.LocalHost.',
    '%6c%6f%63alhost',
    'ｌｏｃａｌｈｏｓｔ',
    '①②⑦.0.0.1',
    '127。0。0。1',
    '0',
    '0x7f.1',
  ])('rejects %s without a DNS lookup', (host) => {
    expect(allowsUrl(host)).toBe(false);
  });

  test.each([
    'example.com',
    'example.com.',
    'localhost.example.com',
    'mylocalhost',
    '10.example.com',
    '127.0.0.1.nip.io',
    'xn--bcher-kva.example',
    '8.8.8.8',
    '[2606:4700:4700::1111]',
  ])('allows %s before its DNS lookup', (host) => {
    expect(allowsUrl(host)).toBe(true);
  });

  test('rejects an empty host', () => {
    expect(['', '.', '..'].map((host) => isAllowedHost(host))).toEqual([false, false, false]);
  });
});

describe('isAllowedHost and addressPolicy with loopback allowed', () => {
  test.each(['localhost', 'a.localhost.', '127.0.0.1', '127.255.255.254', '2130706433', '[::1]', '[::ffff:127.0.0.1]'])(
    'allows %s',
    (host) => {
      expect(allowsUrl(host, loopbackToo)).toBe(true);
    },
  );

  test.each([
    '0.0.0.0',
    '10.0.0.1',
    '169.254.169.254',
    '192.168.0.1',
    '[::]',
    '[fd00::1]',
    '[64:ff9b::7f00:1]',
    '[::127.0.0.1]',
  ])('still rejects %s', (host) => {
    expect(allowsUrl(host, loopbackToo)).toBe(false);
  });

  test.each([
    [{}, false],
    [{ ALLOW_LOOPBACK_DELIVERY: 'true' }, true],
    [{ ALLOW_LOOPBACK_DELIVERY: 'false' }, false],
    [{ ALLOW_LOOPBACK_DELIVERY: '' }, false],
  ])('allows loopback only if ALLOW_LOOPBACK_DELIVERY is true, which no template sets: %j', (source, allowLoopback) => {
    expect(addressPolicy.env).toEqual([]);
    expect(addressPolicy.open(environment(source))).toEqual({ allowLoopback });
  });
});
