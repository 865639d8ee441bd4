import * as z from 'zod';
import { Text } from '../../shared/schema.ts';
import { matchesDomain } from './domains.ts';

/** The page of a login link. Its button sends a form to the same path. */
export const VERIFICATION_PATH = '/v2/workspace/email/verify';

export const LINK_MINUTES = 30;

/** 256 bits in base64url. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Without credentials, because they can imitate another host. */
export const ContinueUrl = z
  .url({ protocol: /^https?$/, error: 'must be a valid http(s) URL' })
  .max(2_048)
  .pipe(Text)
  .check(z.refine((url) => !hasUserInfo(url), { error: 'must not contain a user name or password' }))
  .describe(
    'Where the page leads after the verification: to this service, or to an allowed domain of the API keys of the first workspace of the address.',
  );

export interface LoginLink {
  readonly workspaceId: string;
  readonly email: string;
  readonly continueUrl: string;
  readonly validUntil: number;
}

/** Other texts are rejected without a read of the table. */
export function isLinkToken(text: string): boolean {
  return TOKEN.test(text);
}

export function isLive({ validUntil }: Pick<LoginLink, 'validUntil'>, now: number): boolean {
  return now < validUntil;
}

export function linkValidUntil(now: number): number {
  return now + LINK_MINUTES * 60_000;
}

export function linkAddress(publicUrl: string, token: string): string {
  return `${publicUrl}${VERIFICATION_PATH}?token=${token}`;
}

/** A page of this service, or of an allowed domain of the workspace. */
export function mayContinueTo(url: string, publicUrl: string, allowedDomains: readonly string[]): boolean {
  const { host, hostname } = new URL(url);
  return host === new URL(publicUrl).host || matchesDomain(hostname, allowedDomains);
}

function hasUserInfo(url: string): boolean {
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}
