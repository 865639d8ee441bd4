import { parseHttpUrl } from '../../net/httpUrl.ts';
import { isObject } from '../../shared/collections.ts';
import { matchesDomain } from '../../workspaces/rules/domains.ts';

export interface UserWritten {
  readonly thread: readonly string[];
  readonly comments: readonly number[];
  readonly domains: readonly string[];
}

const TOKEN = /[^\s<>"]+/gu;
const WWW = /(?<![\p{L}\p{N}@.-])www[.。．｡]/iu;
/** The other full stops also separate labels of a host name (IDNA). */
const HOSTS = /([\p{L}\p{N}.。．｡-]+)/u;
const DOT_BEFORE_LETTER = /(?<=[\p{L}\p{N}-])[.。．｡](?=\p{L})/gu;

export function isAllowedLink(text: string, domains: readonly string[]): boolean {
  const url = text.length > 2_048 || text.includes('\\') ? undefined : parseHttpUrl(text);
  return url !== undefined && url.username === '' && url.password === '' && matchesDomain(url.hostname, domains);
}

/** Replaces words with a foreign URL by `[link removed]`, and breaks foreign host names, because mail programs link them too. */
export function withoutForeignLinks(text: string, domains: readonly string[]): string {
  return text.replace(TOKEN, (token) => {
    const start = urlStart(token);
    if (start === undefined) return withoutHosts(token, domains);
    if (!isAllowedUrl(token.slice(start), domains)) return '[link removed]';
    return withoutHosts(token.slice(0, start), domains) + token.slice(start);
  });
}

function urlStart(token: string): number | undefined {
  const start = token.search(token.includes('://') ? /https?:\/\//i : WWW);
  return start < 0 ? (token.includes('://') ? 0 : undefined) : start;
}

function isAllowedUrl(url: string, domains: readonly string[]): boolean {
  return isAllowedLink(url.includes('://') ? url : `https://${url}`, domains);
}

function withoutHosts(text: string, domains: readonly string[]): string {
  return text
    .split(HOSTS)
    .map((part, index) =>
      index % 2 === 0 || matchesDomain(part, domains) ? part : part.replace(DOT_BEFORE_LETTER, '. '),
    )
    .join('');
}

/** Drops texts that have a foreign URL or are another link. Returns undefined if the `id` is dropped. */
export function withoutForeignUrls<V extends Readonly<Record<string, unknown>>>(
  value: V,
  domains: readonly string[],
): V | undefined {
  const cleaned = clean(value, domains) as V;
  return 'id' in value && !('id' in cleaned) ? undefined : cleaned;
}

/** Links without `scheme://` that a page could follow. */
const OTHER_LINK = /^(?:(?:javascript|vbscript|data|blob|file|mailto|tel|sms):|[\\/][\\/])/i;

function clean(value: unknown, domains: readonly string[]): unknown {
  if (typeof value === 'string') {
    return OTHER_LINK.test(value.trim()) || hasForeignUrl(value, domains) ? undefined : value;
  }
  if (Array.isArray(value)) return value.map((item) => clean(item, domains)).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, field]) => [name, clean(field, domains)] as const);
  return Object.fromEntries(entries.filter(([, field]) => field !== undefined));
}

function hasForeignUrl(text: string, domains: readonly string[]): boolean {
  return (text.match(TOKEN) ?? []).some((token) => {
    const start = urlStart(token);
    return start !== undefined && !isAllowedUrl(token.slice(start), domains);
  });
}
