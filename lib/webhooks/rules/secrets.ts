import * as z from 'zod';

export const SigningSecret = z.object({
  sealed: z.string(),
  createdAt: z.number(),
  rotationId: z.string().optional(),
  expiresAt: z.number().optional(),
});
export type SigningSecret = z.output<typeof SigningSecret>;

export const longestOverlapSeconds = 604_800;
export const defaultOverlapSeconds = 86_400;

/** For some time after a rotation (the overlap), the replaced secret signs too. */
export function liveSecrets(secrets: readonly SigningSecret[], now: number): SigningSecret[] {
  return secrets.filter(({ expiresAt = Infinity }) => expiresAt > now);
}

/**
 * `overlapping`: the overlap of an earlier rotation has not ended. An overlap of 0 removes all old secrets at once. A
 * repeated try of the same rotation changes nothing.
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
