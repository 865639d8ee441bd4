import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { type AddressPolicy, isAllowedAddress } from '../../net/addressPolicy.ts';

/** With one DNS server, two tries take at most 3 seconds, less than the 5 seconds that a connection may take. */
const QUERY = { timeout: 1_500, maxTimeout: 1_500, tries: 2 };

export type NameResolver = Pick<Resolver, 'resolve4' | 'resolve6'>;

export class AddressNotAllowed extends Error {
  readonly code = 'ADDRESS_NOT_ALLOWED';
}

/** `code` is `DNS_` and the code of Node's resolver, for example `DNS_ENOTFOUND`. */
export class LookupFailed extends Error {
  readonly code: `DNS_${string}`;

  constructor(code: string) {
    super(`DNS lookup failed: ${code}`);
    this.code = `DNS_${code}`;
  }
}

/** `getaddrinfo` would block one of the four threads of Node's pool. */
export function nameResolver(): NameResolver {
  return new Resolver(QUERY);
}

/**
 * Fails unless all addresses of a name are allowed. The socket connects to a checked address, so DNS rebinding is not
 * possible. Sockets do not look up IP addresses: the caller must check these.
 */
export function checkedLookup(policy: AddressPolicy, resolver: NameResolver): LookupFunction {
  return (hostname, { all }, callback) => {
    addressesOf(hostname, resolver).then(
      (addresses) => {
        const [first] = addresses;
        if (!first || !addresses.every(({ address }) => isAllowedAddress(address, policy)))
          callback(new AddressNotAllowed(), '');
        else if (all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error as Error, ''),
    );
  };
}

/** IPv4 first, because Lambda functions have no IPv6. Throws LookupFailed if no address is found. */
async function addressesOf(hostname: string, resolver: NameResolver): Promise<LookupAddress[]> {
  // These names always mean this machine and are not sent to DNS (RFC 6761).
  if (/(^|\.)localhost\.?$/i.test(hostname))
    return [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ];
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [
    ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (addresses.length > 0) return addresses;
  const codes = [v4, v6].map(
    (result) => (result.status === 'rejected' ? (result.reason as NodeJS.ErrnoException).code : undefined) ?? 'ENODATA',
  );
  // Prefers the other code, because ENODATA only means that the name has no IPv4 or no IPv6 address.
  throw new LookupFailed(codes.find((code) => code !== 'ENODATA') ?? 'ENODATA');
}
