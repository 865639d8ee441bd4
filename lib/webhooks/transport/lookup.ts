import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { type AddressPolicy, isAllowedAddress } from '../../net/addressPolicy.ts';

/** A lookup takes at most three seconds (two tries), which leaves time to connect. */
const QUERY = { timeout: 1_500, maxTimeout: 1_500, tries: 2 };

/** Node's resolver, or one of a test that asks another server. */
export type NameResolver = Pick<Resolver, 'resolve4' | 'resolve6'>;

/** A name that resolves to an address which is not allowed. */
export class AddressNotAllowed extends Error {
  readonly code = 'ADDRESS_NOT_ALLOWED';
}

/** A name that does not resolve. `code` is `DNS_` and the code of DNS, such as `ENOTFOUND`. */
export class LookupFailed extends Error {
  readonly code: `DNS_${string}`;

  constructor(code: string) {
    super(`DNS lookup failed: ${code}`);
    this.code = `DNS_${code}`;
  }
}

/** Returns a resolver that queries DNS on the event loop. `getaddrinfo` would block one of the four threads of the process. */
export function nameResolver(): NameResolver {
  return new Resolver(QUERY);
}

/**
 * Returns a lookup for sockets that fails unless all addresses of the name are allowed. The socket connects to the checked addresses, so that
 * DNS rebinding is not possible. Sockets do not look up literal addresses: check those before.
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

/** Returns the addresses of a name, IPv4 first, because functions have no IPv6. */
async function addressesOf(hostname: string, resolver: NameResolver): Promise<LookupAddress[]> {
  // These names always mean this machine and are not sent to DNS (RFC 6761). The policy decides about the addresses.
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
    (one) => (one.status === 'rejected' ? (one.reason as NodeJS.ErrnoException).code : undefined) ?? 'ENODATA',
  );
  // A missing kind of address (ENODATA) is normal. Any other code is the reason of the failure.
  throw new LookupFailed(codes.find((code) => code !== 'ENODATA') ?? 'ENODATA');
}
