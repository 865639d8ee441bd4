import { domainToASCII } from 'node:url';
import * as z from 'zod';
import { distinct } from '../../shared/collections.ts';
import { ApiError } from '../../shared/errors.ts';
import { defineSchema } from '../../shared/schema.ts';

/** The most domains of one API key. */
export const MAX_DOMAINS = 500;
/** The most domains in one call. */
export const MAX_DOMAINS_PER_CALL = 100;

const WILDCARD = '*.';
const MAX_TEXT_CHARACTERS = 2_048;
const MAX_NAME_CHARACTERS = 253;

/** Matches a host with optional scheme, port and path. The first group is the wildcard `*.`, and the second is the host. */
const ADDRESS = /^(?:https?:\/\/)?(\*\.)?([^/?#:@\\\s]+)(?::\d{1,5})?(?:[/?#]\S*)?$/i;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * The only IP address that a list of allowed domains can contain. It enters the list only with a new API key, when `localhost` is
 * added.
 */
export const LOOPBACK_ADDRESS = '127.0.0.1';

/** A domain in a request. Its parsed value is the result of `parseDomain`. */
export const Domain = /* @__PURE__ */ defineSchema(() => domainField(parseDomain));

/** A domain to remove from the list. It can also be the loopback address. */
export const RemovedDomain = /* @__PURE__ */ defineSchema(() =>
  domainField((text) => (text === LOOPBACK_ADDRESS ? text : parseDomain(text))),
);

function domainField(parse: (text: string) => string | undefined) {
  return z
    .string()
    .max(MAX_TEXT_CHARACTERS)
    .transform((text, context) => {
      const domain = parse(text);
      if (domain !== undefined) return domain;
      context.issues.push({
        code: 'custom',
        input: text,
        message: 'must be a domain such as example.com, *.example.com or localhost',
      });
      return z.NEVER;
    });
}

/**
 * Returns the host in a text in the form in which domains are stored: `xn--bcher-kva.example` for
 * `https://www.Bücher.example:8443/page`. Returns undefined for a text without a host, for an IP address, and for a name without a
 * dot except `localhost`.
 */
export function parseDomain(text: string): string | undefined {
  const [, wildcard = '', host = ''] = ADDRESS.exec(text) ?? [];
  const name = asciiName(host);
  return isDomainName(name) ? wildcard + (wildcard ? name : withoutWww(name)) : undefined;
}

function isDomainName(name: string): boolean {
  const labels = name.split('.');
  return (
    name.length <= MAX_NAME_CHARACTERS &&
    labels.every((label) => LABEL.test(label)) &&
    (name === 'localhost' || (labels.length > 1 && !/^\d+$/.test(labels.at(-1) ?? '')))
  );
}

/** The result of adding domains to a list or removing domains from it. */
export interface DomainChange {
  /** The list after the change. */
  readonly domains: string[];
  /** The added or removed domains. */
  readonly changed: string[];
  /** The domains that changed nothing: added ones that were in the list already, or removed ones that were not in it. */
  readonly skipped: string[];
}

/** Adds domains to the list `present`. Throws RESOURCE_EXHAUSTED if the list would have more than 500 domains. */
export function addDomains(present: readonly string[], added: readonly string[]): DomainChange {
  const { listed: skipped, unlisted: changed } = partition(present, added);
  const domains = [...present, ...changed];
  if (domains.length > MAX_DOMAINS)
    throw new ApiError('RESOURCE_EXHAUSTED', `An API key can allow at most ${MAX_DOMAINS} domains.`);
  return { domains, changed, skipped };
}

/** Removes domains from the list `present`. */
export function removeDomains(present: readonly string[], deleted: readonly string[]): DomainChange {
  const { listed: changed, unlisted: skipped } = partition(present, deleted);
  const removed = new Set(changed);
  return { domains: present.filter((domain) => !removed.has(domain)), changed, skipped };
}

/** Splits domains into those in the list `present` and those that are not, without duplicates. */
function partition(present: readonly string[], domains: readonly string[]): { listed: string[]; unlisted: string[] } {
  const presentDomains = new Set(present);
  const names = distinct(domains);
  return {
    listed: names.filter((name) => presentDomains.has(name)),
    unlisted: names.filter((name) => !presentDomains.has(name)),
  };
}

/**
 * Returns whether a host (without port) matches one of the allowed domains. `*.example.com` matches subdomains at any depth, but
 * not `example.com` itself. Case, a leading `www.`, a final dot and punycode make no difference.
 */
export function matchesDomain(host: string, patterns: readonly string[]): boolean {
  const name = asciiName(host);
  return (
    name !== '' &&
    patterns.some((pattern) => {
      if (pattern.startsWith(WILDCARD)) return name.endsWith(`.${asciiName(pattern.slice(WILDCARD.length))}`);
      return withoutWww(name) === withoutWww(asciiName(pattern));
    })
  );
}

/** Returns the origin of a request if its host is an allowed domain, otherwise undefined. */
export function allowedOrigin(origin: string | undefined, domains: readonly string[]): string | undefined {
  const url = origin !== undefined && URL.canParse(origin) ? new URL(origin) : undefined;
  if (!url || url.origin !== origin || !['http:', 'https:'].includes(url.protocol)) return undefined;
  return matchesDomain(url.hostname, domains) ? origin : undefined;
}

/** Returns a name in lower-case ASCII without a final dot, or an empty text for an invalid name. */
function asciiName(host: string): string {
  return domainToASCII(host).toLowerCase().replace(/\.$/, '');
}

/** Removes every leading `www.` if a name with a dot remains: `example.com` for `www.example.com`, but `www.com` for `www.com`. */
function withoutWww(name: string): string {
  let start = 0;
  while (name.startsWith('www.', start) && name.includes('.', start + 4)) start += 4;
  return name.slice(start);
}
