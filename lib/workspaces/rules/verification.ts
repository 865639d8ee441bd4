import * as z from 'zod';
import { Text } from '../../shared/schema.ts';
import { matchesDomain } from './domains.ts';

/** The path of the page that a login link opens. The button on the page sends a form to the same path. */
export const VERIFICATION_PATH = '/v2/workspace/email/verify';

/** The lifetime of a login link, in minutes. */
export const LINK_MINUTES = 30;

/** Matches the token of a login link: 256 bits in base64url. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/**
 * The URL to which the owner continues after the verification. It must not contain credentials, because they can imitate another
 * host.
 */
export const ContinueUrl = z
  .url({ protocol: /^https?$/, error: 'must be a valid http(s) URL' })
  .max(2_048)
  .pipe(Text)
  .check(z.refine((url) => !hasUserInfo(url), { error: 'must not contain a user name or password' }))
  .describe(
    'Where the page leads after the verification: to this service or to an allowed domain of an API key of the workspace.',
  );

/** A stored login link. */
export interface LoginLink {
  readonly workspaceId: string;
  readonly email: string;
  readonly continueUrl: string;
  /** The end of the link's lifetime, epoch milliseconds. */
  readonly validUntil: number;
}

/** Returns whether a text has the form of a link's token. Other texts are rejected without a read of the table. */
export function isLinkToken(text: string): boolean {
  return TOKEN.test(text);
}

export function isLive({ validUntil }: Pick<LoginLink, 'validUntil'>, now: number): boolean {
  return now < validUntil;
}

/** Returns the end of the lifetime of a link that is created at `now`, epoch ms. */
export function linkValidUntil(now: number): number {
  return now + LINK_MINUTES * 60_000;
}

/** Returns the URL of a login link. */
export function linkAddress(publicUrl: string, token: string): string {
  return `${publicUrl}${VERIFICATION_PATH}?token=${token}`;
}

/** Returns whether a login link may lead to `url`: a page of this service, or of an allowed domain of the workspace. */
export function mayContinueTo(url: string, publicUrl: string, allowedDomains: readonly string[]): boolean {
  const { host, hostname } = new URL(url);
  return host === new URL(publicUrl).host || matchesDomain(hostname, allowedDomains);
}

function hasUserInfo(url: string): boolean {
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}
