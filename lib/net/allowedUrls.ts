import { invalid } from '../shared/errors.ts';
import { type AddressPolicy, isAllowedHost } from './addressPolicy.ts';

/**
 * Throws INVALID_ARGUMENT, with an issue for each field, for URLs whose host is a local name or an address that is not public.
 * `urls` has the URLs by field, and `path` is the path of the fields. Each delivery checks the addresses that DNS returns for host
 * names.
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
