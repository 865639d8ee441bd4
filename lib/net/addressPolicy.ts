import ipaddr from 'ipaddr.js';
import { type Capability, optionalVariable } from '../app/capability.ts';

/** The addresses to which the service may connect for customers, in addition to public addresses. */
export interface AddressPolicy {
  /** True only in the local run, never in a deployed function. */
  readonly allowLoopback: boolean;
}

const publicOnly: AddressPolicy = { allowLoopback: false };

/** The range of all assigned public IPv6 addresses. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Returns whether the service may connect to an IP address, in any notation. It may connect to public addresses, and to loopback
 * addresses if `allowLoopback` is true. Returns false for text that is not an IP address.
 */
export function isAllowedAddress(address: string, { allowLoopback }: AddressPolicy = publicOnly): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  const range = ip.range();
  if (range === 'loopback') return allowLoopback;
  // The library returns `unicast` also for IPv6 ranges that it does not know, such as `::7f00:1`, an obsolete form of 127.0.0.1.
  // IPv6 addresses must therefore also be in the range of public addresses.
  return range === 'unicast' && (ip.kind() === 'ipv4' || ip.match(GLOBAL_IPV6));
}

/**
 * Returns whether the service may connect to the host of a parsed URL, without a DNS query. Checks local names and IP addresses.
 * For other names, `isAllowedAddress` checks the resolved addresses at each connection.
 */
export function isAllowedHost(hostname: string, policy: AddressPolicy = publicOnly): boolean {
  const host = trimFinalDots(hostname.toLowerCase().replace(/^\[|\]$/g, ''));
  if (host === 'localhost' || host.endsWith('.localhost')) return policy.allowLoopback;
  return ipaddr.isValid(host) ? isAllowedAddress(host, policy) : host !== '';
}

/**
 * Returns a host without dots at its end. The expression `\.+$` would take quadratic time for many dots before another character.
 */
function trimFinalDots(host: string): string {
  let end = host.length;
  while (host[end - 1] === '.') end--;
  return host.slice(0, end);
}

export const addressPolicy: Capability<AddressPolicy> = {
  grants: [],
  env: [],
  open: (env) => ({ allowLoopback: optionalVariable(env, 'ALLOW_LOOPBACK_DELIVERY') === 'true' }),
};
