import ipaddr from 'ipaddr.js';
import { type Capability, optionalVariable } from '../app/capability.ts';

/** What customers may make us connect to besides public addresses. */
export interface AddressPolicy {
  /** For the run on one machine only; a deployed function never has it. */
  readonly allowLoopback: boolean;
}

const publicOnly: AddressPolicy = { allowLoopback: false };

/** All IPv6 addresses that are assigned to anybody on the internet lie in it. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an IP address may be connected to: a public one, whatever its spelling (design 6). What is no address may not. */
export function isAllowedAddress(address: string, { allowLoopback }: AddressPolicy = publicOnly): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  const range = ip.range();
  if (range === 'loopback') return allowLoopback;
  // The library calls everything unicast that it has no other name for: `::7f00:1`, which once meant 127.0.0.1, too.
  return range === 'unicast' && (ip.kind() === 'ipv4' || ip.match(GLOBAL_IPV6));
}

/**
 * Whether the host of a URL may be connected to, as far as can be told without asking DNS: it is no local name and no
 * address that is not allowed. `hostname` is that of a parsed URL, where an address has one spelling; what a name
 * resolves to is for `isAllowedAddress` at the time of the connection.
 */
export function isAllowedHost(hostname: string, policy: AddressPolicy = publicOnly): boolean {
  const host = withoutDotsAtEnd(hostname.toLowerCase().replace(/^\[|\]$/g, ''));
  if (host === 'localhost' || host.endsWith('.localhost')) return policy.allowLoopback;
  return ipaddr.isValid(host) ? isAllowedAddress(host, policy) : host !== '';
}

/** By hand: an expression such as `\.+$` takes quadratic time for many dots before another character. */
function withoutDotsAtEnd(host: string): string {
  let end = host.length;
  while (host[end - 1] === '.') end--;
  return host.slice(0, end);
}

/** What this function may be made to connect to. */
export const addressPolicy: Capability<AddressPolicy> = {
  grants: [],
  env: [],
  open: (env) => ({ allowLoopback: optionalVariable(env, 'ALLOW_LOOPBACK_DELIVERY') === 'true' }),
};
