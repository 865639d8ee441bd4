import { domainToASCII } from 'node:url';
import * as z from 'zod';
import { distinct } from '../../shared/collections.ts';
import { ApiError } from '../../shared/errors.ts';

/** How many domains an API key may allow, and how many one call may name (facts B13). */
export const MOST_DOMAINS = 500;
export const MOST_DOMAINS_PER_CALL = 100;

const WILDCARD = '*.';
const LONGEST_TEXT = 2_048;
const LONGEST_NAME = 253;

/** Everything of an address but its host, which is the second group; the first is the wildcard. */
const ADDRESS = /^(?:https?:\/\/)?(\*\.)?([^/?#:@\\\s]+)(?::\d{1,5})?(?:[/?#]\S*)?$/i;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** A new API key can allow this address beside `localhost`; it is the only address in a list of allowed domains. */
export const LOOPBACK_ADDRESS = '127.0.0.1';

/** A domain of a request, as `parseDomain` reads it. */
export const Domain = domainField(parseDomain);

/** A domain that a request removes: also the loopback address. */
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
 * The bare domain that a text names, as it is stored (facts C1): `bücher.example` written as `https://www.Bücher.example:8443/page`
 * is `xn--bcher-kva.example`. Undefined when it names none; an IP address is none, and neither is a name without a dot
 * but `localhost`.
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

/** What a call does to the list of domains. */
export interface DomainChange {
  /** The list afterwards. */
  readonly domains: string[];
  readonly changed: string[];
  /** Those for which there was nothing to do. */
  readonly skipped: string[];
}

/** Adds the domains that are not there yet. RESOURCE_EXHAUSTED when there would be more than 500. */
export function addDomains(present: readonly string[], wanted: readonly string[]): DomainChange {
  const { there: skipped, missing: changed } = split(present, wanted);
  const domains = [...present, ...changed];
  if (domains.length > MOST_DOMAINS)
    throw new ApiError('RESOURCE_EXHAUSTED', `An API key can allow at most ${MOST_DOMAINS} domains.`);
  return { domains, changed, skipped };
}

/** Removes the domains that are there. */
export function removeDomains(present: readonly string[], unwanted: readonly string[]): DomainChange {
  const { there: changed, missing: skipped } = split(present, unwanted);
  const removed = new Set(changed);
  return { domains: present.filter((domain) => !removed.has(domain)), changed, skipped };
}

function split(present: readonly string[], named: readonly string[]): { there: string[]; missing: string[] } {
  const known = new Set(present);
  const names = distinct(named);
  return { there: names.filter((name) => known.has(name)), missing: names.filter((name) => !known.has(name)) };
}

/**
 * Whether a host is one of the allowed domains, or beneath one written as `*.example.com` (at any depth, but not
 * `example.com` itself). However a name is written: case, a leading `www.`, a dot at the end and letters beyond ASCII
 * make no difference. Ports do not count.
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

/** A name in lower-case ASCII without the dot at its end; empty when it cannot be one. */
function asciiName(host: string): string {
  return domainToASCII(host).toLowerCase().replace(/\.$/, '');
}

/** `www.example.com` is `example.com`, but `www.com` is itself. */
function withoutWww(name: string): string {
  let at = 0;
  while (name.startsWith('www.', at) && name.includes('.', at + 4)) at += 4;
  return name.slice(at);
}
