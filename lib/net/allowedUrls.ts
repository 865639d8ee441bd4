import { invalid } from '../shared/errors.ts';
import { type AddressPolicy, isAllowedHost } from './addressPolicy.ts';

/**
 * Throws INVALID_ARGUMENT if the host of a URL is a local name or an address that is not public. The error has one issue per such
 * URL. `urls` has the URLs by field name, and `path` is the path of the object with these fields. Host names are resolved and
 * checked at each delivery, not here.
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
