import { domainToASCII } from 'node:url';
import * as z from 'zod';
import { defineSchema } from './schema.ts';

/** SMTP has these limits for the whole address and for the part before the `@`. */
const MAX_ADDRESS_CHARACTERS = 254;
const MAX_LOCAL_PART_CHARACTERS = 64;

/** A local part has dot-atom form (RFC 5322). Mail providers accept neither quotes nor non-ASCII characters in it. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** A URL parser would end or change the host name at these characters. */
const NO_DOMAIN = /[\s%/\\?#@:[\]]/;

/**
 * Returns the address with its domain in punycode, or undefined if the address is invalid. The domain must have at
 * least two labels.
 */
export function mailableAddress(text: string): string | undefined {
  const address = text.trim();
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  if (
    at < 1 ||
    local.length > MAX_LOCAL_PART_CHARACTERS ||
    !LOCAL_PART.test(local) ||
    domain.length > MAX_ADDRESS_CHARACTERS ||
    NO_DOMAIN.test(domain)
  )
    return undefined;
  const mailed = `${local}@${isAscii(domain) ? domain : domainToASCII(domain)}`;
  return mailed.length <= MAX_ADDRESS_CHARACTERS && isDomain(mailed.slice(local.length + 1)) ? mailed : undefined;
}

/** All spellings of an address return the same text. Undefined if the address is invalid. */
export function mailboxOf(text: string): string | undefined {
  return mailableAddress(text)?.toLowerCase();
}

/** The domain becomes punycode: both spellings name the same mailbox, and headers of mails are ASCII. */
export const MailAddress = /* @__PURE__ */ defineSchema(() =>
  z
    .string()
    .max(MAX_ADDRESS_CHARACTERS, { abort: true })
    .check(
      z.refine((text) => text.trim() === text && mailableAddress(text) !== undefined, {
        error: 'must be an e-mail address',
      }),
    )
    .meta({ format: 'idn-email' })
    .overwrite((text) => mailableAddress(text) ?? text),
);

function isDomain(domain: string): boolean {
  const labels = domain.split('.');
  return labels.length > 1 && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '');
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

export function mailAddressOf(
  ...profiles: readonly ({ readonly email?: string | undefined } | undefined)[]
): string | undefined {
  for (const profile of profiles) {
    const address = profile?.email === undefined ? undefined : mailableAddress(profile.email);
    if (address !== undefined) return address;
  }
  return undefined;
}
