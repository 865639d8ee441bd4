import { invalid } from '../shared/errors.ts';
import { type AddressPolicy, isAllowedHost } from './addressPolicy.ts';

/**
 * Refuses URLs whose host is a local name or an address that is not public (design 6): INVALID_ARGUMENT naming each. What
 * names resolve to is checked at each delivery, not here. The URLs are by field, below `path`.
 */
export function requireAllowedUrls(
  urls: Readonly<Record<string, string | undefined>>,
  policy: AddressPolicy,
  path: readonly string[] = [],
): void {
  const refused = Object.entries(urls).filter(([, url]) => url && !isAllowedHost(new URL(url).hostname, policy));
  const [first, ...rest] = refused.map(([field]) => ({
    path: [...path, field],
    code: 'address_not_allowed',
    message: `${[...path, field].join('.')} must not lead to a loopback, private or reserved address`,
  }));
  if (first) throw invalid(first, ...rest);
}
