import { domainToASCII } from 'node:url';

/** The limits of SMTP in bytes. */
const MAX_ADDRESS_CHARACTERS = 254;
const MAX_LOCAL_PART_CHARACTERS = 64;

/** A dot-atom. Mail providers accept neither quoted local parts nor non-ASCII characters in them. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** A character that cannot be part of a domain: a URL parser would not read it as part of a host name. */
const NO_DOMAIN = /[\s%/\\?#@:[\]]/;

/**
 * Returns an e-mail address with its domain in punycode. The local part must be ASCII without quotes, and the domain must have at
 * least two labels. Returns undefined for other texts.
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

function isDomain(domain: string): boolean {
  const labels = domain.split('.');
  return labels.length > 1 && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '');
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

/** Returns the first valid e-mail address of some profiles. Returns undefined if no profile has a valid address. */
export function mailAddressOf(
  ...profiles: readonly ({ readonly email?: string | undefined } | undefined)[]
): string | undefined {
  for (const profile of profiles) {
    const address = profile?.email === undefined ? undefined : mailableAddress(profile.email);
    if (address !== undefined) return address;
  }
  return undefined;
}
