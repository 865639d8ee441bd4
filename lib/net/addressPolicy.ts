import ipaddr from 'ipaddr.js';
import { type Capability, optionalVariable } from '../app/capability.ts';

export interface AddressPolicy {
  readonly allowLoopback: boolean;
}

const publicOnly: AddressPolicy = { allowLoopback: false };

const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Accepts public addresses in any notation, and loopback if `allowLoopback`. */
export function isAllowedAddress(address: string, { allowLoopback }: AddressPolicy = publicOnly): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  const range = ip.range();
  if (range === 'loopback') return allowLoopback;
  // The library returns `unicast` for unknown IPv6 ranges too, such as `::7f00:1`, an obsolete form of 127.0.0.1.
  return range === 'unicast' && (ip.kind() === 'ipv4' || ip.match(GLOBAL_IPV6));
}

/** Checks local names and IP addresses. For other names, `isAllowedAddress` checks the addresses at each connection. */
export function isAllowedHost(hostname: string, policy: AddressPolicy = publicOnly): boolean {
  const host = trimFinalDots(hostname.toLowerCase().replace(/^\[|\]$/g, ''));
  if (host === 'localhost' || host.endsWith('.localhost')) return policy.allowLoopback;
  return ipaddr.isValid(host) ? isAllowedAddress(host, policy) : host !== '';
}

/** `\.+$` would take quadratic time. */
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
