import * as z from 'zod';

/** A signing secret, as it is stored: encrypted, with times in epoch ms. */
export const SigningSecret = z.object({
  sealed: z.string(),
  createdAt: z.number(),
  /** When a replaced secret expires. The newest one has no end. */
  expiresAt: z.number().optional(),
});
export type SigningSecret = z.output<typeof SigningSecret>;

export const longestOverlapSeconds = 604_800;
export const defaultOverlapSeconds = 86_400;

/** Returns the secrets that sign deliveries at `now`, newest first: the current one, and during an overlap the one before it. */
export function liveSecrets(secrets: readonly SigningSecret[], now: number): SigningSecret[] {
  return secrets.filter(({ expiresAt = Infinity }) => expiresAt > now);
}

/**
 * Returns the secrets after a rotation: the new one, and the current one until the overlap ends. Returns `overlapping` while an earlier
 * overlap lasts. An overlap of 0 ends all old secrets at once and is always allowed.
 */
export function rotateSecrets(
  secrets: readonly SigningSecret[],
  next: SigningSecret,
  overlapSeconds: number,
  now: number,
): SigningSecret[] | 'overlapping' {
  if (overlapSeconds === 0) return [next];
  // A retry after a lost response finds its own secret: the rotation is done.
  if (secrets[0]?.sealed === next.sealed) return [...secrets];
  const [current, ...ending] = liveSecrets(secrets, now);
  if (ending.length > 0) return 'overlapping';
  return [next, ...(current ? [{ ...current, expiresAt: now + overlapSeconds * 1000 }] : [])];
}
