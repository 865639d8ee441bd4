import * as z from 'zod';
import { Id, UserProfile } from '../../shared/schema.ts';

/** A user as content names one (spec 2): who wrote, reacted, recorded or acted. Only `userId` is required. */
export const ContentUser = UserProfile.extend({ userId: Id });
export type ContentUser = z.output<typeof ContentUser>;

/** The same as it is stored. */
export const StoredUser = z.object({
  userId: z.string(),
  name: z.string().optional(),
  email: z.string().optional(),
  photoUrl: z.string().optional(),
  color: z.string().optional(),
  textColor: z.string().optional(),
  initial: z.string().optional(),
  type: z.string().optional(),
  plan: z.string().optional(),
});

/** The fields of a stored profile that complete a user whom a call named by id. */
export type ProfileResponse = Pick<ContentUser, 'name' | 'email' | 'photoUrl'>;

export interface NamedUser {
  readonly name?: unknown;
  readonly email?: unknown;
  readonly photoUrl?: unknown;
}

/** Whether a call named a user without a name or an e-mail address. */
export function isIncomplete({ name, email }: NamedUser): boolean {
  return name === undefined || email === undefined;
}

/** A user as a call named it, with the missing name, e-mail address and avatar of the stored profile. Each field that the call sent wins. */
export function completeUser<U extends NamedUser>(user: U, profile: ProfileResponse | undefined): U {
  if (!profile || !isIncomplete(user)) return user;
  const { name, email, photoUrl } = profile;
  const missing = Object.entries({ name, email, photoUrl }).filter(
    ([field, value]) => value !== undefined && user[field as keyof NamedUser] === undefined,
  );
  return missing.length > 0 ? { ...user, ...Object.fromEntries(missing) } : user;
}

/** How many users one comment, reaction, recording or notification can involve (design 5). */
export const MOST_INVOLVED = 50;
