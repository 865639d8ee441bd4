import { matchesDomain } from '../../workspaces/rules/domains.ts';

/** Returns the origin of a request if its host is an allowed domain, otherwise undefined. */
export function allowedOrigin(origin: string | undefined, domains: readonly string[]): string | undefined {
  const url = origin !== undefined && URL.canParse(origin) ? new URL(origin) : undefined;
  if (!url || url.origin !== origin || !['http:', 'https:'].includes(url.protocol)) return undefined;
  return matchesDomain(url.hostname, domains) ? origin : undefined;
}
