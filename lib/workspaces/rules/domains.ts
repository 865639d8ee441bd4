import { domainToASCII } from 'node:url';
import * as z from 'zod';
import { distinct } from '../../shared/collections.ts';
import { ApiError } from '../../shared/errors.ts';

/** The most domains of an API key, and of one call. */
export const MOST_DOMAINS = 500;
export const MOST_DOMAINS_PER_CALL = 100;

const WILDCARD = '*.';
const LONGEST_TEXT = 2_048;
const LONGEST_NAME = 253;

/** An address. The first group is the wildcard, the second is the host. */
const ADDRESS = /^(?:https?:\/\/)?(\*\.)?([^/?#:@\\\s]+)(?::\d{1,5})?(?:[/?#]\S*)?$/i;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** The only IP address in a list of allowed domains: a new API key can allow it together with `localhost`. */
export const LOOPBACK_ADDRESS = '127.0.0.1';

/** A domain in a request, parsed by `parseDomain`. */
export const Domain = domainField(parseDomain);

/** A domain that a request deletes. It may be the loopback address. */
export const RemovedDomain = domainField((text) => (text === LOOPBACK_ADDRESS ? text : parseDomain(text)));

function domainField(parse: (text: string) => string | undefined) {
  return z
    .string()
    .max(LONGEST_TEXT)
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
 * Returns the bare domain in a text, as it is stored: `https://www.Bücher.example:8443/page` has
 * `xn--bcher-kva.example`. Undefined for a text without a domain. IP addresses and names without a dot are no domains,
 * except `localhost`.
 */
export function parseDomain(text: string): string | undefined {
  const [, wildcard = '', host = ''] = ADDRESS.exec(text) ?? [];
  const name = asciiName(host);
  return isDomainName(name) ? wildcard + (wildcard ? name : withoutWww(name)) : undefined;
}

function isDomainName(name: string): boolean {
  const labels = name.split('.');
  return (
    name.length <= LONGEST_NAME &&
    labels.every((label) => LABEL.test(label)) &&
    (name === 'localhost' || (labels.length > 1 && !/^\d+$/.test(labels.at(-1) ?? '')))
  );
}

/** The result of a change of the list of domains. */
export interface DomainChange {
  /** The list after the change. */
  readonly domains: string[];
  readonly changed: string[];
  /** The domains that needed no change. */
  readonly skipped: string[];
}

/** Adds domains to a list. Throws RESOURCE_EXHAUSTED when there would be more than 500. */
export function addDomains(present: readonly string[], added: readonly string[]): DomainChange {
  const { there: skipped, missing: changed } = split(present, added);
  const domains = [...present, ...changed];
  if (domains.length > MOST_DOMAINS)
    throw new ApiError('RESOURCE_EXHAUSTED', `An API key can allow at most ${MOST_DOMAINS} domains.`);
  return { domains, changed, skipped };
}

/** Removes domains from a list. */
export function removeDomains(present: readonly string[], deleted: readonly string[]): DomainChange {
  const { there: changed, missing: skipped } = split(present, deleted);
  const removed = new Set(changed);
  return { domains: present.filter((domain) => !removed.has(domain)), changed, skipped };
}

function split(present: readonly string[], named: readonly string[]): { there: string[]; missing: string[] } {
  const presentDomains = new Set(present);
  const names = distinct(named);
  return {
    there: names.filter((name) => presentDomains.has(name)),
    missing: names.filter((name) => !presentDomains.has(name)),
  };
}

/**
 * Returns whether a host is one of the allowed domains, or a subdomain of one written as `*.example.com`, at any depth
 * but not `example.com` itself. Case, a leading `www.`, a final dot and punycode make no difference. `host` has no
 * port.
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

/** Returns a name in lower-case ASCII without its final dot; empty for an invalid name. */
function asciiName(host: string): string {
  return domainToASCII(host).toLowerCase().replace(/\.$/, '');
}

/** Returns `example.com` for `www.example.com`, and `www.com` for `www.com`. */
function withoutWww(name: string): string {
  let at = 0;
  while (name.startsWith('www.', at) && name.includes('.', at + 4)) at += 4;
  return name.slice(at);
}
