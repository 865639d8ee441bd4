import * as z from 'zod';

/** A signing secret as it is stored: its text sealed, the times in epoch ms. */
export const SigningSecret = z.object({
  sealed: z.string(),
  createdAt: z.number(),
  /** When it ends, since another has taken its place; the newest has no end. */
  expiresAt: z.number().optional(),
});
export type SigningSecret = z.output<typeof SigningSecret>;

export const longestOverlapSeconds = 604_800;
export const defaultOverlapSeconds = 86_400;

/** The secrets that deliveries are signed with at `now`, newest first: the current one, and in an overlap the one before it. */
export function liveSecrets(secrets: readonly SigningSecret[], now: number): SigningSecret[] {
  return secrets.filter(({ expiresAt = Infinity }) => expiresAt > now);
}

/**
 * The secrets after a rotation: the new one, and the current one for as long as the overlap lasts. `overlapping` when an
 * earlier overlap still lasts; with an overlap of 0 the old ones end at once, which is always allowed (design 6).
 */
export function rotateSecrets(
  secrets: readonly SigningSecret[],
  next: SigningSecret,
  overlapSeconds: number,
  now: number,
): SigningSecret[] | 'overlapping' {
  if (overlapSeconds === 0) return [next];
  // The rotation is tried again where the answer to its write was lost: it may be done.
  if (secrets[0]?.sealed === next.sealed) return [...secrets];
  const [current, ...ending] = liveSecrets(secrets, now);
  if (ending.length > 0) return 'overlapping';
  return [next, ...(current ? [{ ...current, expiresAt: now + overlapSeconds * 1000 }] : [])];
}
