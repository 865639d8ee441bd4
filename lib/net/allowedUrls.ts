import { invalid } from '../shared/errors.ts';
import { type AddressPolicy, isAllowedHost } from './addressPolicy.ts';

/**
 * Throws INVALID_ARGUMENT with an issue for each URL whose host is a local name or not public, unless `policy` allows
 * it. `urls` has the URLs by field name, below `path`. Host names are resolved and checked at each delivery, not here.
 */
export function requireAllowedUrls(
  urls: Readonly<Record<string, string | undefined>>,
  policy: AddressPolicy,
  path: readonly string[] = [],
): void {
  const refused = Object.entries(urls).filter(([, url]) => url && !isAllowedHost(new URL(url).hostname, policy));
  const [first, ...others] = refused.map(([field]) => ({
    path: [...path, field],
    code: 'address_not_allowed',
    message: `${[...path, field].join('.')} must not lead to a loopback, private or reserved address`,
  }));
  if (first) throw invalid(first, ...others);
}
