import * as z from 'zod';
import { Text } from '../../shared/schema.ts';
import { matchesDomain } from './domains.ts';

/** The page that a login link leads to, and that its button posts to. */
export const VERIFICATION_PATH = '/v2/workspace/email/verify';

/** For how long a login link works. */
export const LINK_MINUTES = 30;

/** The text of a login link's token: 256 bits in base64url. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/**
 * Where the owner goes on after the verification. A name or password in it is refused: it can make an address look like
 * one of another host.
 */
export const ContinueUrl = z
  .url({ protocol: /^https?$/, error: 'must be a valid http(s) URL' })
  .max(2_048)
  .pipe(Text)
  .check(z.refine((url) => !hasUserInfo(url), { error: 'must not contain a user name or password' }));

/** What a login link is stored with. */
export interface LoginLink {
  readonly workspaceId: string;
  readonly email: string;
  readonly continueUrl: string;
  /** Epoch milliseconds. */
  readonly validUntil: number;
}

/** Whether a text can be a link's token at all; anything else need not be looked up. */
export function isLinkToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Whether a link still works. */
export function isLive({ validUntil }: Pick<LoginLink, 'validUntil'>, now: number): boolean {
  return now < validUntil;
}

/** The time at which a link made now stops working, epoch milliseconds. */
export function linkValidUntil(now: number): number {
  return now + LINK_MINUTES * 60_000;
}

/** The address that is mailed. */
export function linkAddress(publicUrl: string, token: string): string {
  return `${publicUrl}${VERIFICATION_PATH}?token=${token}`;
}

/**
 * Whether a link may lead on to `url`: always to this service itself, else to the allowed domains of the workspace. An
 * address without a workspace has none, so that a stranger's answer is the same for it as for a workspace that does not
 * allow the domain.
 */
export function mayContinueTo(url: string, publicUrl: string, allowedDomains: readonly string[]): boolean {
  const { host, hostname } = new URL(url);
  return host === new URL(publicUrl).host || matchesDomain(hostname, allowedDomains);
}

function hasUserInfo(url: string): boolean {
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}
