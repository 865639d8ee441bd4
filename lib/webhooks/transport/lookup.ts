import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { type AddressPolicy, isAllowedAddress } from '../../net/addressPolicy.ts';

/** Each query is sent twice at most, so a lookup takes three seconds at worst and leaves time to connect. */
const QUERY = { timeout: 1_500, maxTimeout: 1_500, tries: 2 };

/** What asks DNS: that of Node, or in tests one that asks another server. */
export type NameResolver = Pick<Resolver, 'resolve4' | 'resolve6'>;

/** A name resolves to an address that we may not connect to. */
export class AddressNotAllowed extends Error {
  readonly code = 'ADDRESS_NOT_ALLOWED';
}

/** A name does not resolve; `code` is that of DNS (`ENOTFOUND`, `ETIMEOUT`, ...), behind `DNS_`. */
export class LookupFailed extends Error {
  readonly code: `DNS_${string}`;

  constructor(code: string) {
    super(`DNS lookup failed: ${code}`);
    this.code = `DNS_${code}`;
  }
}

/** A resolver of names: asks DNS itself on the event loop, where `getaddrinfo` would hold one of the process's four threads until it gives up. */
export function nameResolver(): NameResolver {
  return new Resolver(QUERY);
}

/**
 * The lookup of sockets that may connect to allowed addresses only: every address that the name has must be one, and the
 * socket connects to those that were checked, so that a name cannot change its mind in between (deliveries 2.11). Sockets do
 * not look up literal addresses; those are to be checked before.
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
      (error: Error) => callback(error, ''),
    );
  };
}

/** The addresses of a name, IPv4 first: functions have no IPv6. */
async function addressesOf(hostname: string, resolver: NameResolver): Promise<LookupAddress[]> {
  // These names mean this machine everywhere and are not for DNS (RFC 6761); the policy decides on the addresses.
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
  // That there is no address of one kind says nothing; why there is none of the other does.
  throw new LookupFailed(codes.find((code) => code !== 'ENODATA') ?? 'ENODATA');
}
