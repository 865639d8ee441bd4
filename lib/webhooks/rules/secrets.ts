import * as z from 'zod';

/** A stored signing secret, encrypted. Times are epoch ms. */
export const SigningSecret = z.object({
  sealed: z.string(),
  createdAt: z.number(),
  /** The id of the rotation that created the secret. The first secret of an endpoint has none. */
  rotationId: z.string().optional(),
  /** When a replaced secret expires. The newest secret has no expiry. */
  expiresAt: z.number().optional(),
});
export type SigningSecret = z.output<typeof SigningSecret>;

export const longestOverlapSeconds = 604_800;
export const defaultOverlapSeconds = 86_400;

/**
 * Returns the secrets that sign deliveries at `now`, newest first. For some time after a rotation (the overlap), the replaced
 * secret signs too.
 */
export function liveSecrets(secrets: readonly SigningSecret[], now: number): SigningSecret[] {
  return secrets.filter(({ expiresAt = Infinity }) => expiresAt > now);
}

/**
 * Returns the secrets after a rotation: the new secret, and for `overlapSeconds` also the replaced secret. Returns `overlapping` if
 * the overlap of an earlier rotation has not ended. An overlap of 0 removes all old secrets at once, even during an earlier
 * overlap. Returns the same secrets if an earlier try of the same rotation has created the newest one.
 */
export function rotateSecrets(
  secrets: readonly SigningSecret[],
  next: SigningSecret & { readonly rotationId: string },
  overlapSeconds: number,
  now: number,
): SigningSecret[] | 'overlapping' {
  if (secrets[0]?.rotationId === next.rotationId) return [...secrets];
  if (overlapSeconds === 0) return [next];
  const [current, ...ending] = liveSecrets(secrets, now);
  if (ending.length > 0) return 'overlapping';
  return [next, ...(current ? [{ ...current, expiresAt: now + overlapSeconds * 1000 }] : [])];
}
