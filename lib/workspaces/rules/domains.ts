import { domainToASCII } from 'node:url';
import * as z from 'zod';
import { distinct } from '../../shared/collections.ts';
import { ApiError } from '../../shared/errors.ts';
import { defineSchema } from '../../shared/schema.ts';

export const MAX_DOMAINS = 500;
export const MAX_DOMAINS_PER_CALL = 100;

const WILDCARD = '*.';
const MAX_TEXT_CHARACTERS = 2_048;
const MAX_NAME_CHARACTERS = 253;

/** The groups are the wildcard `*.` and the host. */
const ADDRESS = /^(?:https?:\/\/)?(\*\.)?([^/?#:@\\\s]+)(?::\d{1,5})?(?:[/?#]\S*)?$/i;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** `domains/add` refuses this IP address. The creation of an API key can allow it, with `localhost`. */
export const LOOPBACK_ADDRESS = '127.0.0.1';

export const Domain = /* @__PURE__ */ defineSchema(() => domainField(parseDomain));

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
 * Returns a host as domains are stored: `xn--bcher-kva.example` for `https://www.Bücher.example:8443/page`. Undefined
 * for an invalid text, an IP address, and a name without a dot except `localhost`.
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

export interface DomainChange {
  readonly domains: string[];
  readonly changed: string[];
  /** Added domains that were in the list, or removed ones that were not. */
  readonly skipped: string[];
}

/** Throws RESOURCE_EXHAUSTED above 500 domains. */
export function addDomains(present: readonly string[], added: readonly string[]): DomainChange {
  const { listed: skipped, unlisted: changed } = partition(present, added);
  const domains = [...present, ...changed];
  if (domains.length > MAX_DOMAINS)
    throw new ApiError('RESOURCE_EXHAUSTED', `An API key can allow at most ${MAX_DOMAINS} domains.`);
  return { domains, changed, skipped };
}

export function removeDomains(present: readonly string[], deleted: readonly string[]): DomainChange {
  const { listed: changed, unlisted: skipped } = partition(present, deleted);
  const removed = new Set(changed);
  return { domains: present.filter((domain) => !removed.has(domain)), changed, skipped };
}

function partition(present: readonly string[], domains: readonly string[]): { listed: string[]; unlisted: string[] } {
  const presentDomains = new Set(present);
  const names = distinct(domains);
  return {
    listed: names.filter((name) => presentDomains.has(name)),
    unlisted: names.filter((name) => !presentDomains.has(name)),
  };
}

/**
 * `*.example.com` matches subdomains at any depth, but not `example.com`. Case, a final dot and punycode make no
 * difference. A leading `www.` makes none if the pattern has no wildcard.
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

/** Undefined if the origin is invalid or its host is not allowed. */
export function allowedOrigin(origin: string | undefined, domains: readonly string[]): string | undefined {
  const url = origin !== undefined && URL.canParse(origin) ? new URL(origin) : undefined;
  if (!url || url.origin !== origin || !['http:', 'https:'].includes(url.protocol)) return undefined;
  return matchesDomain(url.hostname, domains) ? origin : undefined;
}

/** Empty for an invalid name. */
function asciiName(host: string): string {
  return domainToASCII(host).toLowerCase().replace(/\.$/, '');
}

/** `example.com` for `www.example.com`, but `www.com` stays. */
function withoutWww(name: string): string {
  let start = 0;
  while (name.startsWith('www.', start) && name.includes('.', start + 4)) start += 4;
  return name.slice(start);
}
